"""Speed and accuracy of phrase matching in MEDDOCAN's training documents: docs/howto/phrases.md.

The lists are in ../shared/data/spain: hospitals, health centres, municipalities and the streets of
town halls, each a class. The development split is not used.

    python benchmarks/phrases.py
    python benchmarks/phrases.py --blocked
    python benchmarks/phrases.py --builtin      # the builtin list of places instead
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator

import numpy as np
from meddocan_lines import DATA, lines_of

from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.tags import classes_of, find_entities
from gazetteers.builtin import BLOCKING, PLACES, read_gazetteer
from gazetteers.gazetteer import terms_by_class
from gazetteers.phrases.matcher import BLOCKED, PhraseMatcher

SPAIN = DATA.parent / "spain"
BATCH, TOKENS, ROUNDS = 2500, 2_000_000, 5

#: Class, file and columns.
LISTS = {
    "HOSPITAL": ("hospitals.csv", ("NOMBRE",)),
    "TERRITORIO": ("municipalities.csv", ("NOMBRE",)),
    "CALLE": ("council_addresses.csv", ("dir_tipo_via", "Dir_Via")),
    "CENTRO_SALUD": ("health_centres.csv", ("NOMBRE",)),
}
#: The classes of MEDDOCAN by the classes of the builtin list.
BUILTIN = {
    "hospital": "HOSPITAL",
    "municipality": "TERRITORIO",
    "province": "TERRITORIO",
    "region": "TERRITORIO",
    "street": "CALLE",
    "health_centre": "CENTRO_SALUD",
    "country": "PAIS",
}


def builtin_phrases() -> dict[str, list[str]]:
    """Read the builtin list of places, with the classes of MEDDOCAN."""
    phrases: dict[str, list[str]] = {}
    for name, terms in terms_by_class([read_gazetteer(PLACES)]).items():
        phrases.setdefault(BUILTIN[name], []).extend(terms)
    return phrases


def terms_of(name: str, columns: tuple[str, ...]) -> Iterator[str]:
    """Read the terms of a list."""
    with (SPAIN / name).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if term := " ".join(row[column] for column in columns).strip():
                yield term


def batches_of(lines: list[Document]) -> list[Batch]:
    """Build batches of lines, repeated until they have the number of tokens of the benchmark."""
    once = [
        make_batch(lines[at : at + BATCH], labelled=False) for at in range(0, len(lines), BATCH)
    ]
    tokens = sum(batch.n_tokens for batch in once)
    return once * -(-TOKENS // tokens)


def print_speed(matcher: PhraseMatcher, lines: list[Document]) -> None:
    """Print the tokens per second of matching and of `make_batch`."""
    begin = time.process_time()
    matcher.find(make_batch(lines[:1], labelled=False))
    compiling = time.process_time() - begin
    batches = batches_of(lines)
    tokens = sum(batch.n_tokens for batch in batches)
    texts = [[Document("", text) for text in batch.texts.to_pylist()] for batch in batches[:8]]
    few = sum(batch.n_tokens for batch in batches[:8])
    matching, building = [], []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for batch in batches:
            matcher.match(batch)
        middle = time.process_time()
        for documents in texts:
            make_batch(documents, labelled=False)
        matching.append(tokens / (middle - begin) / 1e6)
        building.append(few / (time.process_time() - middle) / 1e6)
    print(f"{tokens:,} tokens; the phrases are compiled in {compiling:.2f} s")
    for name, rates in (("phrases", matching), ("building batches", building)):
        print(f"{name}: {np.median(rates):.2f} million tokens per second (median of {ROUNDS})")


def print_quality(matcher: PhraseMatcher, gold: Batch) -> None:
    """Print how many entities begin with a phrase of their class, and the reverse."""
    entities = find_entities(gold.tags, gold.document_offsets, gold.labels)
    found = matcher.find(gold)
    print("| class | entities | begin with a phrase | phrases | begin an entity | are in one |")
    print("|---|---|---|---|---|---|")
    for name in matcher.classes:
        if name == BLOCKED:
            continue
        ours = found.first[found.classes == matcher.classes.index(name)]
        theirs = entities.first[entities.classes == classes_of(gold.labels).index(name)]
        both = len(np.intersect1d(ours, theirs))
        inside = int((gold.tags[ours] != gold.labels.index("O")).sum())
        print(
            f"| {name} | {len(theirs):,} | {100 * both / len(theirs):.1f} % | {len(ours):,} | "
            f"{100 * both / max(len(ours), 1):.1f} % | {100 * inside / max(len(ours), 1):.1f} % |"
        )


def main() -> None:
    """Print the speed and the quality of phrase matching."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocked", action="store_true", help="with the builtin blocked phrases")
    parser.add_argument("--builtin", action="store_true", help="with the builtin list of places")
    options = parser.parse_args()
    if options.builtin:
        phrases = builtin_phrases()
    else:
        phrases = {name: list(terms_of(*where)) for name, where in LISTS.items()}
    if options.blocked:
        phrases[BLOCKED] = read_gazetteer(BLOCKING).terms.to_pylist()
    matcher = PhraseMatcher(phrases)
    print(f"{sum(map(len, matcher.phrases.values())):,} phrases")
    lines = lines_of("train", None)
    print_speed(matcher, lines)
    gold = make_batch(lines, labelled=True)
    print_quality(matcher, gold)


if __name__ == "__main__":
    main()

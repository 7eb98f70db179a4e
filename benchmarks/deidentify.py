"""De-identified MEDDOCAN: what is left of dev, what it costs, and what it is still good for.

The model is the CRF with its defaults, trained on whole notes of train. Nothing is chosen on dev.

    python benchmarks/deidentify.py leaks     # annotated mentions of dev, searched in the output
    python benchmarks/deidentify.py recall    # mentions covered and other tokens replaced
    python benchmarks/deidentify.py taggers   # without annotated notes, with 100, and with train
    python benchmarks/deidentify.py utility   # a CRF trained on de-identified train, scored on dev
    python benchmarks/deidentify.py speed     # the time beside the one of tagging
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from meddocan_lines import scores_of, units_of

from anonymizers.keys import Key
from anonymizers.mention import folded
from anonymizers.policy import POLICIES
from anonymizers.spans import Spans
from bootstrap.deidentification.deidentify import (
    Deidentified,
    DeidentifyOptions,
    deidentified_batches,
    deidentify,
    deidentify_options,
)
from bootstrap.deidentification.recall import coverage_of, estimated
from bootstrap.tagging import TagOptions, find_spans
from corpus.batch import make_batch
from corpus.document import Document
from corpus.formats.batches import batch_of, concatenated, documents_of
from gazetteers.builtin import CENSUS
from taggers import Tagger
from taggers.crf.crf_options import CRFOptions
from taggers.crf.crf_tagger import CRFTagger
from taggers.dictionaries.dictionary_options import ListOptions
from taggers.dictionaries.list_tagger import ListTagger
from taggers.patterns.pattern_tagger import PatternTagger

KEY = Key(b"a key for measurements, no secret")
RECALLS = (0.98, 0.985, 0.99, 0.995)
#: The folds of train that choose a threshold, each tagged by a model of the others.
FOLDS = 5
COPIES, ROUNDS = 20, 5
#: Shorter texts stand in a note for other reasons.
LEAST = 4


def trained(documents: Sequence[Document]) -> Tagger:
    """Train the CRF with its defaults."""
    batch = make_batch(documents, labelled=True)
    return CRFTagger(CRFOptions()).fit(batch, rng=np.random.default_rng(0))


def deidentified(
    notes: pa.RecordBatch, tagger: Tagger | None, how: DeidentifyOptions
) -> Deidentified:
    """De-identify notes in one batch."""
    ((_, result),) = deidentified_batches([notes], tagger, how)
    return result


def thresholds(train: Sequence[Document]) -> dict[float, float]:
    """Choose the threshold of each recall on train."""
    needs = []
    for fold in range(FOLDS):
        own = [note for row, note in enumerate(train) if row % FOLDS == fold]
        others = [note for row, note in enumerate(train) if row % FOLDS != fold]
        how = deidentify_options("placeholders", None, "document")
        needs.append(coverage_of([batch_of(own)], trained(others), how))
    numbers = np.cumsum([0, *(len(part.patients) for part in needs)])
    whole = replace(
        needs[0],
        needed=np.concatenate([part.needed for part in needs]),
        is_direct=np.concatenate([part.is_direct for part in needs]),
        owners=np.concatenate([part.owners + n for part, n in zip(needs, numbers, strict=False)]),
        others=np.concatenate([part.others for part in needs]),
        other_owners=np.concatenate(
            [part.other_owners + n for part, n in zip(needs, numbers, strict=False)]
        ),
        patients=np.arange(numbers[-1]),
    )
    return {target: estimated(whole, target).threshold for target in RECALLS}


def leaks() -> None:
    """Print which annotated mentions of dev are left in the output."""
    train, dev = (units_of(split, None, "document") for split in ("train", "dev"))
    tagger, notes = trained(train), batch_of(dev)
    gold = Spans.of_notes(notes, "gold")
    chosen = {None: 0.0, **thresholds(train)}
    print("| policy | recall | threshold | mentions left, in part | texts that still stand |")
    print("|---|---|---|---|---|")
    by_class: Counter[str] = Counter()
    for policy in POLICIES:
        for recall, threshold in chosen.items():
            how = deidentify_options(policy, KEY, "document", threshold=threshold)
            result = deidentified(notes, tagger, how)
            left = ~covered(dev, gold, result.originals)
            if policy == "surrogates" and recall == 0.99:
                by_class.update(gold.labels[left].tolist())
            stands = standing(dev, gold.take(np.flatnonzero(~left)), result)
            print(
                f"| {policy} | {recall or 'none'} | {threshold:.4f} | {left.sum():,} of "
                f"{len(left):,} ({left.mean():.2%}) | {stands:,} |"
            )
    print("left with surrogates and a recall of 0.99:", dict(by_class.most_common()))


def covered(documents: Sequence[Document], gold: Spans, replaced: Spans) -> np.ndarray:
    """Return which annotated mentions have all letters and digits within replaced spans."""
    texts = [np.array([character.isalnum() for character in note.text], bool) for note in documents]
    for row, start, end in zip(replaced.rows, replaced.starts, replaced.ends, strict=True):
        texts[row][start:end] = False
    places = zip(gold.rows, gold.starts, gold.ends, strict=True)
    return np.array([not texts[row][start:end].any() for row, start, end in places])


def standing(documents: Sequence[Document], gold: Spans, result: Deidentified) -> int:
    """Count the mentions that were replaced and whose text still stands outside of replacements."""
    texts = result.notes.column("text").to_pylist()
    spans = result.spans
    for row, start, end in zip(spans.rows, spans.starts, spans.ends, strict=True):
        texts[row] = f"{texts[row][:start]}{' ' * (end - start)}{texts[row][end:]}"
    texts, count = [folded(text) for text in texts], 0
    for row, start, end in zip(gold.rows, gold.starts, gold.ends, strict=True):
        text = folded(documents[row].text[start:end]).strip()
        if len(text) >= LEAST and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", texts[row]):
            count += 1
    return count


def recall() -> None:
    """Print what a threshold covers on dev, and what it costs."""
    train, dev = (units_of(split, None, "document") for split in ("train", "dev"))
    how = deidentify_options("placeholders", None, "document")
    coverage = coverage_of([batch_of(dev)], trained(train), how)
    print("| chosen on train for | threshold | recall on dev | other tokens | notes that leak |")
    print("|---|---|---|---|---|")
    for target, threshold in {0.0: 0.0, **thresholds(train), 0.9995: 0.9999}.items():
        leaking = coverage.leaking(threshold)
        print(
            f"| {target or 'none'} | {threshold:.5f} | {coverage.recall(threshold):.4f} | "
            f"{coverage.removed(threshold):.2%} | {leaking} of {len(coverage.patients)} |"
        )
    for target in (0.99, 0.994):
        least = np.sort(coverage.needed)[int(np.ceil(target * len(coverage.needed))) - 1]
        print(
            f"{target} on dev costs {coverage.removed(np.nextafter(least, 2)):.2%} of other tokens"
        )


def taggers() -> None:
    """Print what is left of dev by how much was annotated, without any threshold."""
    train, dev = (units_of(split, None, "document") for split in ("train", "dev"))
    lists = ListTagger(ListOptions(names=(CENSUS,)))
    own: dict[str, Tagger] = {
        "none: patterns": PatternTagger(),
        "none: lists and patterns": lists.fit(
            make_batch(dev, labelled=False), rng=np.random.default_rng(0)
        ),
        "100 notes: CRF and patterns": trained(train[:: len(train) // 100][:100]),
        "500 notes (train): CRF and patterns": trained(train),
    }
    notes, how = batch_of(dev), deidentify_options("placeholders", None, "document")
    print("| annotated notes | recall | other tokens | notes that leak | notes per second |")
    print("|---|---|---|---|---|")
    for name, tagger in own.items():
        coverage = coverage_of([notes], tagger, how)
        begin = time.process_time()
        deidentify(how, tagger, notes)
        rate = len(notes) / (time.process_time() - begin)
        print(
            f"| {name} | {coverage.recall(0):.3f} | {coverage.removed(0):.2%} | "
            f"{coverage.leaking(0)} of {len(dev)} | {rate:,.0f} |"
        )


def utility() -> None:
    """Print the F1 on dev of the CRF trained on train as it is, and de-identified."""
    train, dev = (units_of(split, None, "document") for split in ("train", "dev"))
    print("| trained on | strict F1 on dev |")
    print("|---|---|")
    original = scores_of(trained(train), dev).counts("ner").f1
    print(f"| train | {original:.4f} |")
    for policy in ("surrogates", "limited", "placeholders"):
        how = deidentify_options(policy, KEY, "document")
        result = deidentified(batch_of(train), None, how)
        f1 = scores_of(trained(documents_of(result.notes)), dev).counts("ner").f1
        print(f"| train with {policy} | {f1:.4f} ({f1 - original:+.4f}) |", flush=True)


def speed() -> None:
    """Print the time of one and of two passes beside the one of tagging."""
    train, dev = (units_of(split, None, "document") for split in ("train", "dev"))
    tagger, notes = trained(train), concatenated([batch_of(dev)] * COPIES)
    how = deidentify_options("surrogates", KEY, "document")
    functions = {
        "tag": lambda: find_spans(TagOptions(), tagger, notes),
        "one pass": lambda: deidentify(replace(how, checks=False), tagger, notes),
        "two passes": lambda: deidentify(how, tagger, notes),
    }
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(ROUNDS):
        for name, function in functions.items():
            begin = time.process_time()
            function()
            times[name].append(time.process_time() - begin)
    base = np.median(times["tag"])
    for name, values in times.items():
        print(f"{name}: {np.median(values):.2f} s, {np.median(values) / base:.2f} times tag")


def main() -> None:
    """Print the results of an experiment."""
    experiments = {
        "leaks": leaks,
        "recall": recall,
        "taggers": taggers,
        "utility": utility,
        "speed": speed,
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiment", choices=tuple(experiments))
    experiments[parser.parse_args().experiment]()


if __name__ == "__main__":
    main()

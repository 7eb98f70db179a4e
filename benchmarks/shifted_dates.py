"""Dates and ages of MEDDOCAN, shifted and replaced: what is read, what changes, and the speed.

Train is what the forms were chosen on, and dev is what is reported.

    python benchmarks/shifted_dates.py
    python benchmarks/shifted_dates.py --unread   # the texts of train that are not read
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import combinations

from meddocan_lines import DATA

from anonymizers.ages import aggregated_age, blurred_age, surrogate_age
from anonymizers.dates import generalized_date, shifted_date
from anonymizers.keys import Key
from anonymizers.mention import Mention
from corpus.dates import parse
from corpus.errors import Problems
from corpus.formats import read

KEY = Key(bytes(32))
OPERATORS: dict[str, dict[str, Callable[[Mention], str | None]]] = {
    "FECHAS": {
        "shifted": lambda mention: shifted_date(mention, KEY),
        "to months": lambda mention: generalized_date(mention, "month"),
        "to years": lambda mention: generalized_date(mention, "year"),
    },
    "EDAD_SUJETO_ASISTENCIA": {
        "aggregated": aggregated_age,
        "blurred": blurred_age,
        "surrogate": lambda mention: surrogate_age(mention, KEY),
    },
}


def mentions_of(split: str, label: str) -> list[Mention]:
    """Return the mentions of a class; each note is a patient."""
    return [
        Mention(note.text[span.start : span.end], label, "", note.id)
        for note in read(DATA / split, problems=Problems())
        for span in note.spans
        if span.label == label
    ]


def main() -> None:
    """Print the measures of each split, class and operator."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unread", action="store_true")
    unread = parser.parse_args().unread
    for split in ("train", "dev"):
        for label, operators in OPERATORS.items():
            mentions = mentions_of(split, label)
            for name, operator in operators.items():
                operator(mentions[0])  # compiles expressions
                begin = time.perf_counter()
                texts = [operator(mention) for mention in mentions]
                taken = (time.perf_counter() - begin) / len(mentions)
                pairs = list(zip(mentions, texts, strict=True))
                read_ = [(mention.text, text) for mention, text in pairs if text is not None]
                changed = sum(old.casefold() not in new.casefold() for old, new in read_)
                print(
                    f"{split:5} {label:22} {name:10} {len(mentions):5} mentions, "
                    f"{len(read_) / len(mentions):.4f} read, {changed / len(read_):.4f} of them "
                    f"changed, {taken * 1e6:.1f} microseconds each"
                )
                if name == "shifted":
                    print(f"{split:5} {label:22} {name:10} {intervals(pairs)}")
                if unread and split == "train" and name in ("shifted", "aggregated"):
                    print([mention.text for mention, text in pairs if text is None])


def intervals(pairs: Sequence[tuple[Mention, str | None]]) -> str:
    """Return how many intervals between full dates of a note are kept."""
    notes: dict[str, list[int]] = {}
    for mention, text in pairs:
        old, new = parse(mention.text), parse(text or "")
        if old and old.date and new and new.date:
            notes.setdefault(mention.patient, []).append((new.date - old.date).days)
    kept = [a == b for shifts in notes.values() for a, b in combinations(shifts, 2)]
    return f"{sum(kept)} of {len(kept)} intervals kept"


if __name__ == "__main__":
    main()

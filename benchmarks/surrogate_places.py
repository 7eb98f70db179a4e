"""Surrogates of the places and organisations of MEDDOCAN: how many, how alike, how fast.

python benchmarks/surrogate_places.py dev
python benchmarks/surrogate_places.py train --show 30    # and examples
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

import numpy as np

from anonymizers.categories import builtin_categories
from anonymizers.keys import Key
from anonymizers.mention import Mention
from anonymizers.surrogates.place_parts import read_parts
from anonymizers.surrogates.place_words import kept_words
from anonymizers.surrogates.places import surrogate_organisation, surrogate_place
from corpus.errors import Problems
from corpus.formats import read
from gazetteers.written_places import place_key, population_of

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "meddocan"
LABELS = ("TERRITORIO", "CALLE", "HOSPITAL", "PAIS", "CENTRO_SALUD", "INSTITUCION")
KEY = Key(bytes(range(32)))
LONG = 4


def mentions_of(split: str, label: str) -> list[Mention]:
    """Read the mentions of a class; each note is of a patient of its own."""
    category = builtin_categories()[label]
    return [
        Mention(document.text[span.start : span.end], label, category, document.id)
        for document in read(DATA / split, problems=Problems())
        for span in document.spans
        if span.label == label
    ]


def standing(old: str, new: str) -> set[str]:
    """Return the long words of a mention that stand in its surrogate and are no common ones."""
    words = {word for word in place_key(old).split() if len(word) >= LONG}
    return words & set(place_key(new).split()) - kept_words()


def main() -> None:
    """Print a row for each class."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("split", choices=("train", "dev"))
    parser.add_argument("--show", type=int, default=0, help="examples of each class")
    options = parser.parse_args()
    surrogate_place(Mention("Madrid", "LOCATION", "place", "p"), KEY)  # reads the lists
    ratios = []
    for label in LABELS:
        mentions = mentions_of(options.split, label)
        replace = surrogate_organisation if label == "INSTITUCION" else surrogate_place
        read_parts.cache_clear()
        start = time.perf_counter()
        news = [replace(mention, KEY) for mention in mentions]
        seconds = time.perf_counter() - start
        pairs = [(one.text, new) for one, new in zip(mentions, news, strict=True) if new]
        left = [pair for pair in pairs if standing(*pair)]
        populations = [(population_of(old), population_of(new)) for old, new in pairs]
        ratios += [new / old for old, new in populations if old and new]
        print(
            f"{label:12} {len(mentions):5,} mentions  replaced {len(pairs) / len(mentions):.3f}  "
            f"with a word that stands {len(left)}  {seconds / len(mentions) * 1e6:.1f} us each"
        )
        for old, new in random.Random(0).sample(pairs, min(options.show, len(pairs))) + left:
            print(f"    {old!r} {new!r}")
    shares = np.quantile(ratios, [0.05, 0.25, 0.5, 0.75, 0.95])
    print(f"population of {len(ratios):,} towns, new to old, 5 to 95 %: {np.round(shares, 2)}")


if __name__ == "__main__":
    main()

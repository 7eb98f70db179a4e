"""How well surrogates of names look like the originals, on MEDDOCAN, and what they cost.

A rare word has fewer than 1,000 bearers in the census. Words are those of three letters or more.

    python benchmarks/surrogate_names.py train   # on which choices were made
    python benchmarks/surrogate_names.py dev     # the reported figures
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence

import numpy as np
from meddocan_lines import PERSON, units_of
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from anonymizers.keys import Key
from anonymizers.mention import Mention, folded
from anonymizers.surrogates.names import surrogate_name
from gazetteers.builtin import CENSUS, read_gazetteer
from gazetteers.frequencies import Frequencies
from gazetteers.grammar import Grammar

KEY = Key(b"a key for measurements, no secret")
RARE, LETTERS = 1_000, 3
_WORD = re.compile(r"[^\W\d_]+")


def words_of(text: str) -> list[str]:
    """Return the words of a name that are no initials and no particles."""
    particles = Grammar.read().particles
    return [w for w in _WORD.findall(text) if len(w) >= LETTERS and folded(w) not in particles]


def figures(texts: Sequence[str], bearers: dict[str, int]) -> tuple[float, float]:
    """Return the share of rare words, and of names with an accent."""
    words = [folded(word) for text in texts for word in words_of(text)]
    rare = sum(bearers.get(word, 0) < RARE for word in words) / len(words)
    return rare, sum(folded(text) != text.lower() for text in texts) / len(texts)


def told_apart(
    texts: Sequence[Sequence[str]], notes: Sequence[str], bearers: dict[str, int]
) -> float:
    """Return the area under the ROC curve of a classifier of names, cross-validated; 0.5 is chance.

    It sees, of the rarest and of the most frequent word, how many bear it, and of the name its
    accents, its length, and the numbers of its words, capitals and signs.
    """
    rows, owners, is_new = [], [], []
    for side, own in enumerate(texts):
        for note, text in zip(notes, own, strict=True):
            counts = [bearers.get(folded(word), 0) for word in words_of(text)] or [0]
            rows.append(
                [
                    *np.log1p([min(counts), max(counts)]),
                    sum(a != b for a, b in zip(folded(text), text.lower(), strict=False)),
                    len(text),
                    len(counts),
                    sum(map(str.isupper, text)),
                    len(re.findall(r"[^\w\s]", text)),
                ]
            )
            owners.append(note)
            is_new.append(side)
    model = HistGradientBoostingClassifier(random_state=0)
    folds = GroupKFold(5)
    shares = cross_val_predict(
        model, np.array(rows), is_new, groups=owners, cv=folds, method="predict_proba"
    )
    return float(roc_auc_score(is_new, shares[:, 1]))


def main() -> None:
    """Print the figures of a split."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("split", choices=("train", "dev"))
    census = Frequencies.from_gazetteer(read_gazetteer(CENSUS))
    bearers = dict(zip(census.words, census.alone.sum(axis=1).tolist(), strict=True))
    mentions = [
        Mention(note.text[span.start : span.end], span.label, "person", note.id)
        for note in units_of(parser.parse_args().split, None, "document")
        for span in note.spans
        if span.label in PERSON
    ]
    surrogate_name(mentions[0], KEY)  # reads the lists
    begin = time.process_time()
    texts = [surrogate_name(mention, KEY) for mention in mentions]
    seconds = time.process_time() - begin
    made = [text for text in texts if text is not None]
    print("| names | rare words | names with an accent |")
    print("|---|---|---|")
    originals = [mention.text for mention in mentions]
    for name, own in (("originals", originals), ("surrogates", made)):
        rare, accented = figures(own, bearers)
        print(f"| {len(own):,} {name} | {rare:.3f} | {accented:.3f} |")
    print(f"{seconds / len(mentions) * 1e6:.1f} microseconds each")
    area = told_apart([originals, made], [m.patient for m in mentions], bearers)
    print(
        f"a classifier tells originals from surrogates with an area under the curve of {area:.3f}"
    )


if __name__ == "__main__":
    main()

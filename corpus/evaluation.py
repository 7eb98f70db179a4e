"""Scores of predicted against gold annotations.

Every measure is counted per document, so that a half of the documents can be scored alone and an
interval can be had by drawing documents again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from corpus.document import Document, Span
from corpus.errors import InputError, shown
from corpus.tokens import tokenize

#: The measures, in the order in which they are reported.
MEASURES = {
    "ner": "strict entities",
    "span": "strict spans",
    "span_merged": "merged spans",
    "covered": "tokens covered",
}

_Offsets = tuple[int, int]
_T = TypeVar("_T", Span, tuple[int, int])
_LINE_ENDS = re.compile(r"[\r\n]+")


class Counts(NamedTuple):
    """True positives, false positives and false negatives."""

    true_positives: int
    false_positives: int
    false_negatives: int

    @property
    def precision(self) -> float:
        """The share of what was predicted that is right; 0 where nothing was predicted."""
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        """The share of what is there that was found; 0 where nothing is there."""
        return _ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = 2 * self.true_positives
        return _ratio(both, both + self.false_positives + self.false_negatives)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Counts of each measure and class in each document.

    Parameters
    ----------
    ids : tuple of str, length D
        The documents.
    measures : mapping of str to ndarray of int64, shape (D, 3)
        True positives, false positives and false negatives by measure.
    classes : mapping of str to ndarray of int64, shape (D, 3)
        The same for strict entities of each class.
    lines : ndarray of int64, shape (D,)
        Lines of each gold document that are not blank; none of one that is only predicted, where
        nothing can be missed.
    """

    ids: tuple[str, ...]
    measures: Mapping[str, npt.NDArray[np.int64]]
    classes: Mapping[str, npt.NDArray[np.int64]]
    lines: npt.NDArray[np.int64]

    def counts(self, measure: str = "ner") -> Counts:
        """Sum a measure over the documents."""
        return Counts(*self.measures[measure].sum(axis=0).tolist())

    def class_counts(self, name: str) -> Counts:
        """Sum the strict entities of a class over the documents."""
        return Counts(*self.classes[name].sum(axis=0).tolist())

    @property
    def leak(self) -> float:
        """Entities missed per line of the gold documents that is not blank (MEDDOCAN)."""
        return _ratio(self.counts("ner").false_negatives, int(self.lines.sum()))

    def take(self, indices: npt.NDArray[np.int64]) -> Scores:
        """Give the scores of some of the documents."""
        return Scores(
            ids=tuple(self.ids[index] for index in indices.tolist()),
            measures={name: counts[indices] for name, counts in self.measures.items()},
            classes={name: counts[indices] for name, counts in self.classes.items()},
            lines=self.lines[indices],
        )

    def interval(
        self, measure: str, rng: np.random.Generator, *, resamples: int = 1000, level: float = 0.95
    ) -> tuple[float, float]:
        """Estimate how much F1 depends on the documents drawn.

        Parameters
        ----------
        measure : str
            One of `MEASURES`.
        rng : numpy.random.Generator
            Draws the documents.
        resamples : int
            Sets of D documents drawn with replacement.
        level : float
            The share of resampled F1 values between the two ends.

        Returns
        -------
        (float, float)
            The percentile interval of F1 (Efron and Tibshirani, An Introduction to the
            Bootstrap, chapter 13).
        """
        counts = self.measures[measure]
        number = len(counts)
        if number == 0:
            return 0.0, 0.0
        # Documents of the same counts are drawn together: of short notes there are few kinds.
        kinds, times = np.unique(counts, axis=0, return_counts=True)
        draws = rng.multinomial(number, times / number, size=resamples)
        hits, false, missed = (draws @ kinds).T
        whole = 2 * hits + false + missed
        f1 = np.divide(2 * hits, whole, out=np.zeros(resamples), where=whole > 0)
        low, high = np.quantile(f1, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def report(self, rng: np.random.Generator) -> dict[str, Any]:
        """Give all figures as plain numbers, as `bootstrap evaluate --json` writes them."""
        report: dict[str, Any] = {"documents": len(self.ids)}
        for measure in MEASURES:
            report[measure] = _figures(self.counts(measure))
            report[measure]["f1_interval"] = list(self.interval(measure, rng))
        report["leak"] = self.leak
        report["per_label"] = {name: _figures(self.class_counts(name)) for name in self.classes}
        return report


def _figures(counts: Counts) -> dict[str, Any]:
    return {
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
        **counts._asdict(),
    }


def score(gold: Iterable[Document], predicted: Iterable[Document]) -> Scores:
    """Compare predicted with gold documents by their ids.

    Parameters
    ----------
    gold, predicted : iterable of Document
        A document that only one of them has is all missed, or all spurious.

    Returns
    -------
    Scores
        Of the gold documents in order, then of those that are only predicted.

    Raises
    ------
    InputError
        If an id comes twice, or the text of a document is not the same on both sides.
    """
    golden, found = _by_id(gold, "gold"), _by_id(predicted, "predicted")
    names = tuple({**golden, **found})
    pairs = [_pair(golden.get(name), found.get(name)) for name in names]
    covered = _covered_counts(pairs)
    measures = {
        "ner": [_strict(set(left), set(right)) for _, left, right in pairs],
        "span": [_strict(_offsets(left), _offsets(right)) for _, left, right in pairs],
        "span_merged": [_merged(text, left, right) for text, left, right in pairs],
        "covered": covered,
    }
    return Scores(
        ids=names,
        measures={name: _array(counts) for name, counts in measures.items()},
        classes=_class_counts(pairs),
        lines=np.array([_lines(golden.get(name)) for name in names], np.int64),
    )


_Pair = tuple[str, tuple[Span, ...], tuple[Span, ...]]


def _by_id(documents: Iterable[Document], side: str) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for document in documents:
        if document.id in found:
            raise InputError(
                f"document {shown(document.id)} is twice among the {side} documents; "
                "ids must be unique"
            )
        found[document.id] = document
    return found


def _pair(gold: Document | None, predicted: Document | None) -> _Pair:
    if gold is not None and predicted is not None and gold.text != predicted.text:
        raise InputError(
            f"document {shown(gold.id)} has another text in the gold corpus ({len(gold.text)} "
            f"characters) than in the predicted one ({len(predicted.text)}): their offsets cannot "
            "be compared"
        )
    either = gold or predicted
    return (
        either.text if either else "",
        gold.spans if gold else (),
        predicted.spans if predicted else (),
    )


def _array(counts: Sequence[Counts]) -> npt.NDArray[np.int64]:
    return np.array(counts, np.int64).reshape(-1, 3)


def _offsets(spans: Iterable[Span]) -> set[_Offsets]:
    return {(span.start, span.end) for span in spans}


def _class_counts(pairs: Sequence[_Pair]) -> dict[str, npt.NDArray[np.int64]]:
    """Count strict entities by class, looking in each document only at the classes it has."""
    names = [{span.label for span in (*left, *right)} for _, left, right in pairs]
    counts = {name: np.zeros((len(pairs), 3), np.int64) for name in sorted(set().union(*names))}
    for row, (_, left, right) in enumerate(pairs):
        for name in names[row]:
            counts[name][row] = _strict(_of_class(left, name), _of_class(right, name))
    return counts


def _of_class(spans: Iterable[Span], name: str) -> set[Span]:
    return {span for span in spans if span.label == name}


def _strict(gold: set[_T], predicted: set[_T]) -> Counts:
    return Counts(len(gold & predicted), len(predicted - gold), len(gold - predicted))


def _merged(text: str, gold: Sequence[Span], predicted: Sequence[Span]) -> Counts:
    """Count as MEDDOCAN's scorer does for its merged spans.

    True positives are the exact matches and the matches between joined spans. What is false or
    missed is an original span that lies in none of those.
    """
    left, right = _offsets(gold), _offsets(predicted)
    matches = (left & right) | (_join(text, left) & _join(text, right))
    return Counts(
        len(matches), len(_outside(right - left, matches)), len(_outside(left - right, matches))
    )


def _join(text: str, spans: set[_Offsets]) -> set[_Offsets]:
    """Join neighbours whose gap holds no alphanumeric character; an empty gap is such a gap."""
    joined: list[_Offsets] = []
    for start, end in sorted(spans):
        if joined and not any(map(str.isalnum, text[joined[-1][1] : start])):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return set(joined)


def _outside(spans: set[_Offsets], matches: set[_Offsets]) -> list[_Offsets]:
    """Give the spans that no match contains."""
    ordered = sorted(matches)
    begins = [start for start, _ in ordered]
    # How far the matches that begin at or before each one reach.
    reach = [0, *accumulate((end for _, end in ordered), max)]
    return [(start, end) for start, end in spans if reach[bisect_right(begins, start)] < end]


def _lines(gold: Document | None) -> int:
    return sum(bool(line.strip()) for line in _LINE_ENDS.split(gold.text)) if gold else 0


def _covered_counts(pairs: Sequence[_Pair]) -> list[Counts]:
    """Count the tokens that each side covers (paper 004, Evaluation metrics)."""
    busy = [index for index, (_, left, right) in enumerate(pairs) if left or right]
    tokens = tokenize([pairs[index][0] for index in busy])
    counts = [Counts(0, 0, 0)] * len(pairs)
    for position, index in enumerate(busy):
        here = slice(*tokens.documents[position : position + 2].tolist())
        starts, ends = tokens.starts[here], tokens.ends[here]
        gold, predicted = (_covered(spans, starts, ends) for spans in pairs[index][1:])
        counts[index] = Counts(
            int((gold & predicted).sum()),
            int((predicted & ~gold).sum()),
            int((gold & ~predicted).sum()),
        )
    return counts


def _covered(
    spans: Iterable[Span], starts: npt.NDArray[np.int32], ends: npt.NDArray[np.int32]
) -> npt.NDArray[np.bool_]:
    """Say of each token whether a span covers a part of it."""
    covered = np.zeros(len(starts), bool)
    for span in spans:
        # Offsets of the tokens' own type: for any other one, numpy copies the tokens each time.
        first = np.searchsorted(ends, np.int32(span.start), side="right")
        covered[first : np.searchsorted(starts, np.int32(span.end), side="left")] = True
    return covered

"""What annotated notes say about recall: which mentions are covered, and at what cost.

A token that nothing has found is also replaced if its probability of being outside of all entities
is below a threshold. A higher threshold covers more mentions, and removes more other words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anonymizers.known_patients import KnownPatients
from anonymizers.policy import Policy
from anonymizers.spans import Spans
from bootstrap.deidentification.deidentify import (
    ANNOTATION,
    DeidentifyOptions,
    first_mentions,
    with_known,
    without_known,
)
from bootstrap.deidentification.finding import TaggedNotes, within
from bootstrap.tagging import applied
from corpus.patients import patient_keys
from corpus.ragged import ranges_of
from taggers import Tagger

Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Indices: TypeAlias = npt.NDArray[np.int64]
#: A threshold for all notes, or one for each, shape (D,).
Threshold: TypeAlias = float | Floats

#: The categories of direct identifiers, which identify a person by themselves.
DIRECT = frozenset({"person", "telephone", "email", "web", "number"})

#: The highest threshold: above it, nearly every token is replaced.
MOST = 0.9999
#: What is covered without a threshold.
_ALWAYS = -1.0
#: The one-sided level of the lower bound of recall.
_LEVEL = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """Annotated mentions, and other tokens, by the threshold above which they are replaced.

    Parameters
    ----------
    needed : ndarray of float64, shape (S,)
        The threshold above which each mention is wholly covered; negative if it always is.
    is_direct : ndarray of bool, shape (S,)
        Whether it is a direct identifier.
    labels : ndarray of str objects, shape (S,)
        Its class.
    owners : ndarray of int64, shape (S,)
        The number of its note.
    others : ndarray of float64, shape (N,)
        The threshold above which each token outside of mentions is replaced.
    other_owners : ndarray of int64, shape (N,)
        The number of its note.
    patients : ndarray of int64, shape (D,)
        The number of the patient of each note.
    """

    needed: Floats
    is_direct: Flags
    labels: npt.NDArray[np.object_]
    owners: Indices
    others: Floats
    other_owners: Indices
    patients: Indices

    def left(self, threshold: Threshold) -> Flags:
        """Return which mentions are not wholly covered."""
        return self.needed >= np.broadcast_to(threshold, len(self.patients))[self.owners]

    def recall(self, threshold: Threshold) -> float:
        """Return the share of mentions that are wholly covered."""
        return float(1 - self.left(threshold).sum() / max(len(self.needed), 1))

    def removed(self, threshold: Threshold) -> float:
        """Return the share of other tokens that are replaced."""
        below = self.others < np.broadcast_to(threshold, len(self.patients))[self.other_owners]
        return float(below.sum() / max(len(below), 1))

    def leaking(self, threshold: Threshold) -> int:
        """Return the number of notes in which a direct identifier is left."""
        return len(np.unique(self.owners[self.is_direct & self.left(threshold)]))

    def half(self, side: int) -> Coverage:
        """Return one of two halves; no patient is in both."""
        kept = self.patients % 2 == side
        mentions, tokens = kept[self.owners], kept[self.other_owners]
        return Coverage(
            self.needed[mentions],
            self.is_direct[mentions],
            self.labels[mentions],
            self.owners[mentions],
            self.others[tokens],
            self.other_owners[tokens],
            self.patients,
        )

    def lower_bound(self, threshold: float) -> float:
        """Return the lower 95 % bound of recall.

        It is the one of Wilson for as many independent mentions as have the variance of the
        mentions of patients, which depend on each other.
        """
        covered = ~self.left(threshold)
        number = len(covered)
        if not number:
            return 0.0
        share = float(covered.mean())
        by_patient = np.bincount(self.patients[self.owners], weights=covered - share)
        variance = max(float((by_patient**2).sum()) / number**2, share * (1 - share) / number)
        independent = share * (1 - share) / variance if variance else number
        return _wilson(share, independent)

    def threshold(self, target: float) -> tuple[float, bool]:
        """Return the lowest threshold with a lower bound of recall, and whether there is one.

        If there is none, it is the lowest with the highest recall.
        """
        steps = np.unique(self.needed[(self.needed >= 0) & (self.needed < MOST)])
        thresholds = [0.0, *np.nextafter(steps, 2.0).tolist()]
        low, high = 0, len(thresholds) - 1
        if self.lower_bound(thresholds[high]) < target:
            return thresholds[high], False
        while low < high:  # recall increases with the threshold, and so does its bound
            middle = (low + high) // 2
            if self.lower_bound(thresholds[middle]) < target:
                low = middle + 1
            else:
                high = middle
        return thresholds[low], True


def _wilson(share: float, number: float) -> float:
    """Return the one-sided lower bound of a share (Wilson, 1927)."""
    from scipy.stats import norm  # noqa: PLC0415 - slow to load

    z = float(norm.ppf(_LEVEL))
    middle = share + z**2 / (2 * number)
    spread = z * np.sqrt(share * (1 - share) / number + (z / (2 * number)) ** 2)
    return float((middle - spread) / (1 + z**2 / number))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A threshold, and what it does on annotated notes that did not choose it.

    Parameters
    ----------
    threshold : float
        Tokens below it are replaced; 0 for none.
    reaches : bool
        Whether the lower bound of recall is the wanted one.
    recall, removed : float
        The share of mentions that are wholly covered, and of other tokens that are replaced.
    leaking, notes : int
        The number of notes in which a direct identifier is left, and of all.
    """

    threshold: float
    reaches: bool
    recall: float
    removed: float
    leaking: int
    notes: int


def estimated(coverage: Coverage, target: float | None) -> Estimate:
    """Choose a threshold, and estimate what it does.

    Each half of the patients is measured with the threshold that the other half chooses, since a
    threshold does better on the notes that choose it.

    Parameters
    ----------
    coverage : Coverage
        What annotated notes need.
    target : float, optional
        The recall whose lower bound is wanted; no threshold is used without one.
    """
    chosen, reaches = coverage.threshold(target) if target else (0.0, True)
    crossed = crossed_thresholds(coverage, target)
    return Estimate(
        chosen,
        reaches,
        coverage.recall(crossed),
        coverage.removed(crossed),
        coverage.leaking(crossed),
        len(coverage.patients),
    )


def crossed_thresholds(coverage: Coverage, target: float | None) -> Floats:
    """Return the threshold of each note that the other half of the patients chooses.

    The parameters are as for `estimated`.
    """
    halves = [coverage.half(side).threshold(target)[0] if target else 0.0 for side in (1, 0)]
    return np.array(halves)[coverage.patients % 2]


def coverage_of(
    batches: Iterable[pa.RecordBatch], tagger: Tagger, options: DeidentifyOptions
) -> Coverage:
    """Find out what annotated notes need.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Annotated notes.
    tagger : Tagger
        What finds mentions. Its marginals are needed.
    options : DeidentifyOptions
        How notes are de-identified; its threshold is not used.
    """
    options = replace(options, threshold=0.0)
    parts, keys = [], list[str]()
    # Annotated notes need not have the columns of others.
    table = options.policy.known if options.policy.known and options.policy.known.table else None
    sent = partial(with_known, KnownPatients(table) if table else None)
    for notes, part in applied(partial(_coverage, options), tagger, batches, sent):
        parts.append(
            replace(
                part, owners=part.owners + len(keys), other_owners=part.other_owners + len(keys)
            )
        )
        keys += patient_keys(notes.column("group"), notes.column("id")).to_pylist()
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return Coverage(
        np.concatenate([np.zeros(0), *(part.needed for part in parts)]),
        np.concatenate([np.zeros(0, bool), *(part.is_direct for part in parts)]),
        np.concatenate([np.zeros(0, object), *(part.labels for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.owners for part in parts)]),
        np.concatenate([np.zeros(0), *(part.others for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.other_owners for part in parts)]),
        np.array([numbers[key] for key in keys], np.int64),
    )


def _coverage(options: DeidentifyOptions, tagger: Tagger, notes: pa.RecordBatch) -> Coverage:
    """Return what the notes of a batch need, which may be done in another process."""
    notes, known = without_known(notes)
    tagged = TaggedNotes(notes, options.unit, tagger, marginals=True)
    rows, starts, ends = tagged.tokens()
    needed = tagged.outside.copy()
    mentions, _ = first_mentions(options, notes, tagged, known)
    needed[within(rows, starts, ends, mentions.spans)] = _ALWAYS
    size = int(ends.max(initial=0)) + 1
    starts, ends = starts + rows * size, ends + rows * size
    gold = Spans.of_notes(notes, ANNOTATION)
    first = np.searchsorted(ends, gold.starts + gold.rows * size, side="right")
    last = np.searchsorted(starts, gold.ends + gold.rows * size)
    of_gold = [
        needed[a:b].max(initial=_ALWAYS) for a, b in zip(first.tolist(), last.tolist(), strict=True)
    ]
    is_other = np.ones(len(needed), bool)
    is_other[ranges_of(first, np.maximum(last - first, 0))] = False
    return Coverage(
        np.array(of_gold, np.float64),
        np.array([_is_direct(options.policy, label) for label in gold.labels], bool),
        gold.labels,
        gold.rows,
        needed[is_other],
        rows[is_other],
        np.zeros(0, np.int64),
    )


def _is_direct(policy: Policy, label: str) -> bool:
    return policy.category(label) in DIRECT

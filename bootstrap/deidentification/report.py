"""What was replaced in notes, in numbers: nothing of a report is text of a note."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymizers.anonymizer import REPLACED, UNCHANGED, Counts
from bootstrap.deidentification.deidentify import Deidentified
from bootstrap.deidentification.recall import Estimate
from bootstrap.reports.estimates import share_interval
from corpus.errors import number_of, quoted

#: The key of the words in doubt.
IN_DOUBT = "words in doubt"

#: The parts of the keys of `Counts.mentions`.
_PARTS = ("class", "source", "operator", "outcome")

#: The most words in doubt that are named, those of the lowest probability.
MOST_DOUBTS = 10_000


class Doubt(NamedTuple):
    """A word that stays in the output, and may be one that should not.

    Parameters
    ----------
    probability : float
        Its probability of being outside of all mentions.
    document : str
        The id of its note.
    start, end : int
        Half-open offsets in the output.
    """

    probability: float
    document: str
    start: int
    end: int


def _nobody() -> npt.NDArray[np.int64]:
    return np.zeros(0, np.int64)


@dataclass(slots=True)
class Report:
    """The numbers of all notes.

    Parameters
    ----------
    policy, fingerprint : str
        The name of the policy, and the fingerprint of the key; empty without one.
    first, second : Counts
        What was replaced, and what the second pass has found and replaced.
    recall : float, optional
        The recall that was asked for.
    estimate : Estimate, optional
        What annotated notes say about what is left.
    doubts : list of Doubt
        Words that stay although the model was not sure that they may.
    """

    policy: str
    fingerprint: str
    first: Counts = field(default_factory=Counts)
    second: Counts = field(default_factory=Counts)
    recall: float | None = None
    estimate: Estimate | None = None
    doubts: list[Doubt] = field(default_factory=list)
    # Hashes of the patients of all notes, and of those with notes in several batches.
    _patients: npt.NDArray[np.int64] = field(default_factory=_nobody, init=False)
    _divided: npt.NDArray[np.int64] = field(default_factory=_nobody, init=False)
    _divided_before: int = field(default=0, init=False)

    def add(self, result: Deidentified) -> None:
        """Add the numbers of some notes."""
        self.first.add(result.counts)
        self.second.add(result.second)
        groups = result.notes.column("group").drop_null().unique().to_pylist()
        patients = np.array([hash(group) for group in groups], np.int64)
        self._divided = np.union1d(self._divided, patients[np.isin(patients, self._patients)])
        self._patients = np.union1d(self._patients, patients)
        ids, doubts = result.notes.column("id"), result.doubts
        places = zip(
            doubts.probabilities.tolist(),
            doubts.rows.tolist(),
            doubts.starts.tolist(),
            doubts.ends.tolist(),
            strict=True,
        )
        self.doubts += [
            Doubt(sure, ids[row].as_py(), start, end) for sure, row, start, end in places
        ]
        self.doubts = heapq.nsmallest(MOST_DOUBTS, self.doubts)

    def update(self, numbers: Mapping[str, Any]) -> None:
        """Add the numbers of other notes, which `as_dict` returned."""
        first = _counts(numbers["mentions"], numbers["notes"], numbers["notes with mentions"])
        first.same_names = numbers["names that are another name of their note"]
        second = numbers["second pass"]
        self.first.add(first)
        self.second.add(_counts(second["mentions"], second["searched"], second["notes"]))
        self.doubts += [Doubt(**doubt) for doubt in numbers[IN_DOUBT]]
        self.doubts = heapq.nsmallest(MOST_DOUBTS, self.doubts)
        self._divided_before += numbers["patients in several batches"]

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers, serialisable as JSON."""
        return {
            "policy": self.policy,
            "key": self.fingerprint or None,
            "notes": self.first.notes,
            "notes with mentions": self.first.changed,
            "names that are another name of their note": self.first.same_names,
            "mentions": _rows(self.first),
            "second pass": {
                "searched": self.second.notes,
                "notes": self.second.changed,
                "mentions": _rows(self.second),
            },
            "estimate": asdict(self.estimate) if self.estimate else None,
            "patients in several batches": self._divided_before + len(self._divided),
            IN_DOUBT: [doubt._asdict() for doubt in self.doubts],
        }

    def lines(self) -> Iterator[str]:
        """Yield a summary."""
        mentions = self.first.mentions
        unchanged = _sums(mentions, 3).get(UNCHANGED, 0)
        yield (
            f"replaced {number_of(mentions.total() - unchanged, 'mention')} in "
            f"{self.first.changed:,} of {number_of(self.first.notes, 'note')}"
            + (f"; {unchanged:,} stay as they are" if unchanged else "")
        )
        by_source = _sums(mentions, 1)
        if by_source:
            yield "found by: " + ", ".join(f"{name} {n:,}" for name, n in by_source.items())
        done = {REPLACED, UNCHANGED}
        failed = Counter({key: n for key, n in mentions.items() if key[3] not in done})
        for (label, outcome), count in sorted(_sums(failed, 0, 3).items()):
            yield f"placeholders for {quoted(label)}: {count:,} ({outcome})"
        if self.second.notes:
            yield (
                f"second pass: replaced {number_of(self.second.mentions.total(), 'more mention')} "
                f"in {number_of(self.second.changed, 'note')}"
            )
        divided = self._divided_before + len(self._divided)
        if self.second.notes and divided:
            yield (
                f"{number_of(divided, 'patient')} with notes that are not side by side: "
                "what was found in one was not sought in all; sort the notes by patient"
            )
        if self.estimate and self.estimate.notes:
            yield from _estimate_lines(self.estimate, self.recall)


def _estimate_lines(estimate: Estimate, recall: float | None) -> Iterator[str]:
    """Describe what annotated notes say."""
    if recall and not estimate.reaches:
        yield (
            f"a recall of {recall} is out of reach: its lower 95 % bound is below it at any "
            "threshold; the one with the highest recall was used"
        )
    low, high = share_interval(estimate.leaking, estimate.notes)
    yield (
        f"on {number_of(estimate.notes, 'annotated note')}: {estimate.recall:.2%} of the mentions "
        f"are wholly covered, and {estimate.removed:.2%} of the other tokens are replaced"
    )
    yield (
        f"{estimate.leaking:,} of them ({estimate.leaking / estimate.notes:.1%}; 95 % interval "
        f"{low:.1%} to {high:.1%}) leak a direct identifier"
    )


def _sums(counts: Counter[tuple[str, str, str, str]], *parts: int) -> dict[Any, int]:
    """Add counts by some parts of their keys."""
    sums: Counter[Any] = Counter()
    for key, count in counts.items():
        sums[key[parts[0]] if len(parts) == 1 else tuple(key[part] for part in parts)] += count
    return dict(sums.most_common())


def _counts(rows: Iterable[Mapping[str, Any]], notes: int, changed: int) -> Counts:
    mentions = Counter({tuple(row[name] for name in _PARTS): row["count"] for row in rows})
    return Counts(mentions, notes, changed)


def _rows(counts: Counts) -> list[dict[str, Any]]:
    return [
        {**dict(zip(_PARTS, key, strict=True)), "count": count}
        for key, count in sorted(counts.mentions.items())
    ]

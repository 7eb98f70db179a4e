"""Counts of the notes with characters that are read as others, or not displayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from corpus.tokens.normalisation import normalise_all


@dataclass(slots=True)
class UnusualCharacters:
    """Counts of the notes with each kind of character that `corpus.tokens.normalisation` finds.

    Attributes
    ----------
    notes : int
        The number of notes so far.
    counts : Counter of str
        The number of notes with characters of each kind.
    """

    notes: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, texts: Sequence[str]) -> None:
        """Count the texts of notes."""
        self.notes += len(texts)
        for normalised in normalise_all(texts).values():
            self.counts.update(normalised.kinds)

    def lines(self) -> Iterator[str]:
        """Yield the lines of a report, the most frequent kind first; none for usual text."""
        of_all = f"of {self.notes:,} {'note' if self.notes == 1 else 'notes'}"
        for kind, count in sorted(self.counts.items(), key=lambda item: (-item[1], item[0])):
            yield f"{kind} in {count:,} {of_all}"

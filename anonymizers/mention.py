"""Mentions: what operators replace."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from gazetteers.folding import fold

#: The most characters of the context before a mention.
CONTEXT = 32


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of a note, and what its replacement may depend on.

    Parameters
    ----------
    text : str
        The text of the span.
    label : str
        Its class.
    category : str
        What the class contains, one of `anonymizers.categories.CATEGORIES`.
    patient : str
        The key of the patient, or of the note if no patient is known; see
        `corpus.patients.patient_keys`.
    note : int
        The row of the note in its batch.
    start : int
        The offset of the span in the note.
    before : str
        The text before the span in its note, at most `CONTEXT` characters.
    """

    text: str
    label: str
    category: str
    patient: str
    note: int = 0
    start: int = 0
    before: str = ""


@functools.lru_cache(1 << 16)
def folded(text: str) -> str:
    """Return a text in lower case without accents; words repeat."""
    return fold([text])[0]

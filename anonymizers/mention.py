"""Mentions: what operators replace."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from gazetteers.folding import fold

#: The last character of Latin Extended-A.
_LAST_LATIN = "\u017f"
#: The fewest characters of a text that counts within a word of another one.
_LEAST_COPY = 3


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
        What the class contains, a category of ``categories.toml``.
    patient : str
        The key of the patient, or of the note if no patient is known; see
        `corpus.patients.patient_keys`.
    note : int
        The row of the note in its batch.
    document : str
        The id of the note.
    start : int
        The offset of the span in the note.
    """

    text: str
    label: str
    category: str
    patient: str
    note: int = 0
    document: str = ""
    start: int = 0


def folded(text: str) -> str:
    """Return a text in lower case without accents."""
    if text.isascii():
        return text.lower()
    if max(text) <= _LAST_LATIN:
        return text.translate(_folded_latin()).lower()
    return fold([text])[0]


@functools.cache
def _folded_latin() -> dict[int, str]:
    """Return the folded form of the characters of Latin scripts: folding texts is for many."""
    characters = map(chr, range(0x80, ord(_LAST_LATIN) + 1))
    return {ord(character): fold([character])[0] for character in characters}


def has_copy(text: str, original: str) -> bool:
    """Return whether a text has another one in it; a short one, as a word."""
    new, old = folded(text), folded(original).strip()
    if len(old) >= _LEAST_COPY:
        return old in new
    return re.search(rf"(?<!\w){re.escape(old)}(?!\w)", new) is not None

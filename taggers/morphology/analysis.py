"""What an analyser says of tokens."""

from __future__ import annotations

from dataclasses import dataclass

#: The prefix of the name of an analyser that is a pipeline of spaCy.
SPACY = "spacy:"


@dataclass(frozen=True, slots=True)
class Analysis:
    """What an analyser says of the N tokens of a batch.

    Parameters
    ----------
    pos, lemmas : list of str, length N
        The part of speech and the lemma of each token; an empty string is none.
    """

    pos: list[str]
    lemmas: list[str]

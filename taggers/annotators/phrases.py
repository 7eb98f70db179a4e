"""An annotator of the phrases of gazetteers, such as hospitals, towns and streets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from corpus.batch import NO_VALUE, Batch, Stream
from corpus.errors import InputError
from corpus.storage.fields import Fields

if TYPE_CHECKING:
    from gazetteers.phrases.matcher import PhraseMatcher

#: Separates terms in a model. Terms contain no line breaks, since spaces separate their words.
_SEPARATOR = "\n"


class Phrases:
    """Annotator of the longest matching phrases of gazetteers.

    The tokens of a phrase of the class HOSPITAL have the values ``B-HOSPITAL`` and ``I-HOSPITAL``.

    Parameters
    ----------
    phrases : mapping of str to sequence of str, optional
        Terms by class; see `gazetteers.phrases.matcher.PhraseMatcher`. Without phrases, no token
        has a value.
    """

    def __init__(self, phrases: Mapping[str, Sequence[str]] | None = None) -> None:
        self._phrases = {
            name: tuple(dict.fromkeys(terms)) for name, terms in (phrases or {}).items()
        }
        self._matcher: PhraseMatcher | None = None

    @classmethod
    def from_files(cls, paths: Sequence[str]) -> Self:
        """Read the phrases of gazetteers.

        Parameters
        ----------
        paths : sequence of str
            Parquet files that ``bootstrap gazetteer import`` wrote, or names of builtin lists
            (`gazetteers.builtin.BUILTIN_LISTS`). A phrase of several classes has the class of the
            first file.

        Raises
        ------
        InputError
            If a gazetteer is missing, has another format, or contains no phrases.
        """
        from gazetteers.builtin import read_gazetteer  # noqa: PLC0415 - the same
        from gazetteers.gazetteer import terms_by_class  # noqa: PLC0415 - not always used

        gazetteers = [read_gazetteer(path) for path in paths]
        for path, gazetteer in zip(paths, gazetteers, strict=True):
            if not len(gazetteer):
                raise InputError(
                    f"{path} has no phrases; remove it, or import a list that has some"
                )
        return cls(terms_by_class(gazetteers))

    @property
    def terms(self) -> Mapping[str, tuple[str, ...]]:
        """The phrases of each class."""
        return self._phrases

    @property
    def size(self) -> int:
        """The number of phrases."""
        return sum(map(len, self._phrases.values()))

    def annotate(self, batch: Batch) -> Stream:
        """Return the label of each token in a phrase, such as ``B-HOSPITAL``."""
        if not self._phrases:
            return Stream((), np.full(batch.n_tokens, NO_VALUE, np.int32))
        if self._matcher is None:
            from gazetteers.phrases.matcher import PhraseMatcher  # noqa: PLC0415 - numba is slow to import

            self._matcher = PhraseMatcher(self._phrases)
        return self._matcher.match(batch)

    def settings(self) -> dict[str, Any]:
        """Return the phrases, joined to one string for each class."""
        return {"phrases": joined_terms(self._phrases)}

    @classmethod
    def from_settings(cls, settings: Fields) -> Self:
        """Create an annotator from its settings."""
        return cls(split_terms(settings.text_by_key("phrases")))


def joined_terms(terms: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the terms of each class as one string, as models have them."""
    return {name: _SEPARATOR.join(of_class) for name, of_class in terms.items()}


def split_terms(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the terms that `joined_terms` has joined."""
    return {name: text.split(_SEPARATOR) if text else [] for name, text in texts.items()}

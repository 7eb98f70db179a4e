"""An annotator of phrases: hospitals, towns, streets and whatever else a gazetteer holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from corpus.batch import Batch
from corpus.errors import InputError, shown
from corpus.streams import NO_VALUE, Stream

if TYPE_CHECKING:
    from gazetteers.phrases.matcher import PhraseMatcher

#: Between terms in a model. A term has none: it is of words with spaces between them.
_BETWEEN = "\n"


class Phrases:
    """The longest phrases of lists: ``B-HOSPITAL`` and ``I-HOSPITAL`` for the tokens of one.

    Parameters
    ----------
    phrases : mapping of str to sequence of str, optional
        Terms by their class; see `gazetteers.phrases.matcher.PhraseMatcher`. Without any, no token
        has a value.
    """

    def __init__(self, phrases: Mapping[str, Sequence[str]] | None = None) -> None:
        given = phrases or {}
        self._phrases = {name: tuple(dict.fromkeys(terms)) for name, terms in given.items()}
        self._matcher: PhraseMatcher | None = None

    @classmethod
    def of_files(cls, paths: Sequence[str]) -> Self:
        """Read the phrases of gazetteers.

        Parameters
        ----------
        paths : sequence of str
            Parquet files that ``bootstrap gazetteer import`` made, or names of lists that come
            with the program (`gazetteers.builtin.BUILTIN_LISTS`). Where a phrase is of several
            classes, that of the first file counts.

        Raises
        ------
        InputError
            If one is not there, is something else, or has no phrase.
        """
        from gazetteers.builtin import read_gazetteer  # noqa: PLC0415 - the same
        from gazetteers.gazetteer import terms_by_class  # noqa: PLC0415 - not always used

        gazetteers = [read_gazetteer(path) for path in paths]
        for path, gazetteer in zip(paths, gazetteers, strict=True):
            if not len(gazetteer):
                raise InputError(
                    f"{shown(path)} has no phrase; leave it out, or import a list with some"
                )
        return cls(terms_by_class(gazetteers))

    def annotate(self, batch: Batch) -> Stream:
        """Return the phrase of each token."""
        if not self._phrases:
            return Stream((), np.full(batch.n_tokens, NO_VALUE, np.int32))
        from gazetteers.phrases.matcher import PhraseMatcher  # noqa: PLC0415 - numba is slow to import

        if self._matcher is None:
            self._matcher = PhraseMatcher(self._phrases)
        return self._matcher.match(batch)

    def settings(self) -> dict[str, Any]:
        """Return the phrases, those of a class as one string."""
        return {"phrases": {name: _BETWEEN.join(each) for name, each in self._phrases.items()}}

    @classmethod
    def of_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Create an annotator from its settings."""
        return cls({name: text.split(_BETWEEN) for name, text in settings["phrases"].items()})

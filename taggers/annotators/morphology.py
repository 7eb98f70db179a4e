"""Annotators of languages, parts of speech and lemmas (paper 003, section 3.4.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from corpus.batch import NO_VALUE, Batch, Stream
from corpus.errors import InputError
from corpus.storage.fields import Fields
from taggers.morphology.analysers import analyse, check_analysers, check_names
from taggers.morphology.languages import check_languages, find_languages


class _OfLanguages(ABC):
    """An annotator that works on documents of several languages.

    Parameters
    ----------
    analysers : mapping of str to str
        The languages of documents, and the name of an analyser for each; see
        `taggers.morphology.analysers.analyser_of`.
    """

    def __init__(self, analysers: Mapping[str, str]) -> None:
        self._analysers = dict(analysers)

    @abstractmethod
    def annotate(self, batch: Batch) -> Stream:
        """Compute the stream of a batch."""

    def settings(self) -> dict[str, Any]:
        """Return the languages and their analysers."""
        return {"analysers": self._analysers}

    @classmethod
    def from_settings(cls, settings: Fields) -> Self:
        """Create an annotator from its settings."""
        analysers = settings.text_by_key("analysers")
        try:
            check_names(analysers)
            cls._check(analysers)
        except InputError:  # whose message quotes the model
            raise settings.error(
                "analysers",
                "languages and analysers that are installed here, as where the model was trained: "
                "apertium, simplemma, or a pipeline of spaCy",
            ) from None
        return cls(analysers)

    @staticmethod
    @abstractmethod
    def _check(analysers: Mapping[str, str]) -> None:
        """Raise an `InputError` if what is needed is not installed."""


class Languages(_OfLanguages):
    """Annotator of the language of a document; all its tokens have it."""

    @staticmethod
    def _check(analysers: Mapping[str, str]) -> None:
        check_languages(tuple(analysers))

    def annotate(self, batch: Batch) -> Stream:
        """Return the language of the document of each token, such as ``es``."""
        languages = find_languages(batch.texts.to_pylist(), tuple(self._analysers))
        of_documents = _stream(languages)
        return Stream(of_documents.vocabulary, np.repeat(of_documents.values, batch.lengths))


class PartsOfSpeech(_OfLanguages):
    """Annotator of parts of speech."""

    @staticmethod
    def _check(analysers: Mapping[str, str]) -> None:
        check_analysers(analysers, pos=True)

    def annotate(self, batch: Batch) -> Stream:
        """Return the part of speech of each token, such as ``n`` or ``NOUN``."""
        return _stream(analyse(batch, self._analysers).pos)


class Lemmas(_OfLanguages):
    """Annotator of lemmas."""

    @staticmethod
    def _check(analysers: Mapping[str, str]) -> None:
        check_analysers(analysers, pos=False)

    def annotate(self, batch: Batch) -> Stream:
        """Return the lemma of each token in lower case; an unknown word is its own."""
        return _stream(analyse(batch, self._analysers).lemmas)


def _stream(values: Sequence[str]) -> Stream:
    """Return a stream of values; an empty string is none."""
    numbers: dict[str, int] = {}
    of_tokens = [numbers.setdefault(value, len(numbers)) if value else NO_VALUE for value in values]
    return Stream(tuple(numbers), np.array(of_tokens, np.int32))

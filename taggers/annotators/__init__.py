"""Annotators, which add streams to batches, both in training and in tagging."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

from corpus.batch import Batch, Stream
from corpus.errors import InputError
from corpus.storage.fields import Fields
from taggers.annotators.lines import Colons, LineHeaders
from taggers.annotators.morphology import Languages, Lemmas, PartsOfSpeech
from taggers.annotators.phrases import Phrases
from taggers.patterns.labelled import LabelledPatterns

__all__ = [
    "ANNOTATORS",
    "Annotator",
    "Colons",
    "Languages",
    "Lemmas",
    "LineHeaders",
    "PartsOfSpeech",
    "Phrases",
    "annotated",
    "annotators_from_settings",
]


class Annotator(Protocol):
    """A component that computes a stream: one value, or none, for each token of a batch.

    The settings of an annotator are saved in the models that use its stream.
    """

    def annotate(self, batch: Batch) -> Stream:
        """Compute the stream of a batch."""

    def settings(self) -> dict[str, Any]:
        """Return the settings for `from_settings`, serialisable as JSON."""

    @classmethod
    def from_settings(cls, settings: Fields) -> Self:
        """Create an annotator from its settings."""


#: Annotators that find the languages of documents, by the name of the stream that each adds.
OF_LANGUAGES: dict[str, type[Languages] | type[PartsOfSpeech] | type[Lemmas]] = {
    "language": Languages,
    "pos": PartsOfSpeech,
    "lemmas": Lemmas,
}

#: Kinds of annotators, by the name of the stream that each adds.
ANNOTATORS: dict[str, type[Annotator]] = {
    "header": LineHeaders,
    "colon": Colons,
    "patterns": LabelledPatterns,
    "phrases": Phrases,
    **OF_LANGUAGES,
}


def annotators_from_settings(settings: Fields) -> dict[str, Annotator]:
    """Return the annotators of a model, from their settings by stream.

    Raises
    ------
    InputError
        If a stream has no annotator, or its settings are invalid.
    """
    for name in settings:
        if name not in ANNOTATORS:
            raise InputError(
                f"{settings.place} has a stream that is none of {', '.join(ANNOTATORS)}"
            )
    return {name: ANNOTATORS[name].from_settings(settings.fields(name)) for name in settings}


def annotated(batch: Batch, names: Sequence[str], annotators: Mapping[str, Annotator]) -> Batch:
    """Return a batch with all required streams.

    Parameters
    ----------
    batch : Batch
        Documents. Streams that the batch already has are kept.
    names : sequence of str
        The required streams.
    annotators : mapping of str to Annotator
        Annotators, by the name of their stream.

    Raises
    ------
    InputError
        If a stream is missing from the batch and has no annotator.
    """
    missing = [name for name in names if name not in batch.streams]
    if unknown := [name for name in missing if name not in annotators]:
        raise InputError(
            f'the notes have no stream "{unknown[0]}", and no annotator adds it; annotators add '
            f"{', '.join(ANNOTATORS)}"
        )
    return batch.with_streams({name: annotators[name].annotate(batch) for name in missing})

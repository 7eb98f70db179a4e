"""Annotators: what adds streams to batches, in training and in tagging alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

from corpus.batch import Batch
from corpus.errors import InputError
from corpus.streams import Stream
from taggers.annotators.lines import Colons, LineHeaders
from taggers.annotators.phrases import Phrases
from taggers.annotators.rules import Rules

__all__ = ["ANNOTATORS", "Annotator", "Colons", "LineHeaders", "Phrases", "Rules", "annotated"]


class Annotator(Protocol):
    """Says something of each token of a batch. It is saved in the models that look at it."""

    def annotate(self, batch: Batch) -> Stream:
        """Compute the stream of a batch."""
        ...

    def settings(self) -> dict[str, Any]:
        """Return what `of_settings` needs, for JSON."""
        ...

    @classmethod
    def of_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Create an annotator from its settings."""
        ...


#: Kinds of annotators, by the name of the stream that each adds.
ANNOTATORS: dict[str, type[Annotator]] = {
    "header": LineHeaders,
    "colon": Colons,
    "rules": Rules,
    "phrases": Phrases,
}


def annotated(batch: Batch, names: Sequence[str], annotators: Mapping[str, Annotator]) -> Batch:
    """Add the streams that a batch lacks.

    Parameters
    ----------
    batch : Batch
        A stream that it has is kept.
    names : sequence of str
        Streams that are needed.
    annotators : mapping of str to Annotator
        By the name of their stream.

    Raises
    ------
    InputError
        If a stream is not in the batch and there is no annotator for it.
    """
    lacking = [name for name in names if name not in batch.streams]
    if strange := [name for name in lacking if name not in annotators]:
        raise InputError(
            f'the notes have no stream "{strange[0]}", and no annotator adds it; annotators add '
            f"{', '.join(ANNOTATORS)}"
        )
    return batch.with_streams({name: annotators[name].annotate(batch) for name in lacking})

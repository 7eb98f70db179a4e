"""The base class of the dictionary taggers: fitted to words, they tag in one pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from corpus.batch import Batch
from corpus.errors import InputError
from corpus.streams import NO_VALUE
from corpus.tags import bio_labels
from gazetteers.frequencies import Frequencies
from taggers.annotators import Phrases
from taggers.base import Detail, Progress, Tagging, Training
from taggers.dictionaries.dictionary_options import DictionaryOptions, DivergenceOptions
from taggers.dictionaries.greedy_decoding import WordJudgements, tag_greedily
from taggers.dictionaries.name_lists import read_names
from taggers.dictionaries.word_usage import Counts, words_of_notes
from taggers.model_folder import read_description, write_model

#: In place of paths in a model, which has all that it needs.
_WITHIN = "."

OptionsT = TypeVar("OptionsT", bound=DivergenceOptions | DictionaryOptions)


class WordModel(Protocol):
    """The knowledge of a tagger about words."""

    def judge(self, batch: Batch) -> WordJudgements:
        """Return the judgements of the words of a batch."""
        ...

    def description(self) -> dict[str, Any]:
        """Return what `NameTagger.load` reads in addition to the files, for JSON."""
        ...

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""
        ...


class NameTagger(ABC, Generic[OptionsT]):
    """Tags names by what is known of words.

    Parameters
    ----------
    options : DivergenceOptions or DictionaryOptions
        Dictionaries and thresholds.

    Attributes
    ----------
    labels : tuple of str
        ``O``, ``B-`` and ``I-`` of the class of names.
    training : None
        Nothing is trained.
    """

    kind: ClassVar[str]
    #: The modules whose compiled functions it calls; see `taggers.base.kernels_of`.
    kernels: ClassVar[tuple[str, ...]] = (
        "corpus.tokens.scanner",
        "gazetteers.phrases.matching",
        "taggers.dictionaries.greedy_decoding",
    )
    #: The type of the options.
    options_type: ClassVar[type[Any]]

    def __init__(self, options: OptionsT) -> None:
        self.options = options
        self.labels = bio_labels([options.label])
        self.training: Training | None = None
        self._model: WordModel | None = None
        self._blocking = Phrases()

    @abstractmethod
    def _compared(self, names: Frequencies, types: Sequence[str], counts: Counts) -> WordModel:
        """Compare dictionaries with the words of the notes."""

    @abstractmethod
    def _read(self, folder: Path, description: Mapping[str, Any]) -> WordModel:
        """Read what a word model wrote."""

    @abstractmethod
    def _thresholds(self) -> tuple[float, float]:
        """Return the threshold of divergence, and that after a word of a name."""

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Compare the dictionaries with the notes.

        Parameters
        ----------
        train : Batch
            Its words are counted where ``options.counts`` names no counts. Tags are not used.
        validation, warm_start : optional
            Not used.
        rng : numpy.random.Generator
            Not drawn from.
        progress : callable, optional
            Called when it is done.

        Raises
        ------
        InputError
            If a dictionary or the counts cannot be read.
        TrainingError
            If there are no words of notes, or none of them is in the dictionaries.
        """
        names = read_names(self.options.names, self.options.classes)
        types, counts = words_of_notes(train, self.options.counts)
        self._model = self._compared(names, types, counts)
        self._blocking = Phrases.of_files(self.options.blocked)
        if progress:
            progress(1, 1)
        return self

    def tag(
        self,
        batch: Batch,
        *,
        measure: str = "min_marginal",
        detail: Detail = "document",
        progress: Progress | None = None,
    ) -> Tagging:
        """Tag documents; see `taggers.dictionaries.greedy_decoding.tag_greedily`."""
        if self._model is None:
            raise ValueError("the tagger has not been fitted")
        threshold, threshold_after = self._thresholds()
        tagging = tag_greedily(
            batch,
            self._model.judge(batch),
            self._blocking.annotate(batch).values != NO_VALUE,
            label=self.options.label,
            threshold=threshold,
            threshold_after=threshold_after,
            measure=measure,
            detail=detail,
        )
        if progress:
            progress(len(batch), len(batch))
        return tagging

    def save(self, folder: Path) -> None:
        """Write the model into a folder: hashes of words, and the judgement of each.

        It does not say where the dictionaries were.
        """
        if self._model is None:
            raise ValueError("the tagger has not been fitted")
        options = asdict(self.options) | {"counts": ""}
        lists = [name for name in ("names", "not_names", "blocked") if options.get(name)]
        options |= {name: [_WITHIN] for name in lists}
        description = {
            "kind": self.kind,
            "options": options,
            "words": self._model.description(),
            "blocking": self._blocking.settings(),
        }
        write_model(folder, description, self._model.files())

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote.

        Raises
        ------
        InputError
            If it is something else, or damaged.
        """
        try:
            description = read_description(folder, cls.kind)
            options = {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in description["options"].items()
            }
            tagger = cls(cls.options_type(**options))
            tagger._model = tagger._read(folder, description["words"])
            tagger._blocking = Phrases.of_settings(description["blocking"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f'{folder} is not the folder of a model of kind "{cls.kind}": {error}'
            ) from error
        return tagger

"""The base class of the dictionary taggers, which are fitted to word counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.streams import NO_VALUE
from corpus.tags import bio_labels
from gazetteers.frequencies import Frequencies
from taggers.annotators import Phrases
from taggers.annotators.content import pruned_phrases, traces_in
from taggers.base import Detail, Progress, Tagging, Training
from taggers.dictionaries.dictionary_options import DictionaryOptions, DivergenceOptions
from taggers.dictionaries.greedy_decoding import WordJudgements, tag_greedily
from taggers.dictionaries.name_lists import read_names
from taggers.dictionaries.word_usage import NoteWords, words_of_notes
from taggers.model_folder import ModelFiles, errors_of_model, write_model
from taggers.options import INSIDE_MODEL
from taggers.pruning import PHRASES, Pruning
from taggers.public_lists import PublicLists

OptionsT = TypeVar("OptionsT", bound=DivergenceOptions | DictionaryOptions)


class WordModel(Protocol):
    """The model of words of a dictionary tagger."""

    def judge(self, batch: Batch) -> WordJudgements:
        """Return the judgements of the word types of a batch."""
        ...

    @property
    def size(self) -> int:
        """The number of words of names."""
        ...

    @property
    def occurring(self) -> int:
        """The number of words of which the model shows that they occur in the notes."""
        ...

    def pruned(self, pruning: Pruning) -> Self:
        """Return a model that shows nothing of the words of few patients and of private lists."""
        ...

    def traces(self, words: Sequence[str], lists: PublicLists) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words left traces; see `taggers.pruning.PrunableTagger`."""
        ...

    def description(self) -> dict[str, Any]:
        """Return the part of the model that is saved in its description, as JSON values."""
        ...

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""
        ...


class NameTagger(ABC, Generic[OptionsT]):
    """Base class of taggers that tag names by a model of words.

    Parameters
    ----------
    options : DivergenceOptions or DictionaryOptions
        Dictionaries and thresholds.

    Attributes
    ----------
    labels : tuple of str
        ``O``, and ``B-`` and ``I-`` of the class of names.
    training : None
        Fitting optimises no objective.
    """

    kind: ClassVar[str]
    #: The modules whose compiled functions are called; see `taggers.base.kernels_of`.
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
    def _fitted(self, names: Frequencies, notes: NoteWords) -> WordModel:
        """Fit the model of words to the words of the notes."""

    @abstractmethod
    def _of_model(self, model: ModelFiles) -> WordModel:
        """Read the model of words from a model folder."""

    @abstractmethod
    def _thresholds(self) -> tuple[float, float]:
        """Return the threshold of divergence, and the one after a word of a name."""

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Fit the model of words to the dictionaries and the word counts of the notes.

        Parameters
        ----------
        train : Batch
            Documents whose words are counted if ``options.counts`` is empty. Tags are not used.
        validation, warm_start : optional
            Not used.
        rng : numpy.random.Generator
            Not used: fitting is deterministic.
        progress : callable, optional
            Called once, after fitting.

        Returns
        -------
        NameTagger
            The tagger itself.

        Raises
        ------
        InputError
            If a dictionary or the counts cannot be read.
        TrainingError
            If the notes contain no words, or none of their words is in the dictionaries.
        """
        names = read_names(self.options.names, self.options.classes)
        self._model = self._fitted(names, words_of_notes(train, self.options.counts))
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
        """Predict the tags of documents by greedy decoding.

        See `taggers.dictionaries.greedy_decoding.tag_greedily`.
        """
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

    def contents(self) -> dict[str, int]:
        """Return the number of words of lists, of those that occur in notes, and of phrases."""
        if self._model is None:
            raise ValueError("the tagger has not been fitted")
        return {
            "words of lists of names": self._model.size,
            "words of lists that occur in the notes": self._model.occurring,
            "phrases": self._blocking.size,
        }

    def pruned(self, pruning: Pruning) -> Self:
        """Return a model that reveals less of the notes.

        The words of names remain hashes that anyone can compute, since they are public.
        """
        if self._model is None:
            raise ValueError("the tagger has not been fitted")
        tagger = type(self)(self.options)
        tagger._model = self._model.pruned(pruning)
        tagger._blocking = pruned_phrases(self._blocking, pruning)
        return tagger

    def traces(self, words: Sequence[str], lists: PublicLists) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words left traces; see `taggers.pruning.PrunableTagger`."""
        if self._model is None:
            raise ValueError("the tagger has not been fitted")
        phrases = traces_in({PHRASES: self._blocking}, words, lists)
        return {**self._model.traces(words, lists), **phrases}

    def save(self, folder: Path) -> None:
        """Write the model into a folder: the hashes of words, and the judgement of each.

        The paths of the dictionaries are not saved.
        """
        if self._model is None:
            raise ValueError("the tagger has not been fitted")
        options = asdict(self.options) | {"counts": ""}
        lists = [name for name in ("names", "not_names", "blocked") if options.get(name)]
        options |= {name: [INSIDE_MODEL] for name in lists}
        description = {
            "kind": self.kind,
            "options": options,
            "words": self._model.description(),
            "blocking": self._blocking.settings(),
        }
        write_model(folder, description, self._model.files())

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a model that `save` wrote.

        Raises
        ------
        InputError
            If the folder holds no model of this kind, or a damaged one.
        """
        with errors_of_model(folder, cls.kind):
            model = ModelFiles(folder, cls.kind)
            options = cls.options_type.from_fields(model.fields.fields("options"))
            tagger = cls(options)
            tagger._model = tagger._of_model(model)
            tagger._blocking = Phrases.of_settings(model.fields.fields("blocking"))
        return tagger

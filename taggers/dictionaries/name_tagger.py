"""The base class of the dictionary taggers, which are fitted to word counts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from corpus.batch import NO_VALUE, Batch
from corpus.tags import bio_labels
from gazetteers.frequencies import Frequencies
from taggers.annotators import Phrases
from taggers.base import Detail, Progress, Tagging
from taggers.dictionaries.dictionary_options import DictionaryOptions, DivergenceOptions
from taggers.dictionaries.greedy_decoding import WordJudgements, tag_greedily
from taggers.dictionaries.name_lists import read_names
from taggers.dictionaries.word_usage import NoteWords, words_of_notes
from taggers.model_folder import ModelFiles
from taggers.privacy.pruning import PHRASES, Pruning
from taggers.privacy.public_lists import PublicLists
from taggers.trained_tagger import Traces, TrainedTagger

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
        """Return which words left traces; see `taggers.privacy.pruning.PrunableTagger`."""
        ...

    def description(self) -> dict[str, Any]:
        """Return the part of the model that is saved in its description, as JSON values."""
        ...

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""
        ...


class NameTagger(TrainedTagger[OptionsT]):
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

    #: The modules whose compiled functions are called; see `taggers.base.kernels_of`.
    kernels: ClassVar[tuple[str, ...]] = (
        "corpus.tokens.scanner",
        "gazetteers.phrases.matching",
        "taggers.dictionaries.greedy_decoding",
    )

    def __init__(self, options: OptionsT | None = None) -> None:
        super().__init__(options)
        self.labels = bio_labels([self.options.label])
        self._model: WordModel | None = None
        self._annotators = {PHRASES: Phrases()}

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
        self._annotators = {PHRASES: Phrases.of_files(self.options.blocked)}
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
            self._annotators[PHRASES].annotate(batch).values != NO_VALUE,
            label=self.options.label,
            threshold=threshold,
            threshold_after=threshold_after,
            measure=measure,
            detail=detail,
        )
        if progress:
            progress(len(batch), len(batch))
        return tagging

    def _is_trained(self) -> bool:
        return self._model is not None

    def _learned(self) -> WordModel:
        if self._model is None:
            raise ValueError("the tagger has not been fitted")
        return self._model

    def _learned_contents(self) -> dict[str, int]:
        model = self._learned()
        return {
            "words of lists of names": model.size,
            "words of lists that occur in the notes": model.occurring,
        }

    def _learned_traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        return self._learned().traces(words, lists)

    def _prune(self, pruning: Pruning, whole: Self) -> None:
        # The words of names remain hashes that anyone can compute, since they are public.
        self._model = whole._learned().pruned(pruning)

    def _saved_options(self) -> dict[str, Any]:
        return super()._saved_options() | {"counts": ""}

    def _saved(self, folder: Path) -> tuple[dict[str, Any], Mapping[str, bytes]]:
        model = self._learned()
        return {"words": model.description()}, model.files()

    def _read(self, model: ModelFiles) -> None:
        self.labels = bio_labels([self.options.label])
        self._model = self._of_model(model)
        self._annotators.setdefault(PHRASES, Phrases())

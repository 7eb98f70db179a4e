"""The base class of the dictionary taggers, which are fitted to word counts."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from corpus.batch import NO_VALUE, Batch
from corpus.tags import bio_labels
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.annotators import Phrases
from taggers.base import Progress
from taggers.certainties import CertainTagger
from taggers.dictionaries.dictionary_options import NOT_TAGGED, NameOptions
from taggers.dictionaries.name_frequencies import read_names
from taggers.dictionaries.word_usage import NoteWords, words_of_notes
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles
from taggers.privacy.pruning import NAMES, PHRASES, Pruning
from taggers.privacy.public_lists import PublicLists
from taggers.trained_tagger import Traces

OptionsT = TypeVar("OptionsT", bound=NameOptions)


class WordModel(Protocol):
    """What a dictionary tagger has learned; see `taggers.privacy.pruning.PrunableTagger`."""

    def contents(self) -> dict[str, int]:
        """Return the number of entries of each part."""

    def pruned(self, pruning: Pruning) -> Self:
        """Return a model that shows nothing of the words of few patients and of private lists."""

    def traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        """Return which words left traces."""

    def description(self) -> dict[str, Any]:
        """Return the content of the model's description, as JSON values."""

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""


ModelT = TypeVar("ModelT", bound=WordModel)


class ListedWords(WordModel):
    """A word model that is one table of the folded words of lists.

    Parameters
    ----------
    table : KeyedTable
        The words. Patients count if their notes show the value of the column `shown`.
    """

    #: The names of the table, and of the column that notes show: 0 for a word of few patients.
    name: ClassVar[str] = "names"
    shown: ClassVar[str]
    #: What traces in the column and in the lists are called.
    trace: ClassVar[str]
    origin: ClassVar[str] = "lists of names"

    def __init__(self, table: KeyedTable) -> None:
        self.table = table

    @abstractmethod
    def _selection(self, names: Frequencies) -> npt.NDArray[np.bool_]:
        """Select the words of a list that the table has."""

    def contents(self) -> dict[str, int]:
        shown = int(np.count_nonzero(self.table[self.shown]))
        words = f"words of {self.origin}"
        return {words: len(self.table), "words of lists that occur in the notes": shown}

    def pruned(self, pruning: Pruning) -> Self:
        # The words of public lists remain hashes that anyone can compute.
        pruned = copy.copy(self)
        pruned.table = self.table.forgetting(pruning, self.shown)
        if NAMES not in pruning.keep:
            public = pruning.lists.is_public(pruned.table.hashes, self._selection)
            pruned.table = pruned.table.take(public)
        return pruned

    def traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        hashes = word_hashes(fold(words))
        private = ~lists.is_public(self.table.hashes, self._selection)
        return {
            self.trace: self.table.values(self.shown, hashes) > 0,
            self.origin: np.append(private, False)[self.table.rows(hashes)],
        }

    def description(self) -> dict[str, Any]:
        return {}

    def files(self) -> dict[str, bytes]:
        return self.table.files(self.name)


class NameTagger(CertainTagger[OptionsT], Generic[OptionsT, ModelT]):
    """Base class of taggers that tag names by a model of words.

    Attributes
    ----------
    labels : tuple of str
        ``O``, and ``B-`` and ``I-`` of the classes that are tagged.
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
        self.labels = bio_labels({*self._classes()} - {NOT_TAGGED})
        self._model: ModelT | None = None
        self._annotators = {PHRASES: Phrases()}

    def _classes(self) -> Sequence[str]:
        """Return the classes of names, which may include `NOT_TAGGED`."""
        return [self.options.label]

    @abstractmethod
    def _fitted(self, names: Frequencies, notes: NoteWords) -> ModelT:
        """Fit the model of words to the words of the notes."""

    @abstractmethod
    def _from_model(self, model: ModelFiles) -> ModelT:
        """Read the model of words from a model folder."""

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

        The words of `train` are counted if ``options.counts`` is empty; its tags are not used.
        Fitting is deterministic, without `validation`, `warm_start` and `rng`.

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
        self._annotators = {PHRASES: Phrases.from_files(self.options.blocked)}
        if progress:
            progress(1, 1)
        return self

    def _blocked(self, batch: Batch) -> npt.NDArray[np.bool_]:
        """Return which tokens are in phrases within which no name begins."""
        blocked: npt.NDArray[np.bool_] = (
            self._annotators[PHRASES].annotate(batch).values != NO_VALUE
        )
        return blocked

    @property
    def model(self) -> ModelT:
        """The model of words; a `ValueError` is raised if the tagger has not been fitted."""
        self._check_trained()
        assert self._model is not None
        return self._model

    def _is_trained(self) -> bool:
        return self._model is not None

    def _learned_contents(self) -> dict[str, int]:
        return self.model.contents()

    def _learned_traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        return self.model.traces(words, lists)

    def _prune(self, pruning: Pruning, whole: Self) -> None:
        self._model = whole.model.pruned(pruning)

    def _saved_options(self) -> dict[str, Any]:
        return super()._saved_options() | {"counts": ""}

    def _saved(self) -> tuple[dict[str, Any], Mapping[str, bytes]]:
        return {"words": self.model.description()}, self.model.files()

    def _read(self, model: ModelFiles) -> None:
        self.labels = bio_labels({*self._classes()} - {NOT_TAGGED})
        self._model = self._from_model(model)
        self._annotators.setdefault(PHRASES, Phrases())

"""The base class of the taggers of this package: parts, storage and privacy of models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from taggers.annotators import (
    ANNOTATORS,
    OF_LANGUAGES,
    Annotator,
    Phrases,
    annotated,
    annotators_from_settings,
)
from taggers.base import Tagger, Training
from taggers.features.feature_options import (
    LAYOUT,
    PATTERNS,
    PHRASES,
    FeatureOptions,
)
from taggers.features.resources import Resources, clusters_for
from taggers.features.templates import Templates
from taggers.model_folder import ModelFiles, errors_of_model, write_model
from taggers.options import INSIDE_MODEL, TaggerOptions, path_fields
from taggers.patterns.labelled import LabelledPatterns
from taggers.patterns.tables import read_patterns
from taggers.privacy.annotator_content import contents_of, pruned_annotators, traces_in

if TYPE_CHECKING:
    from taggers.privacy.pruning import Pruning
    from taggers.privacy.public_lists import PublicLists

OptionsT = TypeVar("OptionsT", bound=TaggerOptions)
FeatureOptionsT = TypeVar("FeatureOptionsT", bound=FeatureOptions)
Traces = dict[str, npt.NDArray[np.bool_]]


class TrainedTagger(ABC, Generic[OptionsT]):
    """A tagger whose model consists of lexical resources, annotators and what was learned.

    A subclass adds `fit` and `tag`, and the methods that describe, write, read and prune what it
    has learned.

    Parameters
    ----------
    options : TaggerOptions, optional
        The options of the kind; defaults if omitted.

    Attributes
    ----------
    labels : tuple of str
        The labels of the tagger; empty before training.
    training : Training or None
        The result of training; None before training, and if no objective is optimised.
    """

    kind: ClassVar[str]
    #: The type of the options.
    options_type: ClassVar[type[Any]]
    #: The version of the model folder.
    model_format: ClassVar[int] = 1

    def __init__(self, options: OptionsT | None = None) -> None:
        options = self.options_type() if options is None else options
        # A run has trained its embeddings before it makes a tagger; elsewhere there are none.
        options = options.with_embeddings(lambda: None)
        self.options: OptionsT = options.with_list_model(lambda: None)
        self.labels: tuple[str, ...] = ()
        self.training: Training | None = None
        self._resources = Resources()
        self._annotators: dict[str, Annotator] = {}

    @abstractmethod
    def _is_trained(self) -> bool:
        """Return whether something was learned."""

    @abstractmethod
    def _saved(self) -> tuple[dict[str, Any], Mapping[str, bytes]]:
        """Return the description and the files of what was learned."""

    @abstractmethod
    def _read(self, model: ModelFiles) -> None:
        """Read what `_saved` returned; options, labels, annotators and resources are there."""

    @abstractmethod
    def _learned_contents(self) -> dict[str, int]:
        """Return the number of entries of each part of what was learned."""

    @abstractmethod
    def _learned_traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        """Return the traces of words in what was learned."""

    @abstractmethod
    def _prune(self, pruning: Pruning, whole: Self) -> None:
        """Take over what a whole model has learned, without what is removed."""

    def _saved_options(self) -> dict[str, Any]:
        """Return the options without paths: the model contains what they name."""
        values = asdict(self.options)
        for name in path_fields(type(self.options)):
            if values[name]:
                inside: Any = INSIDE_MODEL
                values[name] = (inside,) if isinstance(values[name], tuple | list) else inside
        return values

    def _saved_members(self) -> Mapping[str, Tagger | TrainedTagger[Any]]:
        """Return the taggers that belong to the model, by the names of their folders."""
        return {}

    def _saved_resources(self) -> Resources:
        """Return the resources of the saved model."""
        return self._resources

    def _check_trained(self) -> None:
        if not self._is_trained():
            raise ValueError(f"the tagger of kind {self.kind} has not been trained")

    def contents(self) -> dict[str, int]:
        """Return the number of entries of each part of the model, by the name of the part."""
        self._check_trained()
        learned = self._learned_contents()
        return learned | self._resources.contents() | contents_of(self._annotators)

    def pruned(self, pruning: Pruning) -> Self:
        """Return a model that reveals less; see `taggers.privacy.pruning.PrunableTagger.pruned`."""
        self._check_trained()
        tagger = type(self)(self.options)
        tagger.labels, tagger.training = self.labels, self.training
        tagger._annotators = pruned_annotators(self._annotators, pruning)
        tagger._resources = self._resources.pruned(pruning)
        tagger._prune(pruning, self)
        return tagger

    def traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        """Return which words left traces; see `taggers.privacy.pruning.PrunableTagger.traces`."""
        self._check_trained()
        return {
            **self._learned_traces(words, lists),
            **self._resources.traces(words, lists),
            **traces_in(self._annotators, words, lists),
        }

    def save(self, folder: Path) -> None:
        """Write the model into a folder; see `taggers.base.Tagger.save`."""
        self._check_trained()
        resources = self._saved_resources()
        learned, files = self._saved()
        description = {
            "kind": self.kind,
            "labels": self.labels,
            "options": self._saved_options(),
            "annotators": {
                name: annotator.settings() for name, annotator in self._annotators.items()
            },
            **resources.description(),
            **learned,
            "training": asdict(self.training) if self.training else None,
        }
        members = self._saved_members()
        for name, member in members.items():
            (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
            member.save(folder / name)
        files = {**files, **resources.files()}
        write_model(folder, description, files, members=members, model_format=self.model_format)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a model that `save` wrote; see `taggers.base.Tagger.load`."""
        with errors_of_model(folder, cls.kind):
            model = ModelFiles(folder, cls.kind, model_format=cls.model_format)
            tagger = cls(cls.options_type.from_fields(model.fields.fields("options")))
            tagger._annotators = annotators_from_settings(model.fields.fields("annotators"))
            tagger._resources = Resources.from_model(model)
            tagger.labels, tagger.training = model.labels(), model.training()
            tagger._read(model)
        return tagger


class FeatureTagger(TrainedTagger[FeatureOptionsT]):
    """A tagger that reads features of words, and streams that annotators add."""

    def __init__(self, options: FeatureOptionsT | None = None) -> None:
        super().__init__(options)
        needed = self.options.templates().needed
        self._annotators = {name: ANNOTATORS[name]() for name in LAYOUT if name in needed}
        self._annotators |= {
            name: kind(self.options.analysers)
            for name, kind in OF_LANGUAGES.items()
            if name in needed
        }

    def _read_lists(self) -> None:
        """Read the tables and lists of the options; a loaded model has its own."""
        if PATTERNS in self.options.templates().needed and PATTERNS not in self._annotators:
            patterns = LabelledPatterns(read_patterns(self.options.patterns))
            self._annotators[PATTERNS] = patterns
        if self.options.phrases and PHRASES not in self._annotators:
            self._annotators[PHRASES] = Phrases.from_files(self.options.phrases)
        if self._resources.names is None:
            self._resources = Resources.from_names(self.options.names)

    def _prepared(self, train: Batch) -> Batch:
        """Read all resources, and return the training documents with all streams."""
        self._read_lists()
        if self.options.clusters:
            clusters = clusters_for(train, self.options.clusters, self.options.clustering_names)
            self._resources = self._resources.with_clusters(clusters)
        return self._with_streams(train)

    def _templates(self) -> Templates:
        """Return the feature templates of the model."""
        return self._resources.templates(self.options)

    def _with_streams(self, batch: Batch) -> Batch:
        """Return the documents with all streams of the templates."""
        return annotated(batch, self._templates().needed, self._annotators)


def check_kept(patients: npt.NDArray[np.int32], pruning: Pruning, what: str) -> None:
    """Raise an `InputError` if no value occurs in the documents of enough patients."""
    if not pruning.keeps(patients).any():
        raise InputError(
            f"no {what} of the model is known to occur in the training documents of "
            f"{pruning.min_patients} patients or more; export with a lower --min-patients, or "
            "train on more documents"
        )

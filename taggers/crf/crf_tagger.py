"""The CRF tagger (paper 003, section 3.4.2)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from corpus.batch import Batch
from corpus.patients import number_patients
from taggers.base import Detail, Progress, Tagging, Training, TrainingError
from taggers.confidence import check_measure
from taggers.crf.crf_options import LIST_TAGS, CRFOptions
from taggers.features.feature_options import name_of
from taggers.features.resources import Resources, clusters_for
from taggers.features.templates import Templates
from taggers.model_folder import ModelFiles
from taggers.trained_tagger import FeatureTagger, Traces, check_kept

if TYPE_CHECKING:
    from taggers.crf.linear_chain import LinearChain
    from taggers.crf.wordtype import WordTypeCRF
    from taggers.dictionaries.list_tagger import ListTagger
    from taggers.privacy.pruning import Pruning
    from taggers.privacy.public_lists import PublicLists


PartT = TypeVar("PartT")

#: The parts of a CRF that are trained apart, and their shares of its weights.
_SHARES = {"words": 1 / 3, "clusters": 2 / 3}


class CRFTagger(FeatureTagger[CRFOptions]):
    """A tagger with a linear-chain conditional random field.

    Parameters
    ----------
    options : CRFOptions, optional
        Features, window, regularization and trainer; defaults if omitted.
    """

    kind = "crf"
    options_type = CRFOptions
    model_format = 10

    def __init__(self, options: CRFOptions | None = None) -> None:
        super().__init__(options)
        self._crf: WordTypeCRF | None = None
        self._lists: ListTagger | None = None

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Train on tagged documents by the chosen trainer; see `taggers.base.Tagger.fit`."""
        if not train.n_tokens:
            raise TrainingError("the training documents contain no tokens")
        self._read_lists()
        if not self.options.clusters:
            return self._fit(train, warm_start, progress)
        clusters = clusters_for(train, self.options.clusters, self.options.clustering_names)
        if self.options.cluster_choice == "all":
            self._resources = self._resources.with_clusters(clusters)
            return self._fit(train, warm_start, progress)

        def fit(name: str, part: Batch, part_progress: Progress | None) -> CRFTagger:
            tagger = CRFTagger(self.options)
            tagger._annotators, tagger._lists = self._annotators, self._lists
            tagger._resources = self._resources.with_clusters(clusters.only(name))
            return tagger._fit(part, warm_start, part_progress)

        name, part_progress = _best_clustering(clusters.names, train, fit, rng, progress)
        self._resources = self._resources.with_clusters(clusters.only(name))
        self._fit(train, warm_start, part_progress)
        assert self.training is not None
        self.training = replace(self.training, clustering=name)
        return self

    def _fit(self, train: Batch, warm_start: CRFTagger | None, progress: Progress | None) -> Self:
        from taggers.crf.training.trainers import train_crf  # noqa: PLC0415 - numba is slow to import
        from taggers.crf.weights import averaged  # noqa: PLC0415 - the same
        from taggers.crf.wordtype import REALS, WordTypeCRF  # noqa: PLC0415 - the same

        batch, parts = self._with_streams(train), self._parts()
        before = warm_start._trained() if warm_start is not None else None
        trained = [
            train_crf(batch, self.options, templates, warm_start=before, progress=reported)
            for templates, reported in zip(parts, _in_turn(progress, len(parts)), strict=True)
        ]
        crfs, trainings = zip(*trained, strict=True)
        self._crf, self.training = crfs[0], trainings[0]
        if len(parts) > 1:
            weights = averaged([crf.weights for crf in crfs], list(_SHARES.values()))
            real = REALS[self.options.precision]
            self._crf = WordTypeCRF(self._templates(), crfs[0].labels, weights, real)
            self.training = Training.of_parts(dict(zip(_SHARES, trainings, strict=True)))
        self.labels = train.labels
        return self

    def _parts(self) -> list[Templates]:
        """Return the templates that are trained apart: without clusters, and with them."""
        templates, clusters = self._templates(), self._resources.clusters
        of_clusters = {*self.options.cluster_features, *(clusters.names if clusters else ())}
        of_words = {*map(name_of, self.options.used_features)} - of_clusters
        if not self.options.cluster_features or not of_words:
            return [templates]
        return [templates.without(of_clusters), templates.without(of_words)]

    def tag(
        self, batch: Batch, *, measure: str = "probability", detail: Detail = "document"
    ) -> Tagging:
        """Predict the most probable tag sequences; see `taggers.base.Tagger.tag`."""
        check_measure(measure)
        return self.chain(batch).tag(self.labels, measure, detail)

    def chain(self, batch: Batch) -> LinearChain:
        """Return the scores of the labels that the model has; see `taggers.crf.linear_chain`."""
        return self._trained().chain(self._with_streams(batch))

    @property
    def kernels(self) -> tuple[str, ...]:
        """The modules whose compiled functions are called; see `taggers.base.kernels_of`."""
        lists = ("gazetteers.phrases.matching",) if self.options.list_model else ()
        own = ("taggers.crf.training.trainers", *self.options.stream_kernels, *lists)
        return tuple(dict.fromkeys(own))

    def _read_lists(self) -> None:
        super()._read_lists()
        if self.options.list_model and self._lists is None:
            from taggers.dictionaries.list_tagger import ListTagger  # noqa: PLC0415 - the same

            self._lists = ListTagger.load(Path(self.options.list_model))

    def _with_streams(self, batch: Batch) -> Batch:
        if self._lists is not None:
            batch = batch.with_streams({LIST_TAGS: self._lists.stream(batch)})
        return super()._with_streams(batch)

    def _trained(self) -> WordTypeCRF:
        if self._crf is None:
            raise ValueError("the CRF has not been trained")
        return self._crf

    def _is_trained(self) -> bool:
        return self._crf is not None

    def _learned_contents(self) -> dict[str, int]:
        own = {"feature values": len(self._trained().weights.values.hashes)}
        return own | _of_lists(self._lists.contents() if self._lists else {})

    def _learned_traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        own = self._trained().traces(words)
        return own | _of_lists(self._lists.traces(words, lists) if self._lists else {})

    def _prune(self, pruning: Pruning, whole: Self) -> None:
        crf = whole._trained()
        check_kept(crf.weights.values.patients, pruning, "feature value")
        if whole._lists is not None:
            self._lists = whole._lists.pruned(pruning)
        # The features of words use the pruned resources, too.
        self._crf = crf.pruned(pruning, self._templates())

    def _saved_options(self) -> dict[str, Any]:
        return super()._saved_options() | {"features": self.options.used_features}

    def _saved_resources(self) -> Resources:
        if self._resources.clusters is None:
            return self._resources
        values = self._trained().weights.values
        return self._resources.with_nonzero_weights(self._templates(), values.hashes, values.key)

    def _saved(self) -> tuple[dict[str, Any], Mapping[str, bytes]]:
        crf = self._trained()
        return {"engine_labels": crf.labels, "key": crf.weights.values.key}, crf.files()

    def _saved_members(self) -> Mapping[str, ListTagger]:
        return {LIST_TAGS: self._lists} if self._lists else {}

    def _read(self, model: ModelFiles) -> None:
        if self.options.list_model:
            from taggers.dictionaries.list_tagger import ListTagger  # noqa: PLC0415 - numba is slow to import

            self._lists = ListTagger.load(model.member(LIST_TAGS))
        from taggers.crf.wordtype import WordTypeCRF  # noqa: PLC0415 - numba is slow to import

        self._crf = WordTypeCRF.from_model(model, self.options.precision, self._templates())


#: Trains a tagger with the clustering of a name.
_Fit = Callable[[str, Batch, Progress | None], CRFTagger]


def _best_clustering(
    names: Sequence[str],
    train: Batch,
    fit: _Fit,
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[str, Progress | None]:
    """Select the clustering with the best F1 on a fifth of the groups of training documents."""
    # A group is a patient, or a document without one. Also return the progress of the final
    # training, which continues the progress of the others.
    rest, held = _split(train, rng)
    *parts, last = _in_turn(progress, len(names) + 1)
    scores = [
        _f1(held, fit(name, rest, part)) if len(held) else 0.0
        for name, part in zip(names, parts, strict=True)
    ]
    return names[int(np.argmax(scores))], last


def _of_lists(parts: Mapping[str, PartT]) -> dict[str, PartT]:
    """Return parts of a model of lists under names that a CRF's own parts do not have."""
    return {f"{name} (list model)": part for name, part in parts.items()}


def _in_turn(progress: Progress | None, number: int) -> list[Progress | None]:
    """Return the progress of each of several trainings, which together are one."""
    if progress is None:
        return [None] * number

    def report(before: int, step: int, most: int) -> None:
        progress(before * most + step, number * most)

    return [functools.partial(report, before) for before in range(number)]


def _split(train: Batch, rng: np.random.Generator) -> tuple[Batch, Batch]:
    """Split documents into those to train on and those held out, by group."""
    groups = number_patients(train.groups, train.ids)
    drawn = rng.permutation(np.unique(groups))
    held = np.isin(groups, drawn[: len(drawn) // 5])
    return train.take(np.flatnonzero(~held)), train.take(np.flatnonzero(held))


def _f1(gold: Batch, tagger: CRFTagger) -> float:
    """Compute strict entity F1 of a tagger on tagged documents."""
    from corpus.evaluation.scoring import score_batches  # noqa: PLC0415 - not always used

    tagging = tagger.tag(gold)
    return score_batches(gold, gold.with_tags(tagging.tags, tagging.labels)).counts("ner").f1

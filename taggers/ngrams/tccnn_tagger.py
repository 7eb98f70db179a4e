"""The tagger that classifies n-grams by a three-channel convolutional network (paper 000)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hashing import MOST_KEY
from corpus.patients import number_patients
from corpus.tags import TokenSpans, classes_of, find_entities, tags_of_entities
from taggers.annotators import PartsOfSpeech, annotated
from taggers.base import Detail, Progress, Tagging, TrainingError
from taggers.confidence import check_measure, document_confidence
from taggers.features.feature_options import POS
from taggers.model_folder import ModelFiles
from taggers.networks.network_options import check_installed
from taggers.networks.network_sizes import (
    NetworkSizes,
    Shape,
    dense_shapes,
    read_weights,
    weight_files,
    word_shapes,
)
from taggers.networks.training.process import train_in_process
from taggers.networks.word_inputs import WordInputs
from taggers.networks.word_network_tagger import WordNetworkTagger
from taggers.ngrams.constraints import Constraints, leftmost_longest, masks_of
from taggers.ngrams.forward import Forward
from taggers.ngrams.ngram_filter import NGramFilter
from taggers.ngrams.tccnn_options import TCCNNOptions
from taggers.ngrams.windows import CHANNELS
from taggers.privacy.pruning import Pruning
from taggers.privacy.public_lists import PublicLists
from taggers.threads import one_thread
from taggers.trained_tagger import Traces

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

_FOLDS = 5  # of training documents, whose n-grams are found by what the other ones teach


class TCCNNTagger(WordNetworkTagger[TCCNNOptions]):
    """A tagger that classifies n-grams of words.

    N-grams that may be entities are found by `NGramFilter`. A convolutional network tells the
    class of each from its words and from the words before and after it. A final filter removes
    those that lack what entities of their class have. Of overlapping ones, the left-most longest
    is the entity.

    Parameters
    ----------
    options : TCCNNOptions, optional
        Filters, inputs, layers and schedule of training; defaults if omitted.
    """

    kind = "tccnn"
    options_type = TCCNNOptions

    def __init__(self, options: TCCNNOptions | None = None) -> None:
        super().__init__(options)
        if self.options.ngrams == POS:
            self._annotators[POS] = PartsOfSpeech(self.options.analysers)
        self._filters: tuple[NGramFilter, Constraints] | None = None
        self._forward: Forward | None = None

    @property
    def kernels(self) -> tuple[str, ...]:
        """The modules whose compiled functions are called; see `taggers.base.kernels_of`."""
        return ("taggers.networks.forward", *self.options.stream_kernels)

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Train on tagged documents by Adam; see `taggers.base.Tagger.fit`.

        The weight of a document multiplies the loss of its n-grams.
        """
        check_installed(self.options.backend, self.kind)
        if not (train.tags > 0).any():
            raise TrainingError("no training token is in an entity")
        if train.weights is not None and not train.weights.any():
            raise TrainingError("no training document has a weight above 0")
        # Random numbers are drawn for words, too: their order must not depend on the batch.
        train = self._prepared(train.with_sorted_vocabulary())
        inputs, words = self._inputs_of(train)
        state = int(rng.integers(2**31))
        sizes = self._sizes(inputs, len(classes_of(train.labels)) + 1)
        arrays = {**words.by_name(), **self._ngrams(train, inputs, rng)}
        request = {
            "kind": self.kind,
            "options": asdict(self.options),
            "sizes": asdict(sizes),
            "random_state": state,
        }
        self._weights, self.training = train_in_process(
            request, arrays, progress, backend=self.options.backend
        )
        entities = find_entities(train.tags, train.document_offsets, train.labels)
        if longer := int((entities.last - entities.first >= self.options.length).sum()):
            outcome = f"{self.training.outcome}; {longer:,} entities are longer than length"
            self.training = replace(self.training, outcome=outcome)
        self._inputs, self._forward, self.labels = inputs, None, train.labels
        ngram_filter = NGramFilter.from_training(train, self.options.min_count)
        self._filters = ngram_filter, Constraints.from_training(train)
        return self

    def _ngrams(
        self, train: Batch, inputs: WordInputs, rng: np.random.Generator
    ) -> dict[str, npt.NDArray[Any]]:
        """Return the n-grams of training documents, with their classes and weights."""
        # A filter that has learned from a document leaves out more of its n-grams than of others.
        patients = number_patients(train.groups, train.ids)
        folds = rng.permutation(patients.max() + 1)[patients] % _FOLDS
        parts = []
        for fold in range(_FOLDS):
            rows, others = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            if len(rows):
                least = self.options.min_count
                learned = NGramFilter.from_training(train.take(others), least)
                part = train.take(rows)
                first, last = self._find(learned, part)
                begins = np.repeat(
                    train.document_offsets[rows] - part.document_offsets[:-1], part.lengths
                )
                parts.append((begins[first] + first, begins[first] + last))
        first, last = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        entities = find_entities(train.tags, train.document_offsets, train.labels)
        known = entities.take(entities.last - entities.first < self.options.length)
        if not len(known.first):
            raise TrainingError(
                f"all {len(entities.first):,} entities have more words than length = "
                f"{self.options.length}; raise it"
            )
        pairs, rows = np.unique(
            np.stack([np.append(known.first, first), np.append(known.last, last)], axis=1),
            axis=0,
            return_index=True,
        )
        classes = np.append(known.classes + 1, np.zeros(len(first), np.int64))[rows]
        numbers = np.bincount(classes)
        weights = (len(classes) / np.maximum(numbers, 1))[classes] ** self.options.balance
        first, last = pairs.T
        if train.weights is not None:
            document = np.searchsorted(train.document_offsets, first, side="right") - 1
            weights *= train.weights[document]
        return {
            "word_ids": train.word_ids,
            "streams": inputs.stream_codes(train),
            "offsets": train.document_offsets,
            "first": first,
            "last": last,
            "classes": classes.astype(np.int32),
            "weights": (weights / weights.mean()).astype(np.float32),
        }

    def _with_streams(self, batch: Batch) -> Batch:
        batch = super()._with_streams(batch)
        return annotated(batch, (POS,), self._annotators) if POS in self._annotators else batch

    def _find(self, ngram_filter: NGramFilter, batch: Batch) -> tuple[Indices, Indices]:
        """Find the n-grams of documents that may be entities."""
        pos = batch.streams[POS] if self.options.ngrams == POS else None
        return ngram_filter.find(batch, self.options.length, pos)

    def tag(
        self, batch: Batch, *, measure: str = "probability", detail: Detail = "document"
    ) -> Tagging:
        """Predict the tags of documents; see `taggers.base.Tagger.tag`.

        The marginal of a label at a token is the largest probability of an n-gram that gives it.
        ``O`` has what the most probable entity leaves.
        """
        check_measure(measure)
        inputs, (ngram_filter, constraints) = self._learned(), self._learned_filters()
        batch = self._with_streams(batch)
        first, last = self._find(ngram_filter, batch)
        if self._forward is None:
            length = self.options.length
            self._forward = Forward(self._weights, inputs, self._templates(), length)
        forward, prepared, masks = self._forward, self._forward.prepared(batch), masks_of(batch)
        marginals = np.zeros((batch.n_tokens, len(self.labels) if detail == "labels" else 1))
        spans, rows = [], []
        for start in range(0, len(first), forward.piece):
            part = slice(start, start + forward.piece)
            with one_thread():
                probabilities = forward.probabilities(prepared, first[part], last[part])
            if self.options.final_filter:
                probabilities[:, 1:] *= constraints.met(masks, first[part], last[part])
            probabilities[:, 0] = np.maximum(1 - probabilities[:, 1:].sum(axis=1), 0)
            self._add_marginals(marginals, first[part], last[part], probabilities)
            best = probabilities.argmax(axis=1)
            chosen = np.flatnonzero(best)
            spans.append((first[part][chosen], last[part][chosen], best[chosen] - 1))
            rows.append(probabilities[chosen])
        entities, of_entities = _joined(spans, rows, len(classes_of(self.labels)) + 1)
        tags = tags_of_entities(entities, batch.n_tokens, self.labels)
        outside = np.maximum(1 - marginals[:, 0], 0)
        own = of_entities[np.arange(len(entities.first)), entities.classes + 1]
        confidence = outside.copy()
        confidence[tags > 0] = np.repeat(own, entities.last - entities.first + 1)
        if detail == "labels":
            marginals[:, 0] = outside
            marginals /= marginals.sum(axis=1, keepdims=True)
        return Tagging(
            tags,
            self.labels,
            document_confidence(measure, batch.document_offsets, token_confidence=confidence),
            None if detail in ("tags", "document") else confidence,
            marginals if detail == "labels" else None,
            of_entities[:, 1:] if detail == "entity" else None,
        )

    def _add_marginals(
        self, marginals: Floats, first: Indices, last: Indices, probabilities: Floats
    ) -> None:
        """Raise marginals to the probabilities of n-grams; the first column is of any entity."""
        columns = [
            (self.labels.index(f"B-{name}"), self.labels.index(f"I-{name}"))
            for name in (classes_of(self.labels) if marginals.shape[1] > 1 else ())
        ]
        rest = np.arange(len(first))
        for more in range(int((last - first).max(initial=-1)) + 1):
            rest = rest[first[rest] + more <= last[rest]]
            tokens = first[rest] + more
            np.maximum.at(marginals[:, 0], tokens, 1 - probabilities[rest, 0])
            for row, (begin, inside) in enumerate(columns, start=1):
                column = marginals[:, inside if more else begin]
                np.maximum.at(column, tokens, probabilities[rest, row])

    def _learned_filters(self) -> tuple[NGramFilter, Constraints]:
        if self._filters is None:
            raise ValueError("the tagger of n-grams has not been trained")
        return self._filters

    def _learned_contents(self) -> dict[str, int]:
        words = len(self._learned_filters()[0].words)
        return {**super()._learned_contents(), "words that leave n-grams out": words}

    def _learned_traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        left_out = self._learned_filters()[0].having(words)
        return {
            **super()._learned_traces(words, lists),
            "words that leave n-grams out": left_out,
        }

    def _prune(self, pruning: Pruning, whole: Self) -> None:
        super()._prune(pruning, whole)
        ngram_filter, constraints = whole._learned_filters()
        self._filters = ngram_filter.pruned(pruning), constraints

    def _saved(self) -> tuple[dict[str, Any], Mapping[str, bytes]]:
        inputs, (ngram_filter, constraints) = self._learned(), self._learned_filters()
        description = {
            "inputs": inputs.description(),
            "weights": list(self._weights),
            "filter": {
                "key": ngram_filter.words.key,
                "crosses_lines": int(ngram_filter.crosses_lines),
            },
        }
        files = {**weight_files(self._weights), **inputs.files(), **ngram_filter.files()}
        return description, {**files, **constraints.files()}

    def _read(self, model: ModelFiles) -> None:
        self._inputs = WordInputs.from_model(model, self._templates())
        described = model.fields.fields("filter")
        ngram_filter = NGramFilter.from_model(
            model,
            described.integer("key", least=0, most=MOST_KEY),
            crosses_lines=bool(described.integer("crosses_lines", least=0, most=1)),
        )
        classes = classes_of(self.labels)
        self._filters = ngram_filter, Constraints.from_model(model, classes)
        shapes = _weight_shapes(self.options, self._sizes(self._inputs, len(classes) + 1))
        self._weights = read_weights(model, shapes)


def _weight_shapes(options: TCCNNOptions, sizes: NetworkSizes) -> dict[str, Shape]:
    """Return the shape of each weight of a network by name."""
    shapes, width = word_shapes(options, sizes)
    for name in CHANNELS:
        shapes[f"{name}_filters"] = (2, width, options.filters)
        shapes[f"{name}_bias"] = (options.filters,)
    pooled = (options.length - 1) // 2 * options.filters
    shapes |= dense_shapes("hidden", len(CHANNELS) * pooled, options.units)
    return shapes | dense_shapes("classes", options.units, sizes.labels)


def _joined(
    spans: Sequence[tuple[Indices, Indices, Indices]], rows: Sequence[Floats], width: int
) -> tuple[TokenSpans, Floats]:
    """Return the left-most longest of spans of several parts, with their probabilities."""
    if not spans:
        nothing = np.zeros(0, np.int64)
        return TokenSpans(nothing, nothing, nothing), np.zeros((0, width))
    joined = TokenSpans(*(np.concatenate(arrays) for arrays in zip(*spans, strict=True)))
    kept = leftmost_longest(joined)
    return joined.take(kept), np.concatenate(rows)[kept]

"""The BiLSTM-CRF tagger (paper 003, section 3.5), which is trained in Keras."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.compiled import kernel_array
from corpus.patients import number_patients
from corpus.tags import find_entities, well_formed
from taggers.base import Detail, Progress, Tagging, TrainingError
from taggers.confidence import (
    check_measure,
    document_confidence,
    entity_probabilities_of,
    token_confidence_of,
)
from taggers.crf import lattice
from taggers.crf.linear_chain import LinearChain
from taggers.model_folder import ModelFiles
from taggers.networks.forward import Forward
from taggers.networks.network_options import BiLSTMCRFOptions, check_installed
from taggers.networks.network_sizes import (
    NetworkSizes,
    read_weights,
    weight_files,
    weight_shapes,
)
from taggers.networks.subsequences import BORDER, Subsequences
from taggers.networks.training.process import train_in_process
from taggers.networks.training.schedule import INITIAL
from taggers.networks.word_inputs import WordArrays, WordInputs
from taggers.networks.word_network_tagger import WordNetworkTagger
from taggers.threads import one_thread

#: The weights of labels, by the beginnings of their names.
_OF_LABELS = ("scores_", "transitions", "start", "end")

_PACKED = 1 << 14  # tokens packed at a time: matrix products are faster with more rows


class BiLSTMCRFTagger(WordNetworkTagger[BiLSTMCRFOptions]):
    """A tagger with a bidirectional LSTM and a CRF.

    It is trained in Keras, in a separate process. Tagging needs neither Keras nor TensorFlow.

    Parameters
    ----------
    options : BiLSTMCRFOptions, optional
        Inputs, layers and schedule of training; defaults if omitted.
    """

    kind = "bilstm-crf"
    options_type = BiLSTMCRFOptions
    model_format = 2

    def __init__(self, options: BiLSTMCRFOptions | None = None) -> None:
        super().__init__(options)
        self._forward: Forward | None = None

    @property
    def kernels(self) -> tuple[str, ...]:
        """The modules whose compiled functions are called; see `taggers.base.kernels_of`."""
        modules = ("taggers.crf.linear_chain", "taggers.networks.lstm")
        return (*modules, *self.options.stream_kernels)

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

        Unknown tags are marginalised. A document whose weight is below 1 is used in an epoch with
        this probability. The documents that determine when to stop are held out from `train`.
        """
        check_installed(self.options.backend)
        if not (train.tags >= 0).any():
            raise TrainingError("no training token has a known tag")
        if train.weights is not None and not train.weights.any():
            raise TrainingError("no training document has a weight above 0")
        # Random numbers are drawn for words, too: their order must not depend on the batch.
        train = self._prepared(train.with_sorted_vocabulary())
        inputs, words = self._inputs_of(train)
        state = int(rng.integers(2**31))
        arrays = self._arrays(train, inputs, words, rng)
        if warm_start is not None and warm_start._inputs is not None:
            arrays |= warm_start._initial_weights(inputs, train.labels)
        request = {
            "kind": self.kind,
            "options": asdict(self.options),
            "sizes": asdict(self._sizes_of(inputs, train.labels)),
            "random_state": state,
        }
        self._weights, self.training = train_in_process(
            request, arrays, progress, backend=self.options.backend
        )
        self._inputs, self._forward, self.labels = inputs, None, train.labels
        return self

    def _initial_weights(
        self, inputs: WordInputs, labels: Sequence[str]
    ) -> dict[str, npt.NDArray[Any]]:
        """Return the weights as the initial ones of a network with other inputs and labels."""
        # Words, characters and values keep their rows in the new tables. The other rows keep their
        # random weights.
        common = inputs.common_rows(self._learned())
        arrays: dict[str, npt.NDArray[Any]] = {}
        for name, values in self._weights.items():
            if name.startswith(_OF_LABELS) and labels != self.labels:
                continue
            source, target = common.get(name, (np.arange(len(values)),) * 2)
            arrays[f"{INITIAL}{name}"] = values[source]
            arrays[f"{INITIAL}{name}:rows"] = target
        return arrays

    def _sizes_of(self, inputs: WordInputs, labels: Sequence[str]) -> NetworkSizes:
        return self._sizes(inputs, len(labels), labels.index("O"))

    def _arrays(
        self, train: Batch, inputs: WordInputs, words: WordArrays, rng: np.random.Generator
    ) -> dict[str, npt.NDArray[Any]]:
        """Return the training documents as the arrays of a training process."""
        weights = np.ones(len(train), np.float32) if train.weights is None else train.weights
        sequences = self._sequences(train)
        tokens, documents = sequences.tokens, sequences.documents
        border, outside = tokens == BORDER, train.labels.index("O")
        streams = inputs.stream_codes(train)[tokens]
        streams[border] = 0
        return {
            **words.by_name(),
            "unknown": inputs.vectors.unknown,
            "word_ids": np.where(border, BORDER, train.word_ids[tokens]),
            "streams": streams,
            "offsets": sequences.offsets,
            "tags": np.where(border, outside, train.tags[tokens]).astype(np.int32),
            "weights": weights[documents].astype(np.float32),
            "held_out": _held_out(train, self.options.held_out, rng)[documents],
        }

    def _sequences(self, batch: Batch) -> Subsequences:
        return Subsequences.from_offsets(batch.document_offsets, self.options.subsequence)

    def tag(
        self, batch: Batch, *, measure: str = "probability", detail: Detail = "document"
    ) -> Tagging:
        """Predict the tags of documents; see `taggers.base.Tagger.tag`.

        Whole documents have the most probable tag sequence. With sub-sequences, each token has its
        most probable tag, where it has the most context, and probabilities refer to tokens.
        """
        check_measure(measure)
        self._check_trained()
        batch = self._with_streams(batch)
        if self.options.subsequence:
            return self._tag_subsequences(batch, measure, detail)
        return self._chain(batch, self._sequences(batch)).tag(self.labels, measure, detail)

    def _tag_subsequences(self, batch: Batch, measure: str, detail: Detail) -> Tagging:
        sequences = self._sequences(batch)
        decoded = self._chain(batch, sequences).decode("labels")
        assert decoded.marginals is not None
        marginals = decoded.marginals[sequences.best]
        best = marginals.argmax(axis=1).astype(np.int16)
        chosen = token_confidence_of(marginals, best)
        tags = well_formed(best, batch.document_offsets, self.labels)
        entities = None
        if detail == "entity":
            spans = find_entities(tags, batch.document_offsets, self.labels)
            entities = entity_probabilities_of(marginals, spans, self.labels)
        return Tagging(
            tags,
            self.labels,
            document_confidence(measure, batch.document_offsets, token_confidence=chosen),
            None if detail == "document" else chosen,
            marginals if detail == "labels" else None,
            entities,
        )

    def chain(self, batch: Batch) -> LinearChain | None:
        """Return the scores of labels; None with sub-sequences. See `taggers.crf.linear_chain`."""
        self._check_trained()
        if self.options.subsequence:
            return None
        return self._chain(self._with_streams(batch), self._sequences(batch))

    def _chain(self, batch: Batch, sequences: Subsequences) -> LinearChain:
        inputs = self._learned()
        if self._forward is None:
            self._forward = Forward(self._weights, inputs, self._templates())
        forward = self._forward
        with one_thread():
            tokens, border = sequences.tokens, sequences.tokens == BORDER
            words = forward.words.rows(batch.vocabulary)[batch.word_ids][tokens]
            contexts = inputs.stream_codes(batch)[tokens]
            words[border], contexts[border] = 0, 0
            rows, table = forward.contexts(contexts)

        def score(packing: lattice.Packing, scores: lattice.Reals) -> None:
            forward.score(packing, words, rows, table, scores)

        return LinearChain(
            self.labels,
            kernel_array(sequences.offsets),
            score,
            self._weights["transitions"].astype(np.float64),
            np.dtype(np.float32),
            _PACKED,
        )

    def _saved(self) -> tuple[dict[str, Any], Mapping[str, bytes]]:
        inputs = self._learned()
        description = {"inputs": inputs.description(), "weights": list(self._weights)}
        return description, {**weight_files(self._weights), **inputs.files()}

    def _read(self, model: ModelFiles) -> None:
        self._inputs = WordInputs.from_model(model, self._templates())
        shapes = weight_shapes(self.options, self._sizes_of(self._inputs, self.labels))
        self._weights = read_weights(model, shapes)


def _held_out(train: Batch, share: float, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Draw the documents that are held out, by group (patient), shape (D,)."""
    patients = number_patients(train.groups, train.ids)
    number = len(np.unique(patients))
    drawn = rng.permutation(number)[: round(share * number)]
    return np.isin(patients, drawn)

"""Speed and memory of the BiLSTM-CRF, beside Keras and the CRF.

The notes are lines of MEDDOCAN's training split, sampled with replacement, in which one word in
twenty is replaced by an unknown one. Everything runs on one core. Tagging computes tags and the
confidence of notes by their lowest marginal; Keras predicts minibatches of 256 notes of similar
length.

    python benchmarks/network.py tag               # 50,000 notes, 42 and 5 labels
    python benchmarks/network.py tag --units 32
    python benchmarks/network.py tag --characters none
    python benchmarks/network.py train             # seconds an epoch and memory, 10,000 notes
    python benchmarks/network.py train --notes 200000
    python benchmarks/network.py step              # of training, beside Keras' LSTM layers
    python benchmarks/network.py growth            # units, characters and labels, 2,000 notes
"""

from __future__ import annotations

import argparse
import functools
import os
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from crf import CLASSES, sampled, with_novel_words
from meddocan_lines import lines_of, plain

from corpus.batch import Batch, make_batch
from taggers import CRFOptions, CRFTagger
from taggers.networks.bilstm_crf import BiLSTMCRFTagger
from taggers.networks.network_options import BiLSTMCRFOptions
from taggers.networks.training.minibatches import Minibatches
from taggers.networks.training.process import ENVIRONMENT, documents_of
from taggers.threads import one_thread

ROUNDS = 3
PREDICTED = 256  # notes of a minibatch of Keras


def best_rate(work: Callable[[], object], tokens: int) -> float:
    """Return tokens per second of processor time, the best of some rounds."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return tokens / min(seconds)


def keras_predictor(tagger: BiLSTMCRFTagger, batch: Batch) -> Callable[[], None]:
    """Return a function that computes marginals and best sequences in Keras."""
    os.environ.update(ENVIRONMENT)  # before TensorFlow is imported
    import tensorflow as tf  # noqa: PLC0415 - only here

    from taggers.networks.training.keras_network import Network  # noqa: PLC0415 - the same

    assert tagger._inputs is not None
    network = Network(tagger.options, tagger._sizes_of(tagger._inputs, tagger.labels))
    network.assign(tagger._weights)
    crf = network.model.get_layer("crf")
    names = [tensor.name for tensor in network.model.inputs]

    @tf.function(reduce_retracing=True)
    def predict(inputs):
        scores = network.model(inputs, training=False)["tags"]
        mask = inputs["index"] > 0
        return crf.decode(scores, mask), crf.marginals(scores, mask)

    def work() -> None:
        tagged = batch.with_tags(np.zeros(batch.n_tokens, np.int16), ("O",))
        for inputs, _, _ in training_documents(tagger, tagged).in_order(PREDICTED):
            predict({name: inputs[name] for name in names})

    return work


def training_documents(tagger: BiLSTMCRFTagger, batch: Batch) -> Minibatches:
    """Return tagged notes as the training process of a network receives them."""
    assert tagger._inputs is not None
    prepared = tagger._prepared(batch)
    words = tagger._inputs.arrays(prepared.vocabulary, tagger._templates())
    arrays = tagger._arrays(prepared, tagger._inputs, words, np.random.default_rng(0))
    return documents_of(arrays)


def tag(options: BiLSTMCRFOptions, notes: int) -> None:
    """Print tokens per second of the network, of Keras and of the CRF."""
    print(f"{'labels':>6} {'network':>9} {'Keras':>9} {'CRF':>9}  tokens/s")
    for labels, classes in CLASSES.items():
        lines, rng = lines_of("train", classes), np.random.default_rng(0)
        train = make_batch(lines[:1000], labelled=True, classes=_classes(lines))
        network = BiLSTMCRFTagger(replace(options, epochs=1)).fit(train, rng=rng)
        crf = CRFTagger(plain(CRFOptions, max_iterations=10)).fit(train, rng=rng)
        batch = make_batch(with_novel_words(sampled(lines, notes, rng), rng), labelled=False)
        rates = [tagging_rate(tagger, batch) for tagger in (network, crf)]
        keras = best_rate(keras_predictor(network, batch), batch.n_tokens)
        print(f"{labels:6} {rates[0]:9,.0f} {keras:9,.0f} {rates[1]:9,.0f}", flush=True)


def tagging_rate(tagger: BiLSTMCRFTagger | CRFTagger, batch: Batch) -> float:
    """Return tokens per second of a tagger that knows no word of the notes in advance."""
    with tempfile.TemporaryDirectory() as folder:
        tagger.save(Path(folder))
        tagger.tag(batch.slice(0, 100))  # compiles
        return best_rate(
            lambda: type(tagger).load(Path(folder)).tag(batch, measure="min_marginal"),
            batch.n_tokens,
        )


def _classes(lines: list) -> list[str]:
    return sorted({span.label for line in lines for span in line.spans})


def train(options: BiLSTMCRFOptions, notes: int) -> None:
    """Print the seconds of an epoch, and the memory of the process that trains."""
    print(f"{'labels':>6} {'notes':>8} {'s/epoch':>8} {'tokens/s':>9} {'MiB':>6}")
    for labels, classes in CLASSES.items():
        _, tokens, seconds = one_epoch(options, notes, classes)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(
            f"{labels:6} {notes:8,} {seconds:8.1f} {tokens / seconds:9,.0f} {memory:6,.0f}",
            flush=True,
        )


def one_epoch(
    options: BiLSTMCRFOptions, notes: int, classes: dict[str, str] | None
) -> tuple[BiLSTMCRFTagger, int, float]:
    """Return a network after an epoch, its tokens, and its seconds without the first step."""
    lines, rng = lines_of("train", classes), np.random.default_rng(0)
    batch = make_batch(sampled(lines, notes, rng), labelled=True, classes=_classes(lines))
    times: list[float] = []

    def progress(done: int, steps: int) -> None:
        times.append(time.monotonic())

    network = BiLSTMCRFTagger(replace(options, epochs=1))
    network.fit(batch, rng=rng, progress=progress)
    return network, batch.n_tokens, times[-1] - times[0]


def step(options: BiLSTMCRFOptions, notes: int) -> None:
    """Print milliseconds of a step of training, with packed sequences and with Keras layers."""
    os.environ.update(ENVIRONMENT)  # before TensorFlow is imported
    from taggers.networks.training import keras_network  # noqa: PLC0415 - it imports Keras
    from taggers.networks.training.bilstm import BiLSTM  # noqa: PLC0415 - the same

    lines, rng = lines_of("train", None), np.random.default_rng(0)
    batch = make_batch(sampled(lines, notes, rng), labelled=True, classes=_classes(lines))
    tagger = BiLSTMCRFTagger(replace(options, epochs=1)).fit(batch.slice(0, 64), rng=rng)
    documents = training_documents(tagger, batch)
    print(f"{'minibatch':>9} {'packed':>9} {'Keras':>9}  ms/step")
    for size in (16, 64):
        minibatches = list(documents.epoch(size, rng, word_dropout=0.0))
        milliseconds = []
        for packed in (True, False):
            keras_network.BiLSTM = functools.partial(BiLSTM, packed=packed)
            network = keras_network.Network(
                tagger.options, tagger._sizes_of(tagger._inputs, tagger.labels)
            )
            names = [tensor.name for tensor in network.model.inputs]

            def epoch(network=network, names=names, minibatches=minibatches) -> None:
                for inputs, tags, weights in minibatches:
                    float(network.train({name: inputs[name] for name in names}, tags, weights))

            with one_thread():
                epoch()  # compiles
                milliseconds.append(1000 / best_rate(epoch, len(minibatches)))
        print(f"{size:9} {milliseconds[0]:9.1f} {milliseconds[1]:9.1f}", flush=True)


def growth(options: BiLSTMCRFOptions, notes: int) -> None:
    """Print tokens per second of training and of tagging, for one option after another."""
    print(f"{'labels':>6} {'units':>6} {'characters':>10} {'training':>9} {'tagging':>9}  tokens/s")
    settings = [(42, 64, "cnn"), (5, 64, "cnn")]
    settings += [(42, units, "cnn") for units in (32, 128, 256)]
    settings += [(42, 64, characters) for characters in ("none", "bilstm")]
    for labels, units, characters in settings:
        own = replace(options, units=units, characters=characters)
        network, tokens, seconds = one_epoch(own, notes, CLASSES[labels])
        lines, rng = lines_of("train", CLASSES[labels]), np.random.default_rng(1)
        batch = make_batch(with_novel_words(sampled(lines, 5 * notes, rng), rng), labelled=False)
        print(
            f"{labels:6} {units:6} {characters:>10} {tokens / seconds:9,.0f} "
            f"{tagging_rate(network, batch):9,.0f}",
            flush=True,
        )


#: The benchmarks, and the number of notes of each.
WORK = {
    "tag": (tag, 50_000),
    "train": (train, 10_000),
    "step": (step, 1000),
    "growth": (growth, 2000),
}


def main() -> None:
    """Run the benchmark that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=list(WORK))
    parser.add_argument("--notes", type=int)
    parser.add_argument("--embeddings", default="", help="a folder of embeddings")
    parser.add_argument("--units", type=int, default=64)
    parser.add_argument("--characters", choices=["none", "cnn", "bilstm"], default="cnn")
    parser.add_argument("--minibatch", type=int, default=0)
    parser.add_argument("--backend", choices=["tensorflow", "torch"], default="tensorflow")
    arguments = parser.parse_args()
    options = plain(
        BiLSTMCRFOptions,
        embeddings=arguments.embeddings,
        units=arguments.units,
        characters=arguments.characters,
        minibatch=arguments.minibatch,
        backend=arguments.backend,
        min_steps=0,
    )
    work, notes = WORK[arguments.what]
    work(options, arguments.notes or notes)


if __name__ == "__main__":
    main()

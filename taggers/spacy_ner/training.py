"""Training of spaCy's recognizer, in a process of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from taggers.base import Progress, Training
from taggers.networks.training.minibatches import Arrays
from taggers.spacy_ner.network import documents_of, make_pipeline, weights_of
from taggers.spacy_ner.spacy_options import SpacyOptions


def train_network(
    request: Mapping[str, Any], arrays: Arrays, progress: Progress
) -> tuple[Arrays, Training]:
    """Train a recognizer in its process; see `taggers.networks.training.process`."""
    options, classes = SpacyOptions(**request["options"]), request["classes"]
    fix_random_seed(request["random_state"])
    rng = np.random.default_rng(request["random_state"])
    nlp, recognizer = make_pipeline(options, classes)
    words = [request["vocabulary"][word] for word in arrays["word_ids"].tolist()]
    tags = [request["labels"][tag] for tag in arrays["tags"].tolist()]
    columns = nlp, words, arrays["offsets"].tolist()
    examples = list(map(Example, documents_of(*columns), documents_of(*columns, tags)))
    weights, lengths = arrays["weights"], np.diff(arrays["offsets"])
    optimizer = Adam(
        options.learning_rate, L2=0.01, grad_clip=1.0, use_averages=True, L2_is_weight_decay=True
    )
    loss = math.nan
    steps = math.ceil(weights.clip(0, 1) @ lengths / options.minibatch) or 1
    epochs = max(options.epochs, math.ceil(options.min_steps / steps))
    for epoch in range(epochs):
        drawn = np.flatnonzero((rng.random(len(weights)) < weights) & (lengths > 0))
        order = rng.permutation(drawn)
        losses: dict[str, float] = {}
        ends = np.cumsum(lengths[order]) // options.minibatch
        for rows in np.split(order, np.flatnonzero(np.diff(ends)) + 1):
            batch = [examples[row] for row in rows.tolist()]
            if batch:  # in an epoch, no document may be drawn
                recognizer.update(batch, drop=options.dropout, sgd=optimizer, losses=losses)
        progress(epoch + 1, epochs)
        loss = float(losses.get("ner", 0.0)) / max(len(order), 1)
        if not math.isfinite(loss):
            outcome = f"the loss was not a number in epoch {epoch + 1}"
            return {}, Training(False, outcome, epoch, loss, failed=True)
    with recognizer.model.use_params(optimizer.averages):
        learned = weights_of(recognizer)
    return learned, Training(False, "the number of epochs", epochs, loss)

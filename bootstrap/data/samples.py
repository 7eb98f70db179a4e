"""Random samples of documents, and the entities that a small CRF trained on one predicts in others.

If it predicts fewer entity tokens than are annotated, these documents mention entities in ways that
the seed lacks.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from corpus.batch import Batch
from corpus.document import Document
from corpus.formats.batches import documents_of
from corpus.tags import classes_of, find_entities
from taggers.base import TrainingError
from taggers.crf import CRFOptions, CRFTagger

#: The maximum number of documents of a sample.
SAMPLED = 2000
#: The number of tokens of a random sample on which the CRF is trained, and of one that it tags.
MOST_TOKENS = 100_000
#: A CRF that is trained within seconds.
_OPTIONS = CRFOptions(
    features=("lower", "short_shape", "suffix3"),
    clusters="",
    names=(),
    phrases=(),
    window=1,
    max_iterations=40,
    tolerance=1e-2,
)


class Sample:
    """A random sample of the documents of a stream.

    It does not depend on how the stream is divided into parts.

    Attributes
    ----------
    documents : list of Document
        The sample, in the order of the stream.
    """

    def __init__(self, size: int = SAMPLED, random_state: int = 0) -> None:
        self.documents: list[Document] = []
        self._keys = np.zeros(0)
        self._size = size
        self._rng = np.random.default_rng(random_state)

    def add(self, documents: pa.RecordBatch) -> None:
        """Add the next documents of the stream."""
        keys = np.concatenate([self._keys, self._rng.random(len(documents))])
        kept = np.sort(np.argsort(keys, kind="stable")[: self._size])
        before = len(self.documents)
        new = documents.take(pa.array(kept[kept >= before] - before))
        self.documents = [self.documents[place] for place in kept[kept < before].tolist()]
        self.documents += documents_of(new)
        self._keys = keys[kept]


def sample_of(batch: Batch, size: int = SAMPLED, *, tokens: int | None = None) -> Batch:
    """Return a random sample of the documents of a batch.

    Parameters
    ----------
    batch : Batch
        The documents.
    size : int
        The maximum number of documents.
    tokens : int, optional
        The maximum number of tokens. The first document that is drawn is kept even if it has more.

    Returns
    -------
    Batch
        Whole documents, in the order of the batch.
    """
    keys = np.random.default_rng(0).random(len(batch))
    drawn = np.argsort(keys, kind="stable")[:size]
    if tokens is not None:
        fitting = int(np.searchsorted(np.cumsum(batch.lengths[drawn]), tokens, "right"))
        drawn = drawn[: max(fitting, 1)]
    return batch if len(drawn) == len(batch) else batch.take(np.sort(drawn))


def token_shares(batch: Batch) -> dict[str, float]:
    """Compute the share of tokens in entities of each class of a tagged batch."""
    names = classes_of(batch.labels)
    entities = find_entities(batch.tags, batch.document_offsets, batch.labels)
    lengths = entities.last - entities.first + 1
    tokens = np.bincount(entities.classes, weights=lengths, minlength=len(names))
    return dict(zip(names, (tokens / max(batch.n_tokens, 1)).tolist(), strict=True))


def small_crf(seed: Batch) -> CRFTagger | None:
    """Train a CRF within seconds, on a random sample of tagged documents.

    Parameters
    ----------
    seed : Batch
        Tagged documents; at most `MOST_TOKENS` of their tokens are used.

    Returns
    -------
    CRFTagger or None
        None if the documents have no entities to learn.
    """
    seed = sample_of(seed, tokens=MOST_TOKENS)
    if not (seed.tags > 0).any():
        return None
    try:
        return CRFTagger(_OPTIONS).fit(seed, rng=np.random.default_rng(0))
    except TrainingError:  # there is nothing to learn
        return None


def predicted_shares(seed: Batch, others: Mapping[str, Batch]) -> dict[str, dict[str, float]]:
    """Predict the share of tokens in entities of each class.

    The CRF is trained on a random sample of the seed, and tags random samples of the others: whole
    documents with at most `MOST_TOKENS` tokens together.

    Returns
    -------
    dict of str to dict of str to float
        The shares by class for each of the others; none if the seed has no entities.
    """
    tagger = small_crf(seed)
    if tagger is None:
        return {}
    shares = {}
    for name, batch in others.items():
        sample = sample_of(batch, tokens=MOST_TOKENS)
        tagging = tagger.tag(sample)
        shares[name] = token_shares(sample.with_tags(tagging.tags, tagging.labels))
    return shares

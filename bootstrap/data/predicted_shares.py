"""The share of entity tokens that a small CRF, trained on the seed, predicts for other documents.

Where it predicts fewer entity tokens than are annotated, the seed lacks the ways in which these
documents mention entities.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bootstrap.data.sample import sample_of
from corpus.batch import Batch
from corpus.tags import classes_of, find_entities
from taggers.base import TrainingError
from taggers.crf import CRFOptions, CRFTagger

#: The number of tokens of a random sample on which the CRF is trained, and of one that it tags.
MOST_TOKENS = 100_000
#: A CRF that is trained within seconds.
_OPTIONS = CRFOptions(
    features=("lower", "short_shape", "suffix3"), window=1, max_iterations=40, tolerance=1e-2
)


def token_shares(batch: Batch) -> dict[str, float]:
    """Compute the share of tokens in entities of each class of a tagged batch."""
    names = classes_of(batch.labels)
    found = find_entities(batch.tags, batch.document_offsets, batch.labels)
    tokens = np.bincount(found.classes, weights=found.last - found.first + 1, minlength=len(names))
    return dict(zip(names, (tokens / max(batch.n_tokens, 1)).tolist(), strict=True))


def small_crf(seed: Batch) -> CRFTagger | None:
    """Train a CRF within seconds, on a random sample of tagged documents.

    Parameters
    ----------
    seed : Batch
        Tagged documents, of which at most `MOST_TOKENS` tokens are used.

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

    Parameters
    ----------
    seed : Batch
        Tagged documents, on which the CRF is trained.
    others : mapping of str to Batch
        Documents whose tags are not used.

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

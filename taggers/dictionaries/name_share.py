"""Estimation of the share of tokens that are names, which scales census counts to the notes.

The expected frequency in the notes of a word that is only a name is its share of the census times
the share of tokens that are names. Without annotation, the latter share is unknown. Most words of a
census are only names, and other meanings mostly make a word more frequent. The share is therefore
estimated from the majority of the words, with the others modelled as outliers.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

Floats = npt.NDArray[np.float64]

#: Grid of the logarithm of the share: from one token in ten million to all tokens.
_LOG_SHARES = np.arange(-16.0, 0.05, 0.1)
#: Grid of the shape parameter of the negative binomial distribution. The smaller it is, the more
#: names do not occur at all, and the more often the others occur.
_SHAPES = (0.1, 0.3, 1.0)
#: Grid of the share of words with other meanings.
_OUTLIER_SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
#: Bin width of the logarithm of expected counts.
_BIN_WIDTH = 0.05


def name_share(shares: Floats, counts: npt.NDArray[np.int64], tokens: int) -> float:
    """Estimate the share of tokens that are names, by maximum likelihood.

    The count in the notes of a word that is only a name follows a negative binomial distribution
    around its expected count. Its shape is estimated too: counts are overdispersed, since a note
    repeats the name of its patient, and many names of a census are rare in the region. With some
    probability, also estimated, a word has another meaning. Its count n then has the probability
    1 / ((n + 1) (n + 2)). The likelihood is maximised over a grid.

    Parameters
    ----------
    shares : ndarray of float64, shape (V,)
        The share of each word in the census. Words with share 0 are ignored.
    counts : ndarray of int64, shape (V,)
        The count of each word in the notes.
    tokens : int
        The number of tokens of the notes.

    Returns
    -------
    float
        The estimated share. It is 0 if no word occurs, or if the lowest share of the grid is the
        most likely, that is, the words occur no differently from other words.
    """
    borne = shares > 0
    shares, counts = shares[borne], counts[borne]
    if not counts.any():
        return 0.0
    bins = np.round(np.log(shares * tokens) / _BIN_WIDTH)
    cells, words = np.unique(np.stack([bins, counts]), axis=1, return_counts=True)
    expected, observed = np.exp(cells[0] * _BIN_WIDTH), cells[1]
    outlier = -np.log((observed + 1) * (observed + 2))
    best, best_likelihood = _LOG_SHARES[0], -np.inf
    for shape, log_share in itertools.product(_SHAPES, _LOG_SHARES):
        name = _log_negative_binomial(observed, np.exp(log_share) * expected, shape)
        for share in _OUTLIER_SHARES:
            mixture = np.logaddexp(np.log1p(-share) + name, np.log(share) + outlier)
            if (likelihood := float(words @ mixture)) > best_likelihood:
                best, best_likelihood = log_share, likelihood
    return float(np.exp(best)) if best > _LOG_SHARES[0] else 0.0


def _log_negative_binomial(counts: Floats, mean: Floats, shape: float) -> Floats:
    """Compute the logarithm of the negative binomial probability of counts."""
    coefficient = gammaln(counts + shape) - gammaln(shape) - gammaln(counts + 1)
    found: Floats = coefficient - shape * np.log1p(mean / shape) - counts * np.log1p(shape / mean)
    return found

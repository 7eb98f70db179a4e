"""The part of all tokens that are names: what puts census and notes on the same scale.

A word that is nothing but a name is written in the notes as often as its share of the census times
the share of tokens that are names. That last share is unknown without annotation. Most words of a
census are nothing but names, and most other meanings make a word more frequent: the scale is where
the bulk of the words lies, whatever the others do.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

Floats = npt.NDArray[np.float64]

#: Logarithms of the shares that are tried: from one token in ten million to all of them.
_SCALES = np.arange(-16.0, 0.05, 0.1)
#: Shapes of the distribution of names that are tried: the smaller, the more of them never occur and
#: the more often the others do.
_SHAPES = (0.1, 0.3, 1.0)
#: Shares of words with another meaning that are tried.
_OTHERS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
#: Words whose expected numbers differ by less than this, as a factor of e, are taken together.
_ALIKE = 0.05


def name_share(shares: Floats, counts: npt.NDArray[np.int64], tokens: int) -> float:
    """Estimate which part of all tokens are names, by maximum likelihood.

    How often a word of the census that is only a name occurs in the notes has a negative binomial
    distribution around its expected number, whose shape is estimated too: names come in clumps,
    since a note repeats its patient, and many of a census are not those of the region. With some
    probability, also estimated, a word has another meaning, and any number is as good: of n
    occurrences 1 / ((n + 1) (n + 2)).

    Parameters
    ----------
    shares : ndarray of float64, shape (V,)
        The share of the census of each word; one that nobody bears says nothing.
    counts : ndarray of int64, shape (V,)
        How often each occurs in the notes.
    tokens : int
        Of the notes.

    Returns
    -------
    float
        The share; 0 where no word occurs, or those that do occur as other words would, too: then
        the least share that is tried is the most likely.
    """
    borne = shares > 0
    shares, counts = shares[borne], counts[borne]
    if not counts.any():
        return 0.0
    bins = np.round(np.log(shares * tokens) / _ALIKE)
    alike, numbers = np.unique(np.stack([bins, counts]), axis=1, return_counts=True)
    expected, seen = np.exp(alike[0] * _ALIKE), alike[1]
    other = -np.log((seen + 1) * (seen + 2))
    best, likelihood = _SCALES[0], -np.inf
    for shape, scale in itertools.product(_SHAPES, _SCALES):
        name = _names(seen, np.exp(scale) * expected, shape)
        for share in _OTHERS:
            mixed = np.logaddexp(np.log1p(-share) + name, np.log(share) + other)
            if (found := float(numbers @ mixed)) > likelihood:
                best, likelihood = scale, found
    return float(np.exp(best)) if best > _SCALES[0] else 0.0


def _names(seen: Floats, mean: Floats, shape: float) -> Floats:
    """Give the logarithm of the negative binomial probability of so many occurrences."""
    ways = gammaln(seen + shape) - gammaln(shape) - gammaln(seen + 1)
    found: Floats = ways - shape * np.log1p(mean / shape) - seen * np.log1p(shape / mean)
    return found

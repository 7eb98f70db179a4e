"""Forward-backward and Viterbi over many documents at a time (Sutton and McCallum, 2012, ch. 4).

Documents are packed time-major: they are sorted by length, longest first, so that the tokens at
position t of all documents are contiguous in memory. A step of the forward algorithm is then one
matrix product for all documents.

The algorithms work on probabilities instead of logarithms. Scores and transitions are relative to
their maximum, and each step is normalised by its sum.
"""

from __future__ import annotations

from taggers.crf.lattice.forward_backward import (
    Sums,
    Transitions,
)
from taggers.crf.lattice.packing import (
    LANES,
    NEVER,
    Packing,
    Reals,
    gather,
    gather_stream,
    pack,
    scatter,
    scatter_stream,
)
from taggers.crf.lattice.paths import (
    backtrack,
    constrain,
    padded_transition,
    score_paths,
    subtract_observed,
    viterbi,
)

__all__ = [
    "LANES",
    "NEVER",
    "Packing",
    "Reals",
    "Sums",
    "Transitions",
    "backtrack",
    "constrain",
    "gather",
    "gather_stream",
    "pack",
    "padded_transition",
    "scatter",
    "scatter_stream",
    "score_paths",
    "subtract_observed",
    "viterbi",
]

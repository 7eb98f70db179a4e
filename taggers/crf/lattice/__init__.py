"""Forward-backward and Viterbi over many documents at a time (Sutton and McCallum, 2012, ch. 4).

Documents are packed time-major: they are sorted by length, longest first, so that the tokens at
position t of all documents are contiguous in memory. A step of the forward algorithm is then one
matrix product for all documents.

The algorithms work on probabilities instead of logarithms. Scores and transitions are relative to
their maximum, and each step is normalised by its sum. Underflow is negligible as long as the
transitions do not differ too much (`safe`). `taggers.crf.lattice.logspace` contains the algorithms
for transitions that do.
"""

from __future__ import annotations

from taggers.crf.lattice.forward_backward import (
    backward,
    exponential_transition,
    forward,
    log_sums,
    lower_by_largest,
    safe,
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
    unpack,
    unpack_chosen,
)
from taggers.crf.lattice.partial_tags import constrain, score_paths, subtract_observed
from taggers.crf.lattice.paths import backtrack, padded_transition, viterbi

__all__ = [
    "LANES",
    "NEVER",
    "Packing",
    "Reals",
    "backtrack",
    "backward",
    "constrain",
    "exponential_transition",
    "forward",
    "gather",
    "gather_stream",
    "log_sums",
    "lower_by_largest",
    "pack",
    "padded_transition",
    "safe",
    "scatter",
    "scatter_stream",
    "score_paths",
    "subtract_observed",
    "unpack",
    "unpack_chosen",
    "viterbi",
]

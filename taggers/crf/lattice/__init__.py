"""Forward-backward and Viterbi over many documents at a time (Sutton and McCallum, 2012, ch. 4).

Documents are packed time-major: sorted by length, longest first, so that the tokens at place t of
all documents that have one are neighbours in memory. A step of the forward algorithm is then one
product of matrices for all documents.

Everything is kept as probabilities: the scores of a token are taken relative to their largest, the
transitions to theirs, and every step is divided by its sum. What underflows that way is too small
to matter as long as the transitions to a label do not differ by too much (`safe`);
`taggers.crf.lattice.logspace` has the algorithms for those that do.
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

"""Greedy decoding of word judgements into tags, in one pass over the tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.compiled import Array, compiled, kernel_array
from taggers.certainties import Certainties

#: The maximum distance between two words of a name, with joining words such as ``de la`` between.
_MAX_DISTANCE = 3
_BEGIN, _INSIDE = 1, 2  # indices of B- and I- in the labels of one class


@dataclass(frozen=True, slots=True, eq=False)
class WordJudgements:
    """Judgements of the T word types of a batch.

    Parameters
    ----------
    divergence : ndarray of float64, shape (T,)
        The divergence of each word from a name; infinite for a word that is in no name.
    joins : ndarray of bool, shape (T,)
        Words that join the words of a name, and are not names themselves.
    doubtful : ndarray of bool, shape (T,)
        Ambiguous words, whose tokens have certainty 0.
    """

    divergence: npt.NDArray[np.float64]
    joins: npt.NDArray[np.bool_]
    doubtful: npt.NDArray[np.bool_]


def decode_greedily(
    batch: Batch,
    judgements: WordJudgements,
    blocked: npt.NDArray[np.bool_],
    threshold: float,
    threshold_after: float,
) -> Certainties:
    """Find the names of a batch.

    A word belongs to a name if its divergence is below a threshold, which depends on whether the
    preceding word belongs to a name. Joining words between two such words belong to the name too.
    Adjacent words form one name.

    The certainty of a word of a name is 1 - divergence / threshold (paper 003, equation 3.7). The
    certainty of another word of the dictionary is 1 - threshold / divergence, its counterpart above
    the threshold. The certainty of any other word is 1.

    Parameters
    ----------
    batch : Batch
        Documents.
    judgements : WordJudgements
        Judgements of the word types of the batch.
    blocked : ndarray of bool, shape (N,)
        Tokens that cannot begin a name.
    threshold, threshold_after : float
        Thresholds above 0; `threshold_after` applies after a word of a name.

    Returns
    -------
    tags : ndarray of int16, shape (N,)
        0 outside of names, 1 for the first token of a name, 2 for the others.
    certainty : ndarray of float64, shape (N,)
    """
    tags = np.zeros(batch.n_tokens, np.int16)
    certainty = np.ones(batch.n_tokens)
    _decode(
        kernel_array(batch.word_ids), kernel_array(batch.document_offsets),
        judgements.divergence, judgements.joins, blocked,
        (float(threshold), float(threshold_after)), tags, certainty,
    )  # fmt: skip
    certainty[judgements.doubtful[batch.word_ids]] = 0.0
    return tags, certainty


@compiled(
    "int32[::1], int64[::1], float64[::1], boolean[::1], boolean[::1], UniTuple(float64, 2), "
    "int16[::1], float64[::1]"
)
def _decode(
    words: Array,
    documents: Array,
    divergence: Array,
    joins: Array,
    blocked: Array,
    thresholds: tuple[float, float],
    tags: Array,
    certainty: Array,
) -> None:
    """Write the tags and the certainty of all tokens; see `decode_greedily`."""
    for document in range(len(documents) - 1):
        last = -1  # the last token of the current name, or -1
        for token in range(documents[document], documents[document + 1]):
            own = divergence[words[token]]
            if last < 0 and blocked[token]:
                continue
            limit = thresholds[1] if last >= 0 else thresholds[0]
            if own < limit:
                certainty[token] = 1 - own / limit
                if last >= 0:
                    tags[last + 1 : token + 1] = _INSIDE
                else:
                    tags[token] = _BEGIN
                last = token
            elif not (last >= 0 and joins[words[token]] and token - last <= _MAX_DISTANCE):
                last = -1
                certainty[token] = 1 - limit / own

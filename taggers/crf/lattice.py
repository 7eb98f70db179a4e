"""Forward-backward and Viterbi over many documents at a time (Sutton and McCallum, 2012, ch. 4).

Documents are packed time-major: sorted by length, longest first, so that the tokens at place t of
all documents that have one are neighbours in memory. A step of the forward algorithm is then one
product of matrices for all documents.

Everything is kept as probabilities: the scores of a token are taken relative to their largest, the
transitions to theirs, and every step is divided by its sum. What underflows that way is too small
to matter as long as the transitions to a label do not differ by too much (`safe`);
`taggers.logspace` has the algorithms for those that do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.compiled import Array, compiled

Reals = npt.NDArray[np.floating]
Indices = npt.NDArray[np.int64]

#: Labels are padded to a multiple of this, so that rows are whole vectors of the processor.
LANES = 8
#: Score of a padding label: its exponential is 0, and sums of it are finite.
NEVER = -1e9
_SAFE = {np.dtype(np.float32): 40.0, np.dtype(np.float64): 350.0}


def safe(transition: npt.NDArray[np.float64], real: np.dtype[np.floating]) -> bool:
    """Say whether probabilities of this type lose nothing that matters.

    The smallest number there is, exp(-103) or exp(-745), is what is lost of a step before it is
    divided by its sum, and a transition to every label may make that sum small. A path that is
    lost can catch up with the best one by one transition at most: from then on, the best one may
    go where it goes. Twice what transitions differ by must hence stay well above the smallest
    number.

    Parameters
    ----------
    transition : ndarray of float64, shape (L, L)
        Scores from a label to the following one.
    real : dtype
        float32 or float64.
    """
    return bool(np.ptp(transition, axis=0).max() + np.ptp(transition, axis=1).max() <= _SAFE[real])


def padded_transition(transition: npt.NDArray[np.float64], real: np.dtype[np.floating]) -> Reals:
    """Pad transitions with 0: the scores of padding labels keep these off every path."""
    labels = len(transition)
    size = -(-labels // LANES) * LANES
    padded = np.zeros((size, size), real)
    padded[:labels, :labels] = transition
    return padded


def exponential_transition(
    transition: npt.NDArray[np.float64], real: np.dtype[np.floating]
) -> Reals:
    """Exponentiate transitions relative to the largest; to and from padding labels it is 0."""
    padded = np.zeros_like(padded_transition(transition, real))
    padded[: len(transition), : len(transition)] = np.exp(transition - transition.max())
    return padded


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """Where the tokens of some documents are when packed.

    Parameters
    ----------
    documents : ndarray of int64, shape (D,)
        Rows of the batch, longest first; none without tokens.
    first : ndarray of int64, shape (D,)
        The first token of each in the batch.
    lengths : ndarray of int64, shape (D,)
        Tokens of each.
    steps : ndarray of int64, shape (T + 1,)
        Packed tokens ``steps[t]`` to ``steps[t + 1]`` are at place t of their documents.
    """

    documents: Indices
    first: Indices
    lengths: Indices
    steps: Indices

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return int(self.steps[-1])

    @property
    def rows(self) -> Indices:
        """The document of each packed token, counted from 0 as in `documents`."""
        return np.arange(self.tokens) - np.repeat(self.steps[:-1], np.diff(self.steps))


def pack(
    documents: Indices, tokens: int, wanted: npt.NDArray[np.bool_] | None = None
) -> list[Packing]:
    """Cut documents into packings of about so many tokens.

    Parameters
    ----------
    documents : ndarray of int64, shape (D + 1,)
        Offsets of each document's tokens.
    tokens : int
        Tokens of a packing; one document may have more.
    wanted : ndarray of bool, shape (D,), optional
        Which documents to pack; all of them by default.

    Returns
    -------
    list of Packing
        Documents without tokens are in none of them.
    """
    lengths = np.diff(documents)
    order = np.argsort(-lengths, kind="stable")
    order = order[: np.count_nonzero(lengths)]
    if wanted is not None:
        order = order[wanted[order]]
    packings = []
    part = (np.cumsum(lengths[order]) - 1) // tokens
    for rows in np.split(order, np.flatnonzero(np.diff(part)) + 1) if len(order) else []:
        longest = lengths[rows[0]]
        active = np.searchsorted(-lengths[rows], -np.arange(longest), side="left")
        steps = np.concatenate([np.zeros(1, np.int64), np.cumsum(active)])
        packings.append(Packing(rows, documents[:-1][rows], lengths[rows], steps))
    return packings


@compiled
def gather(
    words: Array,
    first: Array,
    lengths: Array,
    steps: Array,
    table: Array,
    begin: int,
    end: int,
    scores: Array,
) -> None:
    """Add up what the words around each token add to its scores.

    ``scores[token] = sum over o of table[words[token + o - window], o]``, with the rows `begin`
    and `end` of the table for places before and after the document.
    """
    offsets = table.shape[1]
    labels = table.shape[2]
    window = offsets // 2
    for row in range(len(first)):
        start, length = first[row], lengths[row]
        for place in range(length):
            into = scores[steps[place] + row]
            for label in range(labels):
                into[label] = 0
            for offset in range(offsets):
                other = place + offset - window
                word = begin if other < 0 else end if other >= length else words[start + other]
                added = table[word, offset]
                for label in range(labels):
                    into[label] += added[label]


@compiled
def scatter(
    words: Array,
    first: Array,
    lengths: Array,
    steps: Array,
    marginals: Array,
    begin: int,
    end: int,
    table: Array,
) -> None:
    """Add the marginals of each token to the rows of the words around it: `gather` transposed."""
    offsets = table.shape[1]
    labels = table.shape[2]
    window = offsets // 2
    for row in range(len(first)):
        start, length = first[row], lengths[row]
        for place in range(length):
            added = marginals[steps[place] + row]
            for offset in range(offsets):
                other = place + offset - window
                word = begin if other < 0 else end if other >= length else words[start + other]
                into = table[word, offset]
                for label in range(labels):
                    into[label] += added[label]


@compiled
def lower_by_largest(scores: Array, largest: Array) -> None:
    """Take the largest score off each row, and give it."""
    labels = scores.shape[1]
    for token in range(len(scores)):
        row = scores[token]
        most = row[0]
        for label in range(1, labels):
            most = max(most, row[label])
        largest[token] = most
        for label in range(labels):
            row[label] -= most


@compiled
def forward(steps: Array, emission: Array, transition: Array, alpha: Array, scale: Array) -> None:
    """Compute the probability of each label given the tokens so far, and each step's sum."""
    for step in range(len(steps) - 1):
        now, after = steps[step], steps[step + 1]
        number = after - now
        current = alpha[now:after]
        if step == 0:
            current[:] = emission[now:after]
        else:
            before = steps[step - 1]
            np.dot(alpha[before : before + number], transition, current)
        for row in range(number):
            total = np.float64(0)
            if step > 0:
                for label in range(current.shape[1]):
                    current[row, label] *= emission[now + row, label]
            for label in range(current.shape[1]):
                total += current[row, label]
            scale[now + row] = total
            inverse = 1 / total
            for label in range(current.shape[1]):
                current[row, label] *= inverse


@compiled
def backward(
    steps: Array,
    emission: Array,
    transposed: Array,
    weights: Array,
    alpha: Array,
    scale: Array,
    expected: Array,
) -> None:
    """Turn `alpha` into marginals times the weight of their document, and count transitions.

    `expected` gains ``alpha[t].T @ (emission * beta / scale)[t + 1]``; times the transition, it is
    how often each transition is expected. What `emission` holds is lost.
    """
    labels = alpha.shape[1]
    beta = np.empty((steps[1] - steps[0], labels), alpha.dtype)
    part = np.empty((labels, labels), alpha.dtype)
    last = len(steps) - 2
    for step in range(last, -1, -1):
        now, after = steps[step], steps[step + 1]
        going = 0
        if step < last:
            going = steps[step + 2] - after
            successors = emission[after : after + going]
            np.dot(alpha[now : now + going].T, successors, part)
            for row in range(labels):
                for label in range(labels):
                    expected[row, label] += part[row, label]
            np.dot(successors, transposed, beta[:going])
        for row in range(going, after - now):
            for label in range(labels):
                beta[row, label] = weights[row]
        for row in range(after - now):
            inverse = 1 / scale[now + row]
            for label in range(labels):
                alpha[now + row, label] *= beta[row, label]
                emission[now + row, label] *= beta[row, label] * inverse


@compiled
def viterbi(steps: Array, scores: Array, transition: Array, delta: Array) -> None:
    """Compute the score of the best path to each label of each token, into `delta`."""
    labels = scores.shape[1]
    for step in range(len(steps) - 1):
        now, after = steps[step], steps[step + 1]
        if step == 0:
            delta[now:after] = scores[now:after]
            continue
        before = steps[step - 1]
        number = after - now
        row = 0
        while row < number:
            # Two documents at a time (the last one twice) halve the reading of transitions.
            other = min(row + 1, number - 1)
            old, old_other = delta[before + row], delta[before + other]
            new, new_other = delta[now + row], delta[now + other]
            for label in range(labels):
                new[label] = -np.inf
                new_other[label] = -np.inf
            for origin in range(0, labels, 4):
                t0, t1 = transition[origin], transition[origin + 1]
                t2, t3 = transition[origin + 2], transition[origin + 3]
                a0, a1, a2, a3 = old[origin], old[origin + 1], old[origin + 2], old[origin + 3]
                b0, b1 = old_other[origin], old_other[origin + 1]
                b2, b3 = old_other[origin + 2], old_other[origin + 3]
                for label in range(labels):
                    s0, s1, s2, s3 = t0[label], t1[label], t2[label], t3[label]
                    best = max(max(a0 + s0, a1 + s1), max(a2 + s2, a3 + s3))
                    new[label] = max(new[label], best)
                    best = max(max(b0 + s0, b1 + s1), max(b2 + s2, b3 + s3))
                    new_other[label] = max(new_other[label], best)
            row += 2
        for row in range(number):
            # Relative to the best, so that long documents lose no digits.
            current = delta[now + row]
            best = current[0] + scores[now + row, 0]
            for label in range(labels):
                current[label] += scores[now + row, label]
                best = max(best, current[label])
            for label in range(labels):
                current[label] -= best


@compiled
def backtrack(
    first: Array,
    lengths: Array,
    steps: Array,
    scores: Array,
    delta: Array,
    transition: Array,
    labels: int,
    tags: Array,
    best: Array,
) -> None:
    """Follow the best paths back from their ends, ties to the lowest label, and score them."""
    for row in range(len(first)):
        after = 0
        best[row] = 0.0
        for place in range(lengths[row] - 1, -1, -1):
            token = steps[place] + row
            last = place == lengths[row] - 1
            label = 0
            most = delta[token, 0] if last else delta[token, 0] + transition[0, after]
            for each in range(1, labels):
                value = delta[token, each] if last else delta[token, each] + transition[each, after]
                if value > most:
                    most, label = value, each
            best[row] += np.float64(scores[token, label])
            if not last:
                best[row] += np.float64(transition[label, after])
            tags[first[row] + place] = label
            after = label


@compiled
def log_sums(steps: Array, scale: Array, largest: Array, top: float, log_z: Array) -> None:
    """Compute log Z of each document.

    `largest` and `top` are what was taken off the scores of tokens and off the transitions.
    """
    for step in range(len(steps) - 1):
        shift = 0.0 if step == 0 else top
        for row in range(steps[step + 1] - steps[step]):
            token = steps[step] + row
            value = np.log(scale[token]) + np.float64(largest[token]) + shift
            log_z[row] = value if step == 0 else log_z[row] + value


@compiled
def unpack(first: Array, lengths: Array, steps: Array, packed: Array, rows: Array) -> None:
    """Put the rows of packed tokens where these are in the batch."""
    for row in range(len(first)):
        for place in range(lengths[row]):
            source = packed[steps[place] + row]
            for label in range(rows.shape[1]):
                rows[first[row] + place, label] = source[label]


@compiled
def score_paths(
    first: Array,
    lengths: Array,
    steps: Array,
    scores: Array,
    transition: Array,
    tags: Array,
    result: Array,
) -> None:
    """Score the tags of each document; 0 for one that has a negative tag."""
    for row in range(len(first)):
        total = 0.0
        before = 0
        for place in range(lengths[row]):
            tag = tags[first[row] + place]
            if tag < 0:
                total = 0.0
                break
            total += np.float64(scores[steps[place] + row, tag])
            if place > 0:
                total += transition[before, tag]
            before = tag
        result[row] = total


@compiled
def constrain(
    first: Array, lengths: Array, steps: Array, tags: Array, labels: int, scores: Array
) -> None:
    """Keep every label but the known one off the paths."""
    for row in range(len(first)):
        for place in range(lengths[row]):
            tag = tags[first[row] + place]
            if tag >= 0:
                for label in range(labels):
                    if label != tag:
                        scores[steps[place] + row, label] = NEVER


@compiled
def unpack_chosen(
    first: Array, lengths: Array, steps: Array, packed: Array, labels: Array, chosen: Array
) -> None:
    """Put the marginal of the label of each token where the token is in the batch."""
    for row in range(len(first)):
        for place in range(lengths[row]):
            token = first[row] + place
            chosen[token] = packed[steps[place] + row, labels[token]]


@compiled
def subtract_observed(
    first: Array,
    lengths: Array,
    steps: Array,
    tags: Array,
    known: Array,
    marginals: Array,
    departures: Array,
) -> None:
    """Turn marginals into what is expected more than observed, in documents that are `known`.

    The marginal of the right label less 1 is what all others have together: where a model is sure,
    these are small numbers and keep their digits. `departures` gains the sums over all tokens
    after which a transition comes.
    """
    labels = len(departures)
    for row in range(len(first)):
        for place in range(lengths[row]):
            values = marginals[steps[place] + row]
            if known[row]:
                tag = tags[first[row] + place]
                others = np.float64(0)
                for label in range(labels):
                    if label != tag:
                        others += values[label]
                values[tag] = -others
            if place < lengths[row] - 1:
                for label in range(labels):
                    departures[label] += values[label]

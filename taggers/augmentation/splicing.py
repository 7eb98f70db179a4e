"""Copies of documents in which runs of tokens are replaced by phrases.

The text, offsets and tokens of the copies are gathered from those of the documents and of the
phrases, by arithmetic on arrays. Nothing is tokenized again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.batch import Batch, concatenate
from corpus.kernels.code_points import code_points
from corpus.ragged import offsets_of, ranges_of, used_only
from corpus.tags import UNKNOWN

Indices = npt.NDArray[np.int64]
#: Half-open ranges, shape (P, 2).
Edges = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Replacements:
    """Runs of tokens and the phrases that replace them, E of them.

    Parameters
    ----------
    copies : ndarray of int64, shape (E,)
        The copy in which each run is replaced, in increasing order.
    first, last : ndarray of int64, shape (E,)
        The first and the last token of each run, as indices into the tokens of the batch. The runs
        of a copy belong to its document, are in order and have no token in common.
    phrases : ndarray of int64, shape (E,)
        The document of the batch of phrases that replaces each run.
    """

    copies: Indices
    first: Indices
    last: Indices
    phrases: Indices


def splice(batch: Batch, documents: Indices, replacements: Replacements, phrases: Batch) -> Batch:
    """Build copies of documents in which runs of tokens are replaced by phrases.

    The result has the tokens that tokenizing its texts would find, provided that each phrase begins
    and ends where a token does also in its new context.

    Parameters
    ----------
    batch : Batch
        The documents.
    documents : ndarray of int64, shape (K,)
        The document of each copy, as an index into the batch.
    replacements : Replacements
        The runs of tokens to replace. The text of a run, from the start of its first token to the
        end of its last one, becomes the text of the phrase.
    phrases : Batch
        The phrases, as documents with at least one token each. Their tags are ignored.

    Returns
    -------
    Batch
        K documents with the ids, groups and weights of those that they are copies of, and without
        streams. The tokens of a phrase are an entity of the class that the first replaced token
        has, or have its tag if that is ``O`` or unknown.

    Raises
    ------
    ValueError
        If a phrase that is used has no tokens.
    """
    if not phrases.lengths[replacements.phrases].all():
        raise ValueError("a phrase without tokens cannot replace tokens")
    source = concatenate([_words(batch), _words(phrases, labelled=False)])
    codes, begins = _codes(source.texts)
    token_edges, code_edges, copies = _pieces(
        source, begins, documents, replacements, first_phrase=len(batch)
    )
    tokens, lengths = _gather(token_edges), np.diff(token_edges)[:, 0]
    text_offsets = _offsets(copies, np.diff(code_edges)[:, 0], len(documents))
    shifts = np.repeat(_shifts(copies, code_edges, text_offsets), lengths)
    shifts += np.repeat(begins[:-1], source.lengths)[tokens]
    used, words = used_only(source.word_ids[tokens], len(source.vocabulary))
    rows = pa.array(documents, pa.int64())
    return Batch(
        ids=batch.ids.take(rows),
        texts=_texts(codes[_gather(code_edges)], text_offsets),
        groups=batch.groups.take(rows),
        vocabulary=tuple(map(source.vocabulary.__getitem__, used.tolist())),
        word_ids=words,
        starts=(source.starts[tokens] + shifts).astype(np.int32),
        ends=(source.ends[tokens] + shifts).astype(np.int32),
        document_offsets=_offsets(copies, lengths, len(documents)),
        tags=_tags(source, tokens, lengths, replacements),
        labels=source.labels,
        weights=None if batch.weights is None else batch.weights[documents],
    )


def _words(batch: Batch, *, labelled: bool = True) -> Batch:
    """Return a batch without weights and streams, and without its tags unless `labelled`."""
    tags = batch.tags if labelled else np.full(batch.n_tokens, UNKNOWN, np.int16)
    labels = batch.labels if labelled else ()
    return replace(batch, weights=None, streams={}, tags=tags, labels=labels)


def _pieces(
    source: Batch,
    begins: Indices,
    documents: Indices,
    replacements: Replacements,
    first_phrase: int,
) -> tuple[Edges, Edges, Indices]:
    """Divide the copies into pieces: context and phrases in turn, with context at both ends.

    Returns
    -------
    tokens, codes : ndarray of int64, shape (P, 2)
        The half-open range of tokens, and that of code points, of each piece in `source`.
    copies : ndarray of int64, shape (P,)
        The copy that each piece belongs to.
    """
    per_copy = 2 * np.bincount(replacements.copies, minlength=len(documents)) + 1
    tails = np.cumsum(per_copy) - 1
    contexts = _contexts(replacements)
    owners = documents[replacements.copies]
    of_phrases = replacements.phrases + first_phrase

    def arrange(edges: Indices, first: Indices, after: Indices) -> Edges:
        pieces = np.empty((2 * len(contexts) + len(documents), 2), np.int64)
        pieces[tails - per_copy + 1, 0] = edges[documents]
        pieces[tails, 1] = edges[documents + 1]
        pieces[contexts, 1], pieces[contexts + 2, 0] = first, after
        pieces[contexts + 1, 0], pieces[contexts + 1, 1] = edges[of_phrases], edges[of_phrases + 1]
        return pieces

    tokens = arrange(source.document_offsets, replacements.first, replacements.last + 1)
    codes = arrange(
        begins,
        begins[owners] + source.starts[replacements.first],
        begins[owners] + source.ends[replacements.last],
    )
    return tokens, codes, np.repeat(np.arange(len(documents)), per_copy)


def _contexts(replacements: Replacements) -> Indices:
    """Return the number of the piece before each phrase; the next piece is the phrase."""
    # A copy has a piece more than two for each replacement.
    return 2 * np.arange(len(replacements.copies)) + replacements.copies


def _gather(edges: Edges) -> Indices:
    """Return the members of half-open ranges, one range after another."""
    return ranges_of(edges[:, 0], np.diff(edges)[:, 0])


def _offsets(copies: Indices, lengths: Indices, number: int) -> Indices:
    """Return the offsets of copies, shape (number + 1,), from the lengths of their pieces."""
    sizes = np.bincount(copies, weights=lengths, minlength=number).astype(np.int64)
    return offsets_of(sizes)


def _shifts(copies: Indices, codes: Edges, text_offsets: Indices) -> Indices:
    """Return the distance from each piece's place in the source to that in the text of its copy."""
    lengths = np.diff(codes)[:, 0]
    places: Indices = offsets_of(lengths)[:-1] - text_offsets[copies]
    return places - codes[:, 0]


def _tags(
    source: Batch, tokens: Indices, lengths: Indices, replacements: Replacements
) -> npt.NDArray[np.int16]:
    """Return the tags of the copies: those of the phrases follow from the tokens they replace."""
    tags = source.tags[tokens]
    index = {label: number for number, label in enumerate(source.labels)}
    begin, inside = (
        # -1, the unknown tag, indexes the last entry.
        np.array([*(index[_with_prefix(each, prefix)] for each in index), UNKNOWN], np.int16)
        for prefix in "BI"
    )
    pieces = _contexts(replacements) + 1
    firsts = offsets_of(lengths)[pieces]
    replaced = source.tags[replacements.first]
    tags[ranges_of(firsts, lengths[pieces])] = np.repeat(inside[replaced], lengths[pieces])
    tags[firsts] = begin[replaced]
    return tags


def _with_prefix(label: str, prefix: str) -> str:
    return label if label == "O" else f"{prefix}{label[1:]}"


def _codes(texts: pa.LargeStringArray) -> tuple[npt.NDArray[np.uint32], Indices]:
    """Return the code points of all texts, and where each text begins, shape (D + 1,)."""
    lengths = pc.utf8_length(texts).to_numpy().astype(np.int64)
    return code_points("".join(texts.to_pylist())), offsets_of(lengths)


def _texts(codes: npt.NDArray[np.uint32], offsets: Indices) -> pa.LargeStringArray:
    """Return the texts that consist of the code points between offsets."""
    data = codes.tobytes().decode("utf-32-le").encode()
    # The number of bytes of each code point in UTF-8.
    sizes = 1 + (codes > 0x7F).astype(np.int64) + (codes > 0x7FF) + (codes > 0xFFFF)
    ends = offsets_of(sizes)[offsets]
    return pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(ends.tobytes()), pa.py_buffer(data)
    )

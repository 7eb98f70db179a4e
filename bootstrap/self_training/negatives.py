"""Unlabeled documents that are almost certainly blank: what a seed with many entities lacks.

A tagger that saw hardly any document without entities finds too many. Whether a document is blank
is decided for its context as a whole, not for the document alone: a line below a header, such as
``Servicio: Urgencias``, is blank if lists hardly ever find something below this header.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bootstrap.data.representativeness import has_entities
from corpus.batch import NO_VALUE, Batch
from corpus.ragged import count_by_row
from taggers.annotators.lines import LineHeaders
from taggers.base import Tagger

#: The tagger itself judges headers of so many documents of the seed.
_KNOWN = 3
#: Headers of fewer unlabeled documents are not judged.
_LEAST = 5
#: The share of the documents below a header with finds of lists, from which on it is not blank.
_SUPPORT = 0.15


def missing_blanks(gold: Batch, validation: Batch) -> int:
    """Return how many blank documents the seed lacks to have validation's share of them."""
    share = 1 - float(has_entities(validation).mean())
    blank = len(gold) - int(has_entities(gold).sum())
    return max(round((share * len(gold) - blank) / max(1 - share, 1 / len(validation))), 0)


def blank_documents(
    pool: Batch, gold: Batch, lists: Tagger, number: int, rng: np.random.Generator
) -> Batch:
    """Return unlabeled documents that are almost certainly blank, tagged as such.

    A document with a header (see `taggers.annotators.LineHeaders`) is blank if the header is new to
    the seed, and lists find something in hardly any document that has it. Another one is blank if
    lists find nothing in it, and no word but the first begins with a capital or has an ``@``.

    Parameters
    ----------
    pool : Batch
        Unlabeled documents.
    gold : Batch
        The seed, whose labels the result has.
    lists : Tagger
        The tagger of lists.
    number : int
        The most documents, drawn at random.
    rng : Generator
        The source of randomness.
    """
    headers, seen = _headers(pool), _headers(gold)
    names, counts = np.unique(seen, return_counts=True)
    known = set(names[counts >= _KNOWN].tolist())
    is_listed = lists.tag(pool).tags > 0
    words = [word[:1].isupper() or "@" in word for word in pool.vocabulary]
    telling = np.array([*words, False], bool)[pool.word_ids]
    telling[pool.document_offsets[:-1][pool.lengths > 0]] = False
    names, places, counts = np.unique(headers, return_inverse=True, return_counts=True)
    has_finds = count_by_row(is_listed, pool.document_offsets) > 0
    hits = np.bincount(places, has_finds, len(names))
    is_new = np.array([name not in known for name in names.tolist()], bool)
    blank_header = is_new & (counts >= _LEAST) & (hits < _SUPPORT * counts)
    has_header = headers != ""
    is_empty = count_by_row(is_listed | telling, pool.document_offsets) == 0
    blank = np.where(has_header, blank_header[places], is_empty)
    rows = rng.permutation(np.flatnonzero(blank & (pool.lengths > 0)))[:number]
    chosen = pool.take(np.sort(rows))
    return chosen.with_tags(np.zeros(chosen.n_tokens, np.int16), gold.labels)


def _headers(batch: Batch) -> npt.NDArray[np.str_]:
    """Return the header of the first line of each document; empty without one."""
    stream = LineHeaders().annotate(batch)
    values = np.append(stream.values, NO_VALUE)[batch.document_offsets[:-1]]
    values[batch.lengths == 0] = NO_VALUE
    headers: npt.NDArray[np.str_] = np.array([*stream.vocabulary, ""], str)[values]
    return headers

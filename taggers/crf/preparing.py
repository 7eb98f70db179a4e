"""Compiling what a CRF needs before there are notes for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from corpus import tokens
from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.streams import Stream
from corpus.tags import UNKNOWN
from taggers.annotators import Phrases

if TYPE_CHECKING:
    from taggers.crf.tagger import CRFTagger

#: So many words are enough for what few-valued features add to be added up together.
_WORDS = tuple(map("".join, product("abcdefgh", repeat=2)))


def compile_all(tagger: CRFTagger, needed: Sequence[str]) -> None:
    """Do all that compiles something on a few tokens.

    Parameters
    ----------
    tagger : CRFTagger
        Not trained yet, with options that fit so few tokens.
    needed : sequence of str
        The streams that it looks at.
    """
    tokens.prepare()
    batch = _batch(needed)
    rng = np.random.default_rng(0)
    tagger.fit(batch, rng=rng)
    if tagger.options.engine == "wordtype":
        before = type(tagger)(tagger.options).fit(batch, rng=rng)
        unknown = np.append(np.int16(UNKNOWN), batch.tags[1:])
        tagger.fit(replace(batch, tags=unknown), start=before, rng=rng)
    for detail in ("entity", "labels"):
        tagger.tag(batch, detail=detail)


def compile_phrases() -> None:
    """Do all that compiles something where phrases are looked for."""
    Phrases({"A": ("a b",)}).annotate(make_batch([Document("", "a b")], labelled=False))


def _batch(needed: Sequence[str]) -> Batch:
    """Make two documents of words that stand for themselves."""
    number = len(_WORDS)
    strings = pa.array(["a", "b"], pa.large_string())
    offsets = np.arange(number, dtype=np.int32)
    return Batch(
        strings, strings, strings, _WORDS, offsets, offsets, offsets + 1,
        np.array([0, number // 2, number], np.int64), (offsets % 3).astype(np.int16),
        ("O", "B-A", "I-A"), streams=dict.fromkeys(needed, Stream(("a", "b"), offsets % 2)),
    )  # fmt: skip

"""Compiling what taggers of dictionaries need before there are notes for them."""

from __future__ import annotations

import numpy as np

from corpus import tokens
from corpus.kernels.hash_index import Vocabulary, hashed
from taggers.dictionaries.greedy_decoding import walk


def compile_walk() -> None:
    """Do all that compiles something on a few tokens."""
    tokens.prepare()
    Vocabulary(hashed("", ["a"])).codes(hashed("", ["a"]))
    none, flags = np.zeros(1), np.zeros(1, bool)
    words, documents = np.zeros(1, np.int32), np.array([0, 1], np.int64)
    walk(words, documents, none, flags, flags, 1.0, 1.0, np.zeros(1, np.int16), none)

"""Tagging schemes of CoNLL files: IOB1, BIO (IOB2) and BIOES, detected and checked.

In BIO every entity begins with ``B-``. In IOB1 it begins with ``I-``, and with ``B-`` only where it
directly follows another entity of its class. In BIOES its last token is ``E-``, and one token alone
``S-``; BILOU writes ``L-`` and ``U-`` instead.

Tags are read as conlleval reads them: an ``I-`` after no entity of its class begins one, also in a
file of BIO, where it is an error of the annotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

Scheme = Literal["IOB1", "BIO", "BIOES"]

#: Prefix and class of a tag; both are empty outside of entities.
Tag: TypeAlias = tuple[str, str]

OUTSIDE: Tag = ("", "")
_TAG = re.compile(r"([BIESLU])-(\S+)")
_PREFIXES = {"L": "E", "U": "S"}


def parsed_tag(text: str) -> Tag | None:
    """Return the prefix and class of a tag; None if it is no tag."""
    if text == "O":
        return OUTSIDE
    match = _TAG.fullmatch(text)
    return (_PREFIXES.get(match[1], match[1]), match[2]) if match else None


def detect_scheme(tags: Iterable[Tag]) -> Scheme:
    """Detect the scheme of the tags of a file, which are `OUTSIDE` between its sentences."""
    before, prefixes = "", set()
    for prefix, label in tags:
        if prefix in ("E", "S"):
            return "BIOES"
        if label != before:
            prefixes.add(prefix)
        before = label
    return "IOB1" if "I" in prefixes and "B" not in prefixes else "BIO"


def beginning_inside(tags: Sequence[Tag]) -> list[int]:
    """Return the indices of tags ``I-`` after no entity of their class."""
    pairs = zip(tags, [OUTSIDE, *tags], strict=False)
    return [i for i, (tag, before) in enumerate(pairs) if tag[0] == "I" and tag[1] != before[1]]


def entities_of(tags: Sequence[Tag]) -> list[tuple[int, int, str]]:
    """Return the first and last token and the class of each entity of a sentence."""
    entities: list[tuple[int, int, str]] = []
    before = ""
    for index, (prefix, label) in enumerate(tags):
        if prefix in ("B", "S") or (label and label != before):
            entities.append((index, index, label))
        elif label:
            entities[-1] = (entities[-1][0], index, label)
        before = label
    return entities


def fault_in_bioes(tags: Sequence[Tag]) -> int | None:
    """Return the index of the first tag that contradicts BIOES, if any."""
    opened = ""
    for index, (prefix, label) in enumerate(tags):
        expected = opened if prefix in ("I", "E") else ""
        if opened != expected or (prefix in ("I", "E") and label != opened):
            return index
        opened = label if prefix in ("B", "I") else ""
    return len(tags) - 1 if opened else None

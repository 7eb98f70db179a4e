"""Tagging schemes of CoNLL files: IOB1, BIO (IOB2) and BIOES, detected and checked.

In BIO every entity begins with ``B-``. In IOB1 it begins with ``I-``, and with ``B-`` only where it
directly follows another entity of its class. In BIOES its last token is ``E-``, and one token alone
``S-``; BILOU writes ``L-`` and ``U-`` instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from corpus.errors import InputError

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


def detect_scheme(tags: Iterable[tuple[int, Tag]], file: str) -> Scheme:
    """Detect the scheme of the tags of a file.

    Parameters
    ----------
    tags : iterable of (int, Tag)
        The line and the tag of each token; `OUTSIDE` between sentences.
    file : str
        The name of the file, for messages.

    Raises
    ------
    InputError
        If the tags follow neither IOB1 nor BIO.
    """
    inside = begin = None
    before: Tag = OUTSIDE
    for line, (prefix, label) in tags:
        if prefix in ("E", "S"):
            return "BIOES"
        follows = label == before[1]
        if prefix == "I" and not follows:
            inside = inside or line
        if prefix == "B" and not follows:
            begin = begin or line
        if inside and begin:
            raise InputError(
                f"{file}: the tags follow no single scheme: an entity begins with I- in line "
                f"{inside}, as in IOB1, and with B- after no entity of its class in line {begin}, "
                f"as in BIO; correct the file"
            )
        before = (prefix, label)
    return "IOB1" if inside else "BIO"


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

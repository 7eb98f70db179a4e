"""Options of the taggers that start from dictionaries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from corpus.errors import InputError
from gazetteers.builtin import BLOCKING, STARTER

_NAMES: dict[str, Any] = {
    "help": "gazetteers of names: files of bootstrap gazetteer import (see docs/gazetteers.md); "
    f'"{STARTER}" is a small list that comes along',
}
_CLASSES: dict[str, Any] = {"help": "which classes of the gazetteers; all if none is named"}
_LABEL: dict[str, Any] = {"help": "the class that names are tagged as"}
_BLOCKED: dict[str, Any] = {
    "help": "gazetteers of phrases with which no name begins: diseases that are called after "
    f'somebody, months, hospitals, streets; "{BLOCKING}" is a list that comes along'
}
_COUNTS: dict[str, Any] = {
    "help": "counts of the words of all notes: a file of bootstrap count; counted if none is named"
}


def _refuse_nothing(names: tuple[str, ...], label: str) -> None:
    if not names:
        raise InputError(
            f'names is empty: name gazetteers, such as names = ["names.parquet"], or "{STARTER}"'
        )
    _refuse_unnamed("names", names)
    if not label or any(character.isspace() for character in label):
        raise InputError(f"label = {label!r}: expected the name of a class, such as PERSON")


def _refuse_unnamed(option: str, paths: tuple[str, ...]) -> None:
    if "" in paths:
        raise InputError(f'{option} names "": expected paths of gazetteers')


@dataclass(frozen=True, slots=True)
class DivergenceOptions:
    """Options of the frequency-divergence model; every field is a key of ``[start]``."""

    names: tuple[str, ...] = field(default=(), metadata=_NAMES)
    classes: tuple[str, ...] = field(default=(), metadata=_CLASSES)
    label: str = field(default="PERSON", metadata=_LABEL)
    blocked: tuple[str, ...] = field(default=(BLOCKING,), metadata=_BLOCKED)
    counts: str = field(default="", metadata=_COUNTS)
    threshold: float = field(
        default=2.0,
        metadata={
            "help": "a word whose divergence is this or more is no name: the logarithm of how many "
            "times as often it occurs as a name of its frequency would",
            "least": 0.01,
        },
    )
    threshold_after: float = field(
        default=3.5, metadata={"help": "the same after a word of a name", "least": 0.01}
    )
    smoothing: float = field(
        default=0.3,
        metadata={
            "help": "added to both numbers before they are compared: the more, the less is made "
            "of a few occurrences",
            "least": 0.001,
        },
    )

    def __post_init__(self) -> None:
        _refuse_nothing(self.names, self.label)
        _refuse_unnamed("blocked", self.blocked)


@dataclass(frozen=True, slots=True)
class DictionaryOptions:
    """Options of the binary dictionary model; every field is a key of ``[start]``."""

    names: tuple[str, ...] = field(default=(), metadata=_NAMES)
    classes: tuple[str, ...] = field(default=(), metadata=_CLASSES)
    label: str = field(default="PERSON", metadata=_LABEL)
    blocked: tuple[str, ...] = field(default=(BLOCKING,), metadata=_BLOCKED)
    counts: str = field(default="", metadata=_COUNTS)
    bearers: int = field(
        default=20, metadata={"help": "words that fewer bear are no names", "least": 1}
    )
    not_names: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "gazetteers of words that are no names; without any, words that are frequent "
            "in the notes and rare among names"
        },
    )
    frequent: float = field(
        default=1e-5,
        metadata={
            "help": "a word is frequent in the notes if this share of the tokens is it",
            "least": 0,
            "most": 1,
        },
    )
    rare: float = field(
        default=1e-4,
        metadata={
            "help": "a word is rare among names if a smaller share of their words is it",
            "least": 0,
            "most": 1,
        },
    )

    def __post_init__(self) -> None:
        _refuse_nothing(self.names, self.label)
        _refuse_unnamed("blocked", self.blocked)
        _refuse_unnamed("not_names", self.not_names)

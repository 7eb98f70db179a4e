"""The grammar of mentions: words that recognize the kind of a mention, and compose a new one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from corpus.errors import InputError, shown
from corpus.storage.toml_tables import parse_toml
from gazetteers.folding import fold

_SHIPPED = "grammar.toml"
#: What the tables of a grammar may hold: tables by any name, lists of words, or these keys.
_WORDS: list[str] = []
_BY_NAME = {"": _WORDS}
_PLACE = {"heads": _BY_NAME, "ends": _BY_NAME, "tails": _WORDS, "fillers": _WORDS}
_GRAMMAR = {"particles": _BY_NAME, "names": _BY_NAME, "kinds": {"": _PLACE}}
_MAY_BE_EMPTY = ("tails", "fillers")


@dataclass(frozen=True, slots=True)
class PlaceWords:
    """The words of a kind of place, which is a class of gazetteers.

    Parameters
    ----------
    heads, ends : mapping of str to tuple of str
        The first or last words of its terms, folded, and how notes write them.
    tails : frozenset of str
        Folded words that begin what follows the name.
    fillers : tuple of str
        Classes and kinds of names that such places are named after.
    """

    heads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ends: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tails: frozenset[str] = frozenset()
    fillers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grammar:
    """The words that recognize and compose mentions.

    Parameters
    ----------
    particles : frozenset of str
        Folded words that are in lower case within a name in title case.
    names : mapping of str to tuple of str
        The kinds of names that are composed word by word, each with the classes of its words.
    places : mapping of str to PlaceWords
        The kinds of places, by the class of gazetteers.
    """

    particles: frozenset[str]
    names: Mapping[str, tuple[str, ...]]
    places: Mapping[str, PlaceWords]

    @classmethod
    def read(cls, path: Path | None = None) -> Grammar:
        """Read the grammar of the package, extended by that of a user.

        Parameters
        ----------
        path : Path, optional
            A TOML file with the tables of ``grammar.toml``. Its lists are appended to those of the
            package.

        Raises
        ------
        InputError
            If the file is missing, is not TOML or has a key or a value that a grammar does not
            have.
        """
        shipped = files("taggers.augmentation").joinpath(_SHIPPED).read_bytes()
        tables = parse_toml(shipped, _SHIPPED)
        if path is not None:
            try:
                content = path.read_bytes()
            except OSError:
                raise InputError(
                    f"{shown(path)} is not there or cannot be read; expected a grammar"
                ) from None
            own = parse_toml(content, shown(path))
            _check(own, _GRAMMAR, f"{shown(path)}:")
            tables = _merged(tables, own)
        return cls(
            particles=frozenset(_folded(tables["particles"].values())),
            names={kind: tuple(classes) for kind, classes in tables["names"].items()},
            places={kind: _place(table) for kind, table in tables["kinds"].items()},
        )

    @property
    def name_classes(self) -> frozenset[str]:
        """The classes of gazetteers whose terms are words of names."""
        return frozenset(name for classes in self.names.values() for name in classes)


def _check(value: Any, expected: Mapping[str, Any] | list[str], where: str) -> None:
    """Check the keys and the types of a table, and of what is in it."""
    if isinstance(expected, list):
        empty = where.endswith(_MAY_BE_EMPTY)
        words = isinstance(value, list) and (value or empty)
        if not words or not all(isinstance(word, str) and _has_letter(word) for word in value):
            raise InputError(f"{where} is not a list of strings with letters; expected one")
        return
    if not isinstance(value, dict):
        raise InputError(f"{where} is not a table; expected one")
    for key, part in value.items():
        if key not in expected and ("" not in expected or not _has_letter(key)):
            known = ", ".join(filter(None, expected)) or "a name with letters"
            raise InputError(f"{where} there is no key {shown(key)}; expected {known}")
        _check(part, expected.get(key, expected.get("")), f"{where} {shown(key)}")


def _has_letter(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _merged(ours: Any, theirs: Any) -> Any:
    """Merge tables by key, and lists by appending new members."""
    if isinstance(ours, dict):
        common = {key: _merged(ours[key], theirs[key]) for key in ours if key in theirs}
        return {**ours, **theirs, **common}
    return list(dict.fromkeys([*ours, *theirs]))


def _folded(lists: Iterable[list[str]]) -> list[str]:
    return fold([word for words in lists for word in words])


def _place(table: Mapping[str, Any]) -> PlaceWords:
    heads, ends = (
        {fold([key])[0]: tuple(forms) for key, forms in table.get(name, {}).items()}
        for name in ("heads", "ends")
    )
    tails = frozenset(_folded([table.get("tails", [])]))
    return PlaceWords(heads, ends, tails, tuple(table.get("fillers", [])))

"""The grammar of mentions: words that recognize the kind of a mention, and compose a new one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from corpus.errors import InputError, shown
from corpus.storage.toml_tables import parse_toml
from gazetteers.folding import fold

_SHIPPED = "grammar.toml"
_TABLES = ("particles", "names", "kinds")
_LISTS, _FORMS = ("fillers", "tails"), ("heads", "ends")


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

    heads: Mapping[str, tuple[str, ...]]
    ends: Mapping[str, tuple[str, ...]]
    tails: frozenset[str]
    fillers: tuple[str, ...]


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
        shipped = files("taggers.augmentation").joinpath(_SHIPPED).read_text(encoding="utf-8")
        tables = _checked(tomllib.loads(shipped), _SHIPPED)
        if path is not None:
            tables = _merged(tables, _checked(_parse(path), shown(path)))
        return cls(
            particles=frozenset(_folded(tables["particles"].values())),
            names={kind: tuple(classes) for kind, classes in tables["names"].items()},
            places={kind: _place(table) for kind, table in tables["kinds"].items()},
        )

    @property
    def name_classes(self) -> frozenset[str]:
        """The classes of gazetteers whose terms are words of names."""
        return frozenset(name for classes in self.names.values() for name in classes)


def _parse(path: Path) -> dict[str, Any]:
    try:
        return parse_toml(path.read_bytes(), shown(path))
    except OSError:
        raise InputError(
            f"{shown(path)} is not there or cannot be read; expected a grammar"
        ) from None
    except InputError as error:
        raise InputError(f"{error}; expected a grammar") from None


def _checked(tables: dict[str, Any], file: str) -> dict[str, Any]:
    """Check the keys and the types of all values."""
    _check_keys(tables, _TABLES, f"{file}: ")
    for name in ("particles", "names"):
        for key, value in _table(tables.get(name, {}), f"{file}: [{name}]").items():
            _check_strings(value, f"{file}: [{name}] {shown(key)}")
    for kind, table in _table(tables.get("kinds", {}), f"{file}: [kinds]").items():
        where = f"{file}: [kinds.{shown(kind)}]"
        _check_keys(_table(table, where), (*_LISTS, *_FORMS), f"{where} ")
        for name in _LISTS:
            _check_strings(table.get(name, []), f"{where} {name}", empty=True)
        for name in _FORMS:
            for key, value in _table(table.get(name, {}), f"{where} {name}").items():
                _check_strings(value, f"{where} {name}: {shown(key)}")
                if not _is_word(key):
                    raise InputError(
                        f'{where} {name} has the key "{shown(key)}"; expected words with letters'
                    )
    return tables


def _check_keys(table: dict[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(f"{where}there is no key {shown(key)}; expected {', '.join(known)}")


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where} is {_type_of(value)}; expected a table")
    return value


def _check_strings(value: Any, where: str, *, empty: bool = False) -> None:
    if not isinstance(value, list) or not (value or empty):
        found = "an empty list" if value == [] else _type_of(value)
        raise InputError(f"{where} is {found}; expected a list of strings")
    for each in value:
        if not isinstance(each, str) or not _is_word(each):
            found = f'"{shown(each)}"' if isinstance(each, str) else _type_of(each)
            raise InputError(f"{where} lists {found}; expected strings with letters")


def _is_word(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _type_of(value: Any) -> str:
    names = {str: "a string", list: "a list", dict: "a table", bool: "a boolean", int: "a number"}
    return names.get(type(value), f"a {type(value).__name__}")


def _merged(ours: Any, theirs: Any) -> Any:
    """Merge tables by key, and lists by appending new members."""
    if isinstance(ours, dict):
        common = {key: _merged(ours[key], theirs[key]) for key in ours if key in theirs}
        return {**ours, **theirs, **common}
    return list(dict.fromkeys([*ours, *theirs]))


def _folded(lists: Any) -> list[str]:
    return fold([word for words in lists for word in words])


def _place(table: dict[str, Any]) -> PlaceWords:
    heads, ends = (
        {fold([key])[0]: tuple(forms) for key, forms in table.get(name, {}).items()}
        for name in _FORMS
    )
    return PlaceWords(
        heads=heads,
        ends=ends,
        tails=frozenset(_folded([table.get("tails", [])])),
        fillers=tuple(table.get("fillers", [])),
    )

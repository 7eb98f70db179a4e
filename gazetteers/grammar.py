"""The grammar of mentions: words that recognize the kind of a mention, and compose a new one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Self

import msgspec

from corpus.errors import InputError
from corpus.storage.fields import parse_toml
from gazetteers.folding import fold

_SHIPPED = "grammar.toml"
_Word = Annotated[str, msgspec.Meta(pattern=r"[^\W\d_]")]
_Words = Annotated[tuple[_Word, ...], msgspec.Meta(min_length=1)]


class PlaceWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of a kind of place, which is a class of gazetteers.

    Parameters
    ----------
    heads : dict of str to tuple of str
        The first words of its terms, folded, and how notes write them.
    tails : tuple of str
        Folded words that begin what follows the name.
    """

    heads: dict[_Word, _Words] = {}
    tails: tuple[_Word, ...] = ()


class _Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    particles: dict[_Word, _Words] = {}
    names: dict[_Word, _Words] = {}
    kinds: dict[_Word, PlaceWords] = {}


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
    def read(cls, path: Path | None = None) -> Self:
        """Read the grammar of the package, extended by a user's grammar.

        Parameters
        ----------
        path : Path, optional
            A TOML file with the tables of ``grammar.toml``. Its lists are appended to the lists of
            the package.

        Raises
        ------
        InputError
            If the file is missing, is not TOML or has a key or a value that a grammar does not
            have.
        """
        shipped = (files("gazetteers") / "resources" / _SHIPPED).read_bytes()
        tables = parse_toml(shipped, _SHIPPED)
        if path is not None:
            try:
                own = parse_toml(path.read_bytes(), str(path))
                msgspec.convert(own, _Tables)
            except OSError:
                raise InputError(
                    f"{path} is not there or cannot be read; expected a grammar"
                ) from None
            except msgspec.ValidationError as error:
                raise InputError(
                    f"{path}: {error}; expected tables like those of the built-in "
                    "grammar (bootstrap help augmentation)"
                ) from None
            tables = _merged(tables, own)
        grammar = msgspec.convert(tables, _Tables)
        return cls(
            frozenset(word for words in grammar.particles.values() for word in fold(words)),
            grammar.names,
            {
                name: PlaceWords(
                    {fold([head])[0]: forms for head, forms in words.heads.items()},
                    tuple(fold(words.tails)) if words.tails else (),
                )
                for name, words in grammar.kinds.items()
            },
        )

    @property
    def place_words(self) -> frozenset[str]:
        """The folded words that say what a place is, and not which one."""
        texts = [
            text
            for words in self.places.values()
            for forms in (words.heads, words.tails, *words.heads.values())
            for text in forms
        ]
        return frozenset(re.findall(r"\w+", " ".join(fold(texts))))

    @property
    def name_classes(self) -> frozenset[str]:
        """The classes of gazetteers whose terms are words of names."""
        return frozenset(name for classes in self.names.values() for name in classes)


def _merged(ours: Any, theirs: Any) -> Any:
    """Merge tables by key, and lists by appending new members."""
    if isinstance(ours, dict):
        common = {key: _merged(ours[key], theirs[key]) for key in ours if key in theirs}
        return {**ours, **theirs, **common}
    return list(dict.fromkeys([*ours, *theirs]))

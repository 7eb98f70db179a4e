"""Options of the augmentation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from corpus.errors import InputError
from gazetteers.builtin import CENSUS, PLACES
from taggers.options import path_fields


@dataclass(frozen=True, slots=True)
class AugmentOptions:
    """Options of the augmentation; every field is a key of ``[augment]``."""

    copies: int = field(
        default=20,
        metadata={
            "help": "copies of each gold document with entities, in which mentions are replaced; "
            "0 is no augmentation (bootstrap help augmentation)",
            "least": 0,
        },
    )
    weight: float = field(
        default=1.0,
        metadata={
            "help": "weight of all copies of a document together, relative to the document",
            "least": 0,
        },
    )
    replace: float = field(
        default=0.9,
        metadata={
            "help": "probability that a mention of a copy is replaced",
            "least": 0,
            "most": 1,
        },
    )
    own: float = field(
        default=0.25,
        metadata={
            "help": "share of the replacements that are other gold mentions of the same kind; the "
            "rest is drawn from the gazetteers",
            "least": 0,
            "most": 1,
        },
    )
    gazetteers: tuple[str, ...] = field(
        default=(CENSUS, PLACES),
        metadata={
            "help": "gazetteers whose terms recognize and replace mentions (bootstrap help "
            "gazetteers)",
            "path": True,
            "builtin": (CENSUS, PLACES),
        },
    )
    grammar: str = field(
        default="",
        metadata={
            "help": "a TOML file that extends the words for kinds of streets and places (bootstrap "
            "help augmentation)",
            "path": True,
        },
    )

    def __post_init__(self) -> None:
        if self.copies < 0:
            raise InputError(f"copies = {self.copies}: expected 0 or more")
        if not 0 <= self.weight < math.inf:
            raise InputError(f"weight = {self.weight}: expected a finite number of 0 or more")
        for name in ("replace", "own"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} = {getattr(self, name)}: expected 0 to 1")
        if "" in self.gazetteers:
            raise InputError('gazetteers names "": expected paths of gazetteers')

    def files(self) -> Mapping[str, Sequence[Path]]:
        """Return the files that the augmentation reads, by the option that names them."""
        builtin = path_fields(type(self))["gazetteers"]
        found = {
            "gazetteers": [Path(each) for each in self.gazetteers if each not in builtin],
            "grammar": [Path(self.grammar)] if self.grammar else [],
        }
        return {name: paths for name, paths in found.items() if paths}

    def check(self) -> None:
        """Read the gazetteers and the grammar, before a run starts.

        Raises
        ------
        InputError
            If one of them is missing or invalid.
        """
        from gazetteers.builtin import read_gazetteer  # noqa: PLC0415 - pyarrow is slow to import
        from taggers.augmentation.grammar import Grammar  # noqa: PLC0415 - not always used

        for path in self.gazetteers:
            read_gazetteer(path)
        Grammar.read(Path(self.grammar) if self.grammar else None)

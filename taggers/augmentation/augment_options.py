"""Options of the augmentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.errors import InputError
from gazetteers.builtin import CENSUS, CENSUS_US, PLACES, PLACES_WORLD
from taggers.options import option, path_fields


@dataclass(frozen=True, slots=True)
class AugmentOptions:
    """Options of the augmentation; every field is a key of ``[augment]``."""

    copies: int = option(
        20,
        "copies of each gold document with entities, in which mentions are replaced, or fewer if "
        "these documents have many tokens; 0 is no augmentation (bootstrap help augmentation)",
        least=0,
    )
    weight: float = option(
        1.0, "weight of all copies of a document together, relative to the document", least=0
    )
    replace: float = option(
        0.9, "probability that a mention of a copy is replaced", least=0, most=1
    )
    own: float = option(
        0.25,
        "share of the replacements that are other gold mentions of the same kind; the rest is "
        "drawn from the gazetteers",
        least=0,
        most=1,
    )
    gazetteers: tuple[str, ...] = option(
        (CENSUS, PLACES),
        "gazetteers whose terms recognize and replace mentions (bootstrap help gazetteers)",
        path=(CENSUS, CENSUS_US, PLACES, PLACES_WORLD),
    )
    grammar: str = option(
        "",
        "a TOML file that extends the words for kinds of streets and places (bootstrap help "
        "augmentation)",
        path=True,
    )

    def __post_init__(self) -> None:
        if "" in self.gazetteers:
            raise InputError('gazetteers names "": expected paths of gazetteers')

    def training_files(self) -> Mapping[str, Sequence[Path]]:
        """Return the files that the augmentation reads, by the option that names them."""
        builtin = path_fields(type(self))["gazetteers"]
        paths = {
            "gazetteers": [Path(name) for name in self.gazetteers if name not in builtin],
            "grammar": [Path(self.grammar)] if self.grammar else [],
        }
        return {name: named for name, named in paths.items() if named}

    def check(self) -> None:
        """Read the gazetteers and the grammar, before a run starts.

        Raises
        ------
        InputError
            If one of them is missing or invalid.
        """
        from gazetteers.builtin import read_gazetteer  # noqa: PLC0415 - pyarrow is slow to import
        from gazetteers.grammar import Grammar  # noqa: PLC0415 - not always used

        for path in self.gazetteers:
            read_gazetteer(path)
        Grammar.read(Path(self.grammar) if self.grammar else None)

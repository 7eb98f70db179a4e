"""The content of a report: sections of figures, tables and text, before it is a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from bootstrap.reports.figures import Figure, Matrix
from bootstrap.reports.tables import Table

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of text; a note is set apart from the results."""

    text: str
    is_note: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """A titled list of lines."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A text that is shown as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An error in its text.

    Parameters
    ----------
    where : str
        The document and the offsets.
    what : str
        The kind of error and the classes.
    parts : tuple of (str, str)
        Texts, each with what it is: ``""``, ``"gold"``, ``"predicted"`` or ``"both"``.
    """

    where: str
    what: str
    parts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A figure, with the table of its numbers beside it if it has one."""

    figure: Figure | Matrix
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Folded:
    """Details that are shown when they are opened."""

    title: str
    blocks: tuple[Block, ...]


Block = Paragraph | Bullets | Code | Excerpt | Pair | Table | Folded


@dataclass(frozen=True, slots=True)
class Tile:
    """A key figure: its label, its value, and what qualifies it."""

    label: str
    value: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its title and its blocks."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A report: sentences with the result first, key figures, and sections with all else."""

    title: str
    subtitle: str
    outcome: tuple[str, ...]
    tiles: tuple[Tile, ...]
    sections: tuple[Section, ...]

    @property
    def figures(self) -> dict[str, Figure | Matrix]:
        """All figures by name; the second of a name ends in "-2"."""
        pairs = (block for block in self._blocks() if isinstance(block, Pair))
        return numbered((block.figure.name, block.figure) for block in pairs)

    @property
    def tables(self) -> dict[str, Table]:
        """All tables by name, as figures are."""
        blocks = (block.table if isinstance(block, Pair) else block for block in self._blocks())
        return numbered((block.name, block) for block in blocks if isinstance(block, Table))

    def _blocks(self) -> Iterator[Block]:
        for section in self.sections:
            yield from _unfolded(section.blocks)


def numbered(items: Iterable[tuple[str, _Item]]) -> dict[str, _Item]:
    """Return items by name, where the second of a name ends in "-2"."""
    numbers, named = Counter[str](), dict[str, _Item]()
    for name, item in items:
        numbers[name] += 1
        named[name if numbers[name] == 1 else f"{name}-{numbers[name]}"] = item
    return named


def _unfolded(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        if isinstance(block, Folded):
            yield from _unfolded(block.blocks)


def pair(figure: Figure | Matrix | None, table: Table | None) -> tuple[Block, ...]:
    """Return a figure with its table beside it, or what there is of them."""
    if figure:
        return (Pair(figure, table),)
    return (table,) if table else ()

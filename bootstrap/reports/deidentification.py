"""The report of de-identified notes, and notes before and after if the user asks for their text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from anonymizers.anonymizer import Counts
from anonymizers.spans import Spans
from bootstrap.deidentification.deidentify import Deidentified
from bootstrap.deidentification.report import Report as Numbers
from bootstrap.reports.content import Block, Excerpt, Folded, Paragraph, Report, Section, Tile
from bootstrap.reports.tables import Table
from corpus.errors import quoted

#: The notes that are shown if none are named.
_SHOWN = 20
#: The words in doubt that the page names; all of them are in the JSON file.
_DOUBTS = 500


def deidentification_report(numbers: Numbers, texts: Sequence[Block] = ()) -> Report:
    """Build the report of de-identified notes.

    Parameters
    ----------
    numbers : bootstrap.deidentification.report.Report
        The numbers of all notes.
    texts : sequence of Block
        Notes with their text, if the user asks for it.
    """
    first, second = numbers.first, numbers.second
    tiles = [
        Tile("notes", f"{first.notes:,}", f"{first.changed:,} with mentions"),
        Tile("mentions", f"{first.mentions.total():,}", "replaced"),
        Tile("second pass", f"{second.mentions.total():,}", "found in the output and replaced"),
    ]
    if numbers.estimate and numbers.estimate.notes:
        share = numbers.estimate.leaking / numbers.estimate.notes
        tiles.append(Tile("notes that leak", f"{share:.1%}", "estimated on annotated notes"))
    sections = {
        "What was replaced": (_mentions_table("mentions", "Mentions", first),),
        "What the second pass found": _second(second),
        "Words in doubt": _doubts(numbers),
        "Before and after": tuple(texts),
    }
    return Report(
        title="De-identified notes",
        subtitle=f"policy {numbers.policy}"
        + (f", key {numbers.fingerprint}" if numbers.fingerprint else ""),
        outcome=tuple(numbers.lines()),
        tiles=tuple(tiles),
        sections=tuple(Section(title, blocks) for title, blocks in sections.items() if blocks),
    )


def _mentions_table(name: str, title: str, counts: Counts) -> Table:
    return Table.from_items(
        name,
        title,
        sorted(counts.mentions.items(), key=lambda item: (item[0][0], -item[1])),
        [
            ("class", "text", lambda item: item[0][0]),
            ("found by", "text", lambda item: item[0][1]),
            ("operator", "text", lambda item: item[0][2]),
            ("outcome", "text", lambda item: item[0][3]),
            ("mentions", "count", lambda item: item[1]),
        ],
        "Outcome: what is not replaced by the operator of the policy becomes a placeholder.",
    )


def _second(counts: Counts) -> tuple[Block, ...]:
    return (_mentions_table("second-pass", "Second pass", counts),) if counts.mentions else ()


def _doubts(numbers: Numbers) -> tuple[Block, ...]:
    if not numbers.doubts:
        return ()
    shown = numbers.doubts[:_DOUBTS]
    table = Table.from_items(
        "doubts",
        "Words in doubt",
        shown,
        [
            ("document", "text", lambda doubt: quoted(doubt.document)),
            ("start", "count", lambda doubt: doubt.start),
            ("end", "count", lambda doubt: doubt.end),
            ("probability", "number", lambda doubt: doubt.probability),
        ],
        "Offsets in the output. Probability: of being outside of all mentions.",
    )
    note = (
        f"{len(numbers.doubts):,} words stay in the output although the model was not sure that "
        f"they may. The {len(shown):,} with the lowest probability:"
    )
    return (Paragraph(note), Folded("Documents and offsets", (table,)))


class ShownNotes:
    """Notes that are kept with their text, before and after.

    Parameters
    ----------
    ids : collection of str
        Their ids; if empty, the first notes in which something is replaced.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = {*ids}
        self._notes: list[tuple[str, Excerpt, Excerpt]] = []

    def watched(
        self, results: Iterable[tuple[pa.RecordBatch, Deidentified]]
    ) -> Iterator[tuple[pa.RecordBatch, Deidentified]]:
        """Yield results as they are, and keep the notes to show."""
        for notes, result in results:
            for row, name in enumerate(notes.column("id").to_pylist()):
                is_shown = name in self._ids if self._ids else len(self._notes) < _SHOWN
                if is_shown and (self._ids or len(result.notes.column("starts")[row])):
                    self._notes.append(_note(name, notes, result, row))
            yield notes, result

    @property
    def missing(self) -> int:
        """The number of ids that no note has."""
        return len(self._ids - {name for name, *_ in self._notes})

    def blocks(self) -> tuple[Block, ...]:
        """Return the notes, each before and after."""
        return tuple(Folded(quoted(name), (before, after)) for name, before, after in self._notes)


def _note(
    name: str, notes: pa.RecordBatch, result: Deidentified, row: int
) -> tuple[str, Excerpt, Excerpt]:
    """Return a note before and after, with its spans."""
    where = quoted(name)
    before = _marked(notes.column("text")[row].as_py(), result.originals, row, "gold")
    after = _marked(result.notes.column("text")[row].as_py(), result.spans, row, "predicted")
    return name, Excerpt(where, "before", before), Excerpt(where, "after", after)


def _marked(text: str, spans: Spans, row: int, side: str) -> tuple[tuple[str, str], ...]:
    """Return the parts of a text: what is between spans, the spans, and what these are."""
    parts, end = [], 0
    own = spans.take(np.flatnonzero(spans.rows == row))
    columns = (own.starts.tolist(), own.ends.tolist(), own.labels, own.sources)
    for start, stop, label, source in zip(*columns, strict=True):
        parts += [(text[end:start], ""), (text[start:stop], side), (f"{label}, {source}", "label")]
        end = stop
    return (*parts, (text[end:], ""))

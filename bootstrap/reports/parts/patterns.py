"""The patterns before the taggers of a run, and which of them are trusted."""

from __future__ import annotations

from bootstrap.data.pattern_trust import PatternTrust
from bootstrap.reports.content import Block, Paragraph
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.tables import Table


def pattern_blocks(record: RunRecord) -> tuple[Block, ...]:
    """Return the patterns that are trusted or have spans, and the F1 where none was decided."""
    decisions = record.run.patterns()
    shown = [row for row in decisions if row.is_trusted or row.spans or row.other_spans]
    if not shown:
        return ()
    table = Table.from_items(
        "patterns",
        "Patterns",
        sorted(shown, key=lambda row: (not row.is_trusted, row.label, -row.spans)),
        [
            ("class", "text", lambda row: row.label),
            ("expression", "text", _expression),
            ("tagged as", "text", lambda row: row.tagged_as or "no entity"),
            ("trusted", "text", lambda row: "yes" if row.is_trusted else "no"),
            ("spans", "count", lambda row: row.spans),
            ("right", "count", lambda row: row.right),
            ("lower bound", "number", lambda row: row.lower),
            ("spans, other half", "count", lambda row: row.other_spans),
            ("right, other half", "count", lambda row: row.other_right),
        ],
        "The spans of trusted patterns are found before the tagger. Spans and right: in the seed "
        "and in one half of the validation documents, which decide; the other half decides "
        "nothing. Lower bound: of the precision, where the confidence of a pattern counts as 30 "
        "spans.",
    )
    f1 = record.rows[record.best].halves[1].f1
    note = (
        f"Strict F1 of the best iteration on the half of the validation documents that decides "
        f"nothing about patterns: {f1:.3f}."
    )
    return (Paragraph(note), table)


def _expression(row: PatternTrust) -> str:
    """Return the beginning of an expression."""
    return row.expression if len(row.expression) <= 40 else f"{row.expression[:39]}…"

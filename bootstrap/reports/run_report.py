"""The report of one run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from bootstrap.advice.advice import ANNOTATE, read_advice
from bootstrap.advice.words import advice_lines, missed_lines
from bootstrap.reports.content import (
    Block,
    Bullets,
    Code,
    Folded,
    Paragraph,
    Report,
    Section,
    Tile,
)
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts.confidence import confidence_blocks
from bootstrap.reports.parts.errors import error_blocks
from bootstrap.reports.parts.patterns import pattern_blocks
from bootstrap.reports.parts.scores import (
    class_blocks,
    progress_blocks,
    score_blocks,
    test_blocks,
)
from bootstrap.reports.parts.selected import selected_blocks
from bootstrap.reports.tables import Column, Table, columns, shown_cell
from bootstrap.runs.assessment import assessment_lines, read_assessment
from bootstrap.runs.outcome import gain_lines
from bootstrap.runs.records import RunError
from bootstrap.self_training.stopping import STOPPED
from corpus.errors import InputError, number_of, quoted
from corpus.storage.fields import flattened
from corpus.storage.manifest import read_manifest


def run_report(record: RunRecord, excerpts: Sequence[Block] = ()) -> Report:
    """Build the report of a run; `excerpts` are errors with their text, if the user asks for it."""
    sections = {
        "What to do next": _next_steps(record),
        "Good enough?": _assessment(record),
        "Scores": score_blocks(record),
        "Classes": class_blocks(record),
        "Test": test_blocks(record),
        "Errors": error_blocks(record, excerpts),
        "What the model learned from": selected_blocks(record),
        "Patterns": pattern_blocks(record),
        "Confidence": confidence_blocks(record),
        "Stability and time": progress_blocks(record),
        "Details": details(record),
    }
    return Report(
        title=record.name,
        subtitle=_state(record),
        outcome=(*gain_lines(record.headline, record.run.start), *record.run.final_lines()),
        tiles=_tiles(record),
        sections=tuple(Section(title, blocks) for title, blocks in sections.items() if blocks),
    )


def _state(record: RunRecord) -> str:
    iterations = number_of(len(record.rows), "iteration")
    documents = number_of(len(record.counts[0].ids), "validation document")
    classes = number_of(len(record.rows[0].classes), "class", "classes")
    kind = "Active learning" if any(row.queried for row in record.rows) else "Self-training"
    if not record.is_finished:
        return f"{kind}, not finished: {iterations} so far, {documents}, {classes}."
    reason = STOPPED[record.headline.stopped or ""]
    return f"{kind}: {iterations}, {documents}, {classes}. It stopped because {reason}."


def _tiles(record: RunRecord) -> tuple[Tile, ...]:
    """Return the key figures, those of the headline first."""
    outcome = record.headline
    interval = f"95 %: {shown_cell(outcome.interval, 'interval')}" if outcome.interval else ""
    where = "test documents" if outcome.on_test else "validation, each half by the other"
    last = record.rows[-1]
    learned = max(row.selected for row in record.rows)
    selected_tile = Tile("Selected", f"{learned:,}", "most in one iteration")
    return (
        Tile("F1", f"{outcome.best.f1:.3f}", where),
        Tile("Gain in F1", f"{round(outcome.gain, 3) + 0.0:+.3f}", interval),
        Tile("Precision", f"{outcome.best.precision:.3f}"),
        Tile("Recall", f"{outcome.best.recall:.3f}"),
        Tile("Annotated", f"{last.human_documents:,}", f"{last.human_tokens:,} tokens"),
        *([selected_tile] if learned else []),
    )


def _next_steps(record: RunRecord) -> tuple[Block, ...]:
    folder = record.run.folder
    lists = {
        "Where recall is lost": tuple(missed_lines(record.run.missed())),
        "What to annotate, or add": tuple(
            advice_lines(read_advice(folder), folder / ANNOTATE, with_ids=False)
        ),
    }
    return tuple(Bullets(title, lines) for title, lines in lists.items() if lines)


def _assessment(record: RunRecord) -> tuple[Block, ...]:
    """Return how many notes still show a mention, if the run was assessed."""
    assessment = read_assessment(record.run)
    if assessment is None:
        return ()
    careful = f"with --recall {assessment.target:g}"
    titles = (
        Column("class"),
        *columns("percent", "notes", "at most", careful, f"at most {careful}"),
    )
    rows = []
    for name, plain in assessment.plain.leaks.items():
        leaks = (plain, assessment.careful.leaks[name])
        shares = [(notes / max(assessment.notes, 1), most) for notes, most in leaks]
        rows.append((quoted(name) if name else "all", *shares[0], *shares[1]))
    table = Table(
        "assessment",
        "Notes that still show a mention",
        titles,
        tuple(rows),
        caption="After bootstrap deidentify. At most: the upper 95 % confidence bound. bootstrap "
        "assess decides by your own limit.",
    )
    return (*map(Paragraph, assessment_lines(assessment)), table)


def details(record: RunRecord) -> tuple[Block, ...]:
    """Return the configuration, the versions and the data of a run, folded."""
    text = record.run.config_file.read_text(encoding="utf-8")
    titles, rows = columns("text", "package", "version"), tuple(environment_of(record).items())
    versions = Table("versions", "Versions", titles, rows)
    return (
        Folded("Configuration", (Code(text),)),
        Folded("Versions", (versions,)),
        Folded("Data", (_data_table(record),)),
    )


def settings_of(record: RunRecord) -> dict[str, str]:
    """Return the settings of a run by their dotted names, as text."""
    settings = flattened(record.run.configuration())
    return {str(name): str(value) for name, value in settings.items()}


def environment_of(record: RunRecord) -> dict[str, str]:
    """Read the versions of Python and the packages of a run.

    Raises
    ------
    RunError
        If the file is damaged or missing.
    """
    path = record.run.environment_file
    try:
        fields: Any = read_manifest(path).fields.values
        packages = {str(name): str(value) for name, value in fields["packages"].items()}
        return {"python": str(fields["python"]), "platform": str(fields["platform"]), **packages}
    except (InputError, KeyError, TypeError, AttributeError):
        raise RunError(f"{path} is damaged or missing") from None


def _data_table(record: RunRecord) -> Table:
    """Build the table of the data; the names of files are left out, as they may name patients."""
    files: dict[str, list[dict[str, Any]]] = {}
    for row in record.run.data().to_pylist():
        files.setdefault(row["split"], []).append(row)
    return Table(
        "data",
        "Data",
        (Column("used as"), *columns("count", "files", "bytes"), Column("digest")),
        tuple(
            (split, len(rows), sum(row["bytes"] for row in rows), _digest(rows))
            for split, rows in files.items()
        ),
        caption="The BLAKE2 digest of the file; of several files, the digest of their digests in "
        "order. data.parquet lists all files.",
    )


def _digest(rows: list[dict[str, Any]]) -> str:
    if len(rows) == 1:
        return str(rows[0]["blake2b"])
    text = "".join(str(row["blake2b"]) for row in rows)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

"""The report of one run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from bootstrap.advice.words import advice_lines, missed_lines
from bootstrap.reports.content import (
    Block,
    Bullets,
    Code,
    Folded,
    Pair,
    Paragraph,
    Report,
    Section,
    Tile,
    present,
)
from bootstrap.reports.estimates import ALL, estimate_scores
from bootstrap.reports.figures import Figure, Matrix
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts import confidence, errors, progress, scores, selected
from bootstrap.reports.tables import Column, Table
from bootstrap.runs.advice_files import ANNOTATE, read_advice
from bootstrap.runs.decisions import decision_lines
from bootstrap.runs.errors import RunError
from bootstrap.runs.metrics import beyond_tolerance
from bootstrap.runs.outcome import gain_lines
from bootstrap.self_training.iteration import STOPPED
from corpus.errors import InputError, shown
from corpus.storage.manifest import read_manifest


def run_report(record: RunRecord, excerpts: Sequence[Block] = ()) -> Report:
    """Build the report of a run.

    Parameters
    ----------
    record : RunRecord
        The run.
    excerpts : sequence of Block
        Errors with their text, if the user has asked for it.
    """
    outcome = record.outcome
    return Report(
        title=record.name,
        subtitle=_state(record),
        outcome=tuple(gain_lines(outcome, record.run.start)),
        tiles=_tiles(record),
        sections=tuple(
            Section(title, blocks)
            for title, blocks in (
                ("What to do next", _next_steps(record)),
                ("Scores", _scores(record)),
                ("Classes", _classes(record)),
                ("Test", _test(record)),
                ("Errors", _errors(record, excerpts)),
                ("What the model learned from", _learned_from(record)),
                ("Confidence", _confidence(record)),
                ("Stability and time", _course(record)),
                ("Details", details(record)),
            )
            if blocks
        ),
    )


def pair(figure: Figure | Matrix | None, table: Table | None) -> Block | None:
    """Return a figure with its table beside it, or what there is of them."""
    return Pair(figure, table) if figure and table else figure or table


def _state(record: RunRecord) -> str:
    number = len(record.rows)
    iterations = f"{number} iteration{'' if number == 1 else 's'}"
    documents = f"{len(record.counts[0].ids):,} validation documents"
    classes = f"{len(record.rows[0].classes)} classes"
    kind = "Active learning" if any(row.queried for row in record.rows) else "Self-training"
    if not record.is_finished:
        return f"{kind}, not finished: {iterations} so far, {documents}, {classes}."
    reason = STOPPED[record.outcome.stopped or ""]
    return f"{kind}: {iterations}, {documents}, {classes}. It stopped because {reason}."


def _tiles(record: RunRecord) -> tuple[Tile, ...]:
    """Return the key figures."""
    outcome, best = record.outcome, record.estimates[record.best][ALL]
    gain = f"{round(outcome.gain, 3) + 0.0:+.3f}"
    last = record.rows[-1]
    learned = max(row.selected for row in record.rows)
    selected_tile = Tile("Selected", f"{learned:,}", "most in one iteration")
    return (
        Tile("F1, best iteration", f"{best.f1.value:.3f}", _between(best.f1.interval)),
        Tile("Gain in F1", gain, _between(outcome.interval, signed=True)),
        Tile("Precision", f"{best.precision.value:.3f}", _between(best.precision.interval)),
        Tile("Recall", f"{best.recall.value:.3f}", _between(best.recall.interval)),
        Tile("Annotated", f"{last.human_documents:,}", f"{last.human_tokens:,} tokens"),
        *([selected_tile] if learned else []),
    )


def _between(interval: tuple[float, float] | None, *, signed: bool = False) -> str:
    if interval is None:
        return ""
    low, high = interval
    return f"95 %: {low:+.3f} to {high:+.3f}" if signed else f"95 %: {low:.3f}–{high:.3f}"


def _next_steps(record: RunRecord) -> tuple[Block, ...]:
    folder = record.run.folder
    lists = {
        "Where recall is missing": tuple(missed_lines(record.run.missed())),
        "What to annotate, or add": tuple(
            advice_lines(read_advice(folder), folder / ANNOTATE, with_ids=False)
        ),
    }
    return tuple(Bullets(title, lines) for title, lines in lists.items() if lines)


def _scores(record: RunRecord) -> tuple[Block, ...]:
    lines = [Paragraph(line) for line in decision_lines(record.rows)]
    figure = Pair(scores.scores_figure(record), scores.iterations_table(record))
    others: list[Block] = []
    if any(row.queried for row in record.rows):
        others = [scores.scores_figure(record, axis) for axis in ("documents", "tokens")]
    return (*lines, figure, *others)


def _classes(record: RunRecord) -> tuple[Block, ...]:
    curves = scores.class_curves_figure(record)
    return present(
        pair(scores.classes_figure(record), scores.classes_table(record)),
        Folded("Each class in each iteration", present(curves, scores.class_scores_table(record))),
    )


def _test(record: RunRecord) -> tuple[Block, ...]:
    if not record.test:
        return ()
    found = estimate_scores(record.test[record.best])[ALL]
    interval = _between(found.f1.interval)
    line = (
        f"On {len(record.test[record.best].ids):,} test documents, which chose nothing, the model "
        f"of iteration {record.best} has F1 {found.f1.value:.3f}"
        f"{f' ({interval})' if interval else ''}, precision {found.precision.value:.3f} and recall "
        f"{found.recall.value:.3f}."
    )
    return (
        Paragraph(line),
        *present(pair(scores.test_figure(record), scores.test_table(record))),
    )


def _errors(record: RunRecord, excerpts: Sequence[Block]) -> tuple[Block, ...]:
    if record.errors is None:
        return (Paragraph("The errors of this run were not recorded.", is_note=True),)
    examples = Folded("Errors in their text", tuple(excerpts)) if excerpts else None
    kinds = pair(errors.error_kinds_figure(record), errors.error_kinds_table(record))
    return present(
        pair(errors.errors_figure(record), errors.errors_table(record)),
        errors.confusion_matrix(record),
        Folded("Errors of each iteration", (kinds,)) if kinds else None,
        examples,
    )


def _learned_from(record: RunRecord) -> tuple[Block, ...]:
    blocks = present(
        pair(selected.selected_figure(record), selected.selected_table(record)),
        pair(selected.proportions_figure(record), selected.proportions_table(record)),
    )
    beyond = beyond_tolerance(record.rows)
    if not beyond:
        return blocks
    names = ", ".join(str(row.iteration) for row in beyond)
    note = f"The selections of these iterations did not keep the reference proportions: {names}."
    return (Paragraph(note, is_note=True), *blocks)


def _confidence(record: RunRecord) -> tuple[Block, ...]:
    groups = confidence.calibration_of(record.counts[record.best])
    if groups is None:
        text = (
            "There is no calibration curve: the run was made by a version that did not record the "
            "confidence of validation documents."
        )
        line: Block = Paragraph(text, is_note=True)
    else:
        error = confidence.calibration_error(groups) if groups else 0.0
        line = Paragraph(
            f"The confidence of a validation document and the share of documents without an error "
            f"differ by {error:.3f} on average (expected calibration error)."
        )
    return (
        line,
        *present(
            pair(confidence.calibration_figure(record), confidence.calibration_table(record)),
            pair(confidence.confidence_figure(record), confidence.confidence_table(record)),
        ),
    )


def _course(record: RunRecord) -> tuple[Block, ...]:
    return present(
        pair(progress.agreement_figure(record), progress.agreement_table(record)),
        pair(progress.seconds_figure(record), progress.seconds_table(record)),
    )


def details(record: RunRecord) -> tuple[Block, ...]:
    """Return the configuration, the versions and the data of a run, folded."""
    text = record.run.config_file.read_text(encoding="utf-8")
    return (
        Folded("Configuration", (Code("config.toml", text),)),
        Folded("Versions", (_versions_table(record),)),
        Folded("Data", (_data_table(record),)),
    )


def settings_of(record: RunRecord) -> dict[str, str]:
    """Return the settings of a run by their dotted names, as text."""

    def flat(table: Mapping[str, Any], prefix: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, value in table.items():
            if isinstance(value, Mapping):
                found |= flat(value, f"{prefix}{name}.")
            else:
                found[f"{prefix}{name}"] = str(value)
        return found

    return flat(record.run.configuration(), "")


def environment_of(record: RunRecord) -> dict[str, str]:
    """Read the versions of Python and the packages of a run.

    Raises
    ------
    RunError
        If the file is damaged or missing.
    """
    path = record.run.environment_file
    try:
        found: Any = read_manifest(path).fields.values
        packages = {str(name): str(value) for name, value in found["packages"].items()}
        return {"python": str(found["python"]), "platform": str(found["platform"]), **packages}
    except (InputError, KeyError, TypeError, AttributeError):
        raise RunError(f"{shown(path)} is damaged or missing") from None


def _versions_table(record: RunRecord) -> Table:
    rows = tuple(environment_of(record).items())
    return Table("versions", "Versions", (Column("package"), Column("version")), rows)


def _data_table(record: RunRecord) -> Table:
    """Build the table of the data; the names of files are left out, as they may name patients."""
    files: dict[str, list[dict[str, Any]]] = {}
    for row in record.run.data().to_pylist():
        files.setdefault(row["split"], []).append(row)
    return Table(
        "data",
        "Data",
        (
            Column("used as"),
            Column("files", "count"),
            Column("bytes", "count"),
            Column("digest"),
        ),
        tuple(
            (split, len(rows), sum(row["bytes"] for row in rows), _digest(rows))
            for split, rows in files.items()
        ),
        caption="The BLAKE2 digest of the file; of several files, that of their digests in order. "
        "data.parquet has those of all files.",
    )


def _digest(rows: list[dict[str, Any]]) -> str:
    if len(rows) == 1:
        return str(rows[0]["blake2b"])
    text = "".join(str(row["blake2b"]) for row in rows)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

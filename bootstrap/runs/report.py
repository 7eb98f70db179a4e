"""The report of a run: an HTML page with its scores and settings, without text of notes."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence

from bootstrap.runs.decisions import decision_lines
from bootstrap.runs.metrics import EntityScores, IterationMetrics
from bootstrap.runs.outcome import Outcome, gain_lines
from bootstrap.runs.plotting import plot_runs
from bootstrap.self_training.iteration import STOPPED

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.8rem; text-align: right; border-bottom: 1px solid #ddd; }
tr.best { font-weight: bold; background: #eef7ee; }
svg { max-width: 100%; height: auto; }
pre { background: #f6f6f6; padding: 1rem; overflow-x: auto; }
"""


def report_page(
    name: str,
    rows: Sequence[IterationMetrics],
    outcome: Outcome,
    start: str,
    configuration: str,
    *,
    missed: Sequence[str] = (),
    advice: Sequence[str] = (),
) -> str:
    """Build the HTML page of a run.

    Parameters
    ----------
    name : str
        The name of the run.
    rows : sequence of IterationMetrics
        The iterations of the run.
    outcome : Outcome
        The gain of the run.
    start : str
        What the run is compared with, in words.
    configuration : str
        The configuration of the run as TOML.
    missed, advice : sequence of str
        Lines that describe where recall is missing, and what to do next.

    Returns
    -------
    str
        HTML that needs no other file.
    """
    return "\n".join(
        [
            "<!doctype html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{html.escape(name)}</title>',
            f"<style>{_STYLE}</style></head><body>",
            f"<h1>{html.escape(name)}</h1>",
            *(f"<p>{html.escape(line)}</p>" for line in gain_lines(outcome, start)),
            *(f"<p>{html.escape(line)}</p>" for line in decision_lines(rows)),
            f"<p>{_stopped_line(outcome)}</p>",
            *_section("Where recall is missing", missed),
            *_section("What to do next", advice),
            _curve(name, rows),
            "<h2>Iterations</h2>",
            _table(rows, outcome.iteration),
            "<h2>Configuration</h2>",
            f"<pre>{html.escape(configuration)}</pre>",
            "</body></html>",
            "",
        ]
    )


def _section(title: str, lines: Sequence[str]) -> list[str]:
    """Build a heading and a list of lines, or nothing if there are none."""
    if not lines:
        return []
    items = (f"<li>{html.escape(line)}</li>" for line in lines)
    return [f"<h2>{title}</h2>", "<ul>", *items, "</ul>"]


def _stopped_line(outcome: Outcome) -> str:
    if outcome.stopped is None:
        return "The run is not finished."
    return f"Stopped: {STOPPED[outcome.stopped]}."


def _curve(name: str, rows: Sequence[IterationMetrics]) -> str:
    figure = io.BytesIO()
    plot_runs({name: rows}, figure, "svg")
    text = figure.getvalue().decode()
    return text[text.index("<svg") :]


def _table(rows: Sequence[IterationMetrics], best: int) -> str:
    several = len({row.tagger for row in rows}) > 1
    active = any(row.queried for row in rows)
    titles = ["iteration", *(["tagger"] if several else []), *(["annotated"] if active else [])]
    titles += ["selected", "confident", "deviation"]
    for name in (*rows[0].classes, "all"):
        titles += [f"{name} P", "R", "F1"]
    lines = ["<table>", _row([*titles, "seconds", "stopped"], "th")]
    for row in rows:
        cells = [
            str(row.iteration),
            *([row.tagger] if several else []),
            *([f"{row.human_documents:,}"] if active else []),
            f"{row.selected:,}",
            f"{row.confident:,}",
            "" if row.deviation is None else f"{row.deviation:.2f}",
        ]
        for name in rows[0].classes:
            cells += _score_cells(row.classes[name])
        cells += _score_cells(row)
        cells += [f"{sum(row.seconds.values()):.1f}", row.stopped or ""]
        lines.append(_row(cells, "td", "best" if row.iteration == best else ""))
    return "\n".join([*lines, "</table>"])


def _score_cells(scores: EntityScores | IterationMetrics) -> list[str]:
    return [f"{value:.3f}" for value in (scores.precision, scores.recall, scores.f1)]


def _row(cells: Sequence[str], tag: str, kind: str = "") -> str:
    inner = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
    return f'<tr class="{kind}">{inner}</tr>' if kind else f"<tr>{inner}</tr>"

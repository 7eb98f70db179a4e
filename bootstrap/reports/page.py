"""The page of a report: HTML that needs no other file, runs no script and makes no request."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

from bootstrap.reports.content import Report
from bootstrap.reports.drawing import inline_svg
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.run_report import run_report
from bootstrap.reports.tables import shown_cell, shown_range
from bootstrap.runs.folder import Run
from corpus.storage.atomic import write_atomically

#: The page in a run folder, and the seconds between two pages of an unfinished run.
PAGE, PAGE_SECONDS = "report.html", 20


def write_run_page(run: Run) -> None:
    """Write ``report.html`` in the folder of a run that has a closed iteration.

    The page of an unfinished run is kept for `PAGE_SECONDS`, as iterations may be shorter.
    """
    record, page = RunRecord.load(run, run.folder.resolve().name), run.folder / PAGE
    if record.is_finished or not page.exists() or time.time() - page.stat().st_mtime > PAGE_SECONDS:
        write_atomically(page, page_of(run_report(record)).encode())


def page_of(report: Report) -> str:
    """Return the page of a report as HTML, whose content security policy forbids every request."""
    page: str = _template().render(report=report)
    return page


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - slow to load
    from markupsafe import Markup  # noqa: PLC0415 - the same

    environment = Environment(
        loader=PackageLoader("bootstrap", "reports"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "svg": lambda figure: Markup(inline_svg(figure)),  # noqa: S704 - its texts are escaped
        "kind": lambda block: type(block).__name__,
        "cell": shown_cell,
        "range": shown_range,
    }
    return environment.get_template("page.html")

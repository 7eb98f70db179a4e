"""The results of an experiment: the scores of its runs on their test documents, and its page."""

from __future__ import annotations

from collections.abc import Sequence

from bootstrap.experiments.folder import ExperimentFolder, is_scored, read_run
from bootstrap.reports.comparison import RunResult, compare
from bootstrap.reports.content import Code, Folded, Paragraph, Report, Section
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.page import PAGE, page_of
from bootstrap.reports.parts.comparison import comparison_sections, outcome_lines, tiles_of
from bootstrap.reports.tables import table_csv
from bootstrap.runs.records import RunError
from corpus.errors import number_of
from corpus.storage.atomic import write_atomically

_SCORED = "test documents"


def read_results(experiment: ExperimentFolder) -> list[RunResult]:
    """Read the results of the runs of an experiment that are finished, in the order of the plan.

    Raises
    ------
    RunError
        If the folder is not an experiment, or the files of a run are damaged.
    """
    results, known = [], dict[str, tuple[str, ...]]()
    for variant, split, state, run in experiment.runs():
        with read_run(run):
            if not is_scored(run):
                continue
            record = RunRecord.load(run, variant, test=True)
            if len(record.test) < len(record.rows):
                raise RunError(f"{run.folder} has no scores of an iteration on its test documents")
            result = record.result_on_test(variant, split, state)
        if known.setdefault(split, result.tested.ids) != result.tested.ids:
            raise RunError(
                f"{run.folder}: its test documents are not the test documents of the other "
                "runs: the run is damaged; remove its folder to repeat it"
            )
        results.append(result)
    return results


def experiment_report(experiment: ExperimentFolder) -> Report:
    """Build the report of an experiment.

    Raises
    ------
    RunError
        If no run is finished, or a file is damaged.
    """
    results = read_results(experiment)
    if not results:
        raise RunError(f"{experiment.folder} has no finished run yet")
    return _report_of(experiment, results)


def _report_of(experiment: ExperimentFolder, results: Sequence[RunResult]) -> Report:
    plan, planned = experiment.plan(), sum(1 for _ in experiment.runs())
    variants = plan["variants"]
    first = next(iter(variants))
    rows = compare(results, first)
    bounds = {name for name, variant in variants.items() if variant["method"] == "full-supervision"}
    lines = outcome_lines(rows, _SCORED, bounds)
    if len(rows) > 1 and not any(row.difference for row in rows):
        lines.append(f"There are no differences: no run of {first} is finished.")
    if len(results) < planned:
        lines.append(
            f"{len(results):,} of {planned:,} runs are finished. Compare only the means of "
            "variants with the same runs."
        )
    text = (
        "Each run is scored with its best iteration on validation, on test documents that chose "
        "nothing. Differences are between runs with the same seed on the same documents."
    )
    comparison, *others = comparison_sections(
        results, rows, _SCORED, plan["experiment"].get("at_documents", [])
    )
    runs = number_of(len(results), "run")
    code = Code(experiment.plan_file.read_text(encoding="utf-8"))
    return Report(
        title=experiment.folder.resolve().name,
        subtitle=f"An experiment of {number_of(len(rows), 'variant')} and {runs}.",
        outcome=tuple(lines),
        tiles=tiles_of(rows),
        sections=(
            Section(comparison.title, (Paragraph(text), *comparison.blocks)),
            *others,
            Section("Details", (Folded("experiment.toml", (code,)),)),
        ),
    )


def write_results(experiment: ExperimentFolder) -> Report | None:
    """Write the page of the finished runs of an experiment, and its tables.

    Returns
    -------
    Report or None
        What the page shows; None without a finished run, where nothing is written.
    """
    results = read_results(experiment)
    if not results:
        return None
    report, folder = _report_of(experiment, results), experiment.folder / "tables"
    write_atomically(experiment.folder / PAGE, page_of(report).encode())
    folder.mkdir(mode=0o700, exist_ok=True)
    tables = {folder / f"{name}.csv": table_csv(table) for name, table in report.tables.items()}
    for path, text in tables.items():
        write_atomically(path, text.encode("utf-8", "surrogatepass"))
    for path in set(folder.glob("*.csv")) - set(tables):
        path.unlink()  # of variants or numbers that the experiment no longer has
    return report

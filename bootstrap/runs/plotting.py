"""Plots of precision, recall and F1 per iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from bootstrap.runs.metrics import IterationMetrics
from corpus.errors import InputError

_MEASURES = ("precision", "recall", "f1")
_STYLES = {"precision": "--", "recall": ":", "f1": "-"}
_MARKERS = {"precision": "v", "recall": "^", "f1": "o"}
_TITLES = {"precision": "precision", "recall": "recall", "f1": "F1"}

#: The horizontal axes of plots: the metric of an iteration, and its title.
AXES = {
    "iteration": ("iteration", "iteration (0: the initial model)"),
    "documents": ("human_documents", "annotated documents, those of the seed included"),
    "tokens": ("human_tokens", "annotated tokens, those of the seed included"),
}

#: The supported suffixes of plot files.
SUFFIXES = (".png", ".svg")


def plot_runs(
    runs: Mapping[str, Sequence[IterationMetrics]],
    file: BinaryIO,
    format: str,
    axis: str = "iteration",
) -> None:
    """Plot the scores of the iterations of runs on one axis.

    Parameters
    ----------
    runs : mapping of str to sequence of IterationMetrics
        The iterations of each run, by the name in the legend.
    file : binary file
        The file to write to.
    format : {"png", "svg"}
        The format of the plot.
    axis : {"iteration", "documents", "tokens"}
        The horizontal axis: the iteration, or what people have annotated until then.
    """
    import matplotlib as mpl  # noqa: PLC0415 - slow to load
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    # A fixed salt and no date, so that equal runs result in equal files.
    with mpl.rc_context({"svg.hashsalt": "bootstrap", "font.size": 11}):
        height = max(5.5, 0.75 * len(runs))  # inches: the legend has three lines per run
        figure = Figure(figsize=(11, height), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        metric, title = AXES[axis]
        for index, (name, rows) in enumerate(runs.items()):
            places = [getattr(row, metric) for row in rows]
            shown = name.replace("$", r"\$")  # a dollar sign would start a formula
            for measure in _MEASURES:
                label = _TITLES[measure] if len(runs) == 1 else f"{_TITLES[measure]} of {shown}"
                axes.plot(
                    places,
                    [getattr(row, measure) for row in rows],
                    _STYLES[measure],
                    color=f"C{index if len(runs) > 1 else _MEASURES.index(measure)}",
                    linewidth=2.4 if measure == "f1" else 1.4,
                    marker=_MARKERS[measure],  # a line alone would not show a single iteration
                    markersize=6 if measure == "f1" else 4,
                    label=label,
                )
            best = max(rows, key=lambda row: row.f1)
            axes.annotate(
                f"{best.f1:.3f}",
                (getattr(best, metric), best.f1),
                textcoords="offset points",
                xytext=(0, 8),
                ha="center",
            )
        axes.set_xlabel(title)
        axes.set_ylabel("strict entity score on validation")
        if axis == "iteration":
            axes.set_xlim(-0.5, max(rows[-1].iteration for rows in runs.values()) + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.grid(alpha=0.3)
        figure.legend(loc="outside right upper", frameon=False)  # where it covers no line
        if len(runs) == 1:
            axes.set_title(shown)
        metadata = {"Date": None} if format == "svg" else {}
        figure.savefig(file, format=format, dpi=150, metadata=metadata)


def plot_format(path: Path) -> str:
    """Return the format of a plot file by its suffix.

    Raises
    ------
    InputError
        If the suffix is not one of `SUFFIXES`.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: expected a file name ending in {' or '.join(SUFFIXES)}")
    return path.suffix.lower()[1:]

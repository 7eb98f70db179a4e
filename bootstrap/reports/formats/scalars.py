"""Figures of iterations as named numbers, for TensorBoard and MLflow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bootstrap.reports.estimates import ALL
from bootstrap.reports.groups import RunRecord


class Scalar(NamedTuple):
    """A number of an iteration.

    Parameters
    ----------
    name : str
        What it is: a group, a slash and a name.
    iteration : int
        The iteration.
    value : float
        The number.
    """

    name: str
    iteration: int
    value: float


def scalars_of(record: RunRecord) -> Iterator[Scalar]:
    """Yield the numbers of the iterations of a run, in order."""
    for row in record.rows:
        found: dict[str, float | None] = {}
        for name, scores in record.estimates[row.iteration].items():
            group = "class" if name != ALL else "validation"
            end = f" {name}" if name != ALL else ""
            found[f"{group}/f1{end}"] = scores.f1.value
            found[f"{group}/precision{end}"] = scores.precision.value
            found[f"{group}/recall{end}"] = scores.recall.value
        found |= {
            "documents/selected": row.selected,
            "documents/annotated": row.human_documents,
            "documents/training": row.training_documents,
            "stability/agreement": row.agreement,
            "stability/kappa": row.kappa,
        }
        found |= {f"seconds/{stage}": seconds for stage, seconds in row.seconds.items()}
        if kinds := record.error_kinds[row.iteration]:
            found |= {f"errors/{kind}": number for kind, number in kinds.items()}
        for name, value in found.items():
            if value is not None:
                yield Scalar(name, row.iteration, float(value))


def time_of(record: RunRecord, iteration: int) -> float:
    """Return when an iteration was closed, in seconds since 1970."""
    return (record.run.iteration_folder(iteration) / "metrics.json").stat().st_mtime


def folder_name(name: str) -> str:
    """Return a name as that of a folder: without separators, and not hidden."""
    plain = "".join("_" if character in '/\\:*?"<>|' else character for character in name)
    plain = "".join(character if character.isprintable() else "_" for character in plain)
    return Path(plain).name.lstrip(".") or "_"

"""Runs and groups as a command line names them, and which of them can be compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bootstrap.reports.groups import (
    RunGroup,
    comparable_parts,
    load_groups,
    parse_groups,
    require_comparable,
)
from bootstrap.runs.folder import Run
from bootstrap.runs.records import DocumentCounts, RunError
from corpus.errors import InputError
from corpus.storage.tables import table_bytes
from tests.bootstrap.changed_runs import rewrite_manifests


def change(run: Path, how: Callable[[DocumentCounts], DocumentCounts]) -> None:
    """Change the counts of all iterations of a run."""
    for path in (run / "iterations").rglob("validation.parquet"):
        path.write_bytes(table_bytes(how(DocumentCounts.load(path)).to_table()))
    rewrite_manifests(run)


def test_folders_are_named_by_their_last_part_unless_they_are_alike(tmp_path: Path) -> None:
    for name in ("a/x", "b/x", "c"):
        (tmp_path / name).mkdir(parents=True)
    names = [str(tmp_path / name) for name in ("a/x", "b/x", "c")]
    assert [group.name for group in parse_groups(names)] == [names[0], names[1], "c"]
    assert [group.name for group in parse_groups([names[0], names[2]])] == ["x", "c"]
    assert [group.name for group in parse_groups([f"c={names[0]}", names[2]])] == ["c", names[2]]


def test_folders_of_one_name_are_a_group(tmp_path: Path) -> None:
    groups = parse_groups([f"new={tmp_path / 'a'}", f"old={tmp_path / 'b'}", f"new={tmp_path}"])
    assert groups == [
        RunGroup("new", (Run(tmp_path / "a"), Run(tmp_path))),
        RunGroup("old", (Run(tmp_path / "b"),)),
    ]


def test_a_folder_whose_name_has_an_equals_sign_is_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a=b"
    folder.mkdir()
    assert parse_groups([str(folder)]) == [RunGroup("a=b", (Run(folder),))]


@pytest.mark.parametrize("argument", ["=x", " =x", "x="])
def test_a_group_has_a_name_and_a_folder(argument: str) -> None:
    with pytest.raises(InputError, match="expected a run folder or NAME=FOLDER"):
        parse_groups([argument])


def test_a_run_is_once_in_a_group(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is named twice; name each run once"):
        parse_groups([f"a={tmp_path}", f"a={tmp_path / '..' / tmp_path.name}"])


def test_the_order_of_documents_does_not_matter(finished: Path, copied: Path) -> None:
    def turned(counts: DocumentCounts) -> DocumentCounts:
        return replace(
            counts,
            ids=counts.ids[::-1],
            groups=counts.groups[::-1],
            classes={name: column[::-1] for name, column in counts.classes.items()},
        )

    change(copied, turned)
    groups = load_groups([RunGroup("a", (Run(finished),)), RunGroup("b", (Run(copied),))])
    assert len(comparable_parts(groups)) == 1
    require_comparable(groups)


@pytest.mark.parametrize(
    ("what", "difference"),
    [
        ("documents", "different validation documents"),
        ("annotations", "different annotations of the validation documents"),
        ("classes", "different classes"),
    ],
)
def test_other_material_is_told_apart(finished, copied, what, difference) -> None:
    if what == "documents":
        change(copied, lambda counts: replace(counts, ids=tuple(f"x{id}" for id in counts.ids)))
    elif what == "annotations":
        change(
            copied,
            lambda counts: replace(
                counts,
                classes={
                    name: np.add(column, [0, 0, 1]) for name, column in counts.classes.items()
                },
            ),
        )
    else:
        for path in (copied / "iterations").rglob("metrics.json"):
            metrics = json.loads(path.read_text())
            metrics["classes"]["AGE"] = metrics["classes"]["PERSON"]
            path.write_text(json.dumps(metrics))
        rewrite_manifests(copied)
    one, other = RunGroup("a", (Run(finished),)), RunGroup("b", (Run(copied),))
    groups = load_groups([one, other])
    assert [[group.name for group in part] for part in comparable_parts(groups)] == [["a"], ["b"]]
    with pytest.raises(RunError, match=rf"are scored on {difference}: they cannot be on one axis"):
        require_comparable(groups)
    with pytest.raises(RunError, match=rf"have the name a, but are scored on {difference}"):
        load_groups([RunGroup("a", (Run(finished), Run(copied)))])

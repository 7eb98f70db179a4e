"""Folders of others are checked before anything in them is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.errors import InputError
from corpus.storage.fields import parse_json, parse_toml
from corpus.storage.opening import Budget, check_folder

BUDGET = Budget(size=100, entries=20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder like that of a run, reached through a link."""
    (tmp_path / "real" / "iterations" / "000").mkdir(parents=True)
    (tmp_path / "real" / "iterations" / "000" / "metrics.json").write_bytes(b"x" * 60)
    (tmp_path / "real" / ".best.partial-0123456789abcdef").mkdir()
    (tmp_path / "real" / ".best.partial-0123456789abcdef" / "content").symlink_to("/")
    (tmp_path / "real" / "best").symlink_to("iterations/000")
    (tmp_path / "named").symlink_to("real")
    return tmp_path / "named"


def test_what_runs_contain_is_opened(folder: Path) -> None:
    assert check_folder(folder, BUDGET) == 60


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "iterations" / "best").symlink_to("000"), "best is a link"),
        (
            lambda folder: (
                (folder / "best").unlink() or (folder / "best").symlink_to("iterations/../../..")
            ),
            "best is a link",
        ),
        (lambda folder: (folder / "a").write_bytes(b"x" * 41), "has 101 bytes; expected at most"),
        (lambda folder: [(folder / str(n)).touch() for n in range(17)], "more than 20 files"),
        (lambda folder: (folder / "/".join("abcdefghi")).mkdir(parents=True), "8 folders deep"),
    ],
)
def test_what_exceeds_the_budget_is_refused(folder, change, message) -> None:
    change(folder)
    with pytest.raises(InputError, match=message):
        check_folder(folder, BUDGET)


def test_only_what_is_structure_counts() -> None:
    deep = "[" * 50
    assert parse_json(f'{{"a\\"{deep}": "{deep}"}}'.encode(), "it") == {f'a"{deep}': deep}
    text = f'a = "\\"{deep}" # {deep}\nb = """{deep}""""\nc = \'{deep}\'\n'
    assert parse_toml(text.encode(), "it") == {"a": f'"{deep}', "b": f'{deep}"', "c": deep}
    for hidden in (f'x = ["""a"""", {deep}{"]" * 50}, "b"]', "a." * 40 + "a = 1"):
        with pytest.raises(InputError, match="nested too deeply"):
            parse_toml(hidden.encode(), "it")

"""The contract of options: what is true of those without any method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from corpus.errors import InputError
from taggers.options import TaggerOptions, option, path_fields


@dataclass(frozen=True, slots=True)
class Nothing(TaggerOptions):
    pass


@dataclass(frozen=True, slots=True)
class Paths(TaggerOptions):
    size: int = 3
    name: str = "no/path"
    table: str = option("", "a table", path=True)
    lists: tuple[str, ...] = option((), "lists", path=("small",))


def fail() -> Path:
    raise AssertionError("nothing is needed")


def test_options_without_a_field_are_complete() -> None:
    options = Nothing()
    assert options.training_files() == {}
    assert list(options.check()) == []
    assert options.capabilities == frozenset()
    assert options.with_word_counts(fail) == options
    assert options.with_embeddings(fail) == options
    assert replace(options) == options


def test_files_are_the_paths_among_the_fields() -> None:
    assert path_fields(Paths) == {"table": (), "lists": ("small",)}
    assert Paths().training_files() == {}
    options = Paths(table="/a", lists=("small", "/b", "/c"))
    assert options.training_files() == {"table": [Path("/a")], "lists": [Path("/b"), Path("/c")]}
    assert Paths(lists=("small",)).training_files() == {}


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    there = str(tmp_path / "there")
    assert list(Paths(table=there, lists=("small", there)).check()) == []
    for wrong in (tmp_path / "missing", tmp_path):
        with pytest.raises(InputError, match=f"lists: {wrong} is not there or is not a file"):
            Paths(table=there, lists=(there, str(wrong))).check()

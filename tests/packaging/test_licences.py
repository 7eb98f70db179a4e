"""The list of licences is complete, and has allowed licences only."""

from email.message import Message
from importlib.metadata import Distribution

import pytest
from licences import (
    EXCEPTIONS,
    PAGE,
    STATED,
    Row,
    licence_of,
    main,
    new_rows,
    not_allowed,
    problems_of,
    read_rows,
    with_rows,
)
from locked import SupplyError, environments_of, read_locks

NAMES = {"gensim": ["run"], "numpy": ["run", "dev"]}
ROWS = [Row("gensim", "LGPL-2.1-only", "run"), Row("numpy", "BSD-3-Clause AND MIT", "run, dev")]


class Installed(Distribution):
    """A package that has metadata alone."""

    def __init__(self, **fields: str) -> None:
        self._message = Message()
        for name, value in {"Name": "a", **fields}.items():
            self._message[name.replace("_", "-")] = value

    @property
    def metadata(self) -> Message:
        return self._message

    def read_text(self, filename: str) -> None:
        return None

    def locate_file(self, path: object) -> None:
        return None


def test_the_list_agrees_with_the_lock_and_with_what_is_installed():
    main(["--check"])


def test_stated_licences_are_those_of_locked_packages():
    assert {*STATED, *EXCEPTIONS} <= set(environments_of(read_locks()))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"License_Expression": "MIT or apache-2.0"}, "MIT OR Apache-2.0"),
        ({"License": "BSD 3-Clause License"}, "BSD-3-Clause"),
        ({"License": "mit"}, "MIT"),
        (
            {"License": "A\nlong text", "Classifier": "License :: OSI Approved :: BSD License"},
            "BSD",
        ),
        ({"License": "GPL-3.0-only", "Classifier": "License :: OSI Approved"}, "GPL-3.0-only"),
        ({"Name": "namex"}, "Apache-2.0"),
    ],
)
def test_a_licence_is_what_the_metadata_state(fields, expected):
    assert licence_of(Installed(**fields)) == expected


def test_an_unknown_licence_is_an_error():
    with pytest.raises(SupplyError, match=r"a: its metadata state no known licence; add .* STATED"):
        licence_of(Installed(License="ask us"))


@pytest.mark.parametrize(
    ("name", "licence", "parts"),
    [
        ("a", "BSD-2-Clause AND Apache-2.0 WITH LLVM-exception", []),
        ("a", "MIT OR (GPL-3.0-or-later AND BSD)", ["GPL-3.0-or-later"]),
        ("a", "LGPL-2.1-only", ["LGPL-2.1-only"]),
        ("gensim", "LGPL-2.1-only", []),
    ],
)
def test_licences_are_allowed_by_their_parts(name, licence, parts):
    assert not_allowed(name, licence) == parts


def test_problems_of_a_list_are_found():
    actual = list(
        problems_of(ROWS, {"numpy": ["run"], "scipy": ["run"]}, {"numpy": "GPL-3.0-only"})
    )
    assert actual == [
        "gensim: listed for run, and locked for none",
        "numpy: listed for run, dev, and locked for run",
        "scipy: listed for none, and locked for run",
        "numpy: listed with BSD-3-Clause AND MIT, and installed with GPL-3.0-only",
        "numpy: GPL-3.0-only is not one of the allowed licences",
    ]


def test_rows_are_read_as_they_are_written():
    page = with_rows(PAGE.read_text(encoding="utf-8"), ROWS)
    assert read_rows(page) == ROWS
    assert with_rows(page, read_rows(page)) == page


def test_rows_of_packages_that_are_not_installed_are_kept():
    assert new_rows(NAMES, {"gensim": "MIT"}, ROWS) == [Row("gensim", "MIT", "run"), ROWS[1]]
    with pytest.raises(SupplyError, match="numpy: not installed, and not in"):
        new_rows(NAMES, {}, ROWS[:1])


@pytest.mark.parametrize(
    ("licence", "listed", "kept"),
    [("BSD", "BSD-3-Clause", True), ("BSD-2-Clause", "BSD-3-Clause", False), ("MIT", "ISC", False)],
)
def test_a_listed_licence_is_kept_where_other_versions_say_less(licence, listed, kept):
    names, rows = {"a": ["run"]}, [Row("a", listed, "run")]
    assert new_rows(names, {"a": licence}, rows) == [Row("a", listed if kept else licence, "run")]
    assert (list(problems_of(rows, names, {"a": licence})) == []) == kept


def test_a_list_that_is_out_of_date_is_an_error(tmp_path):
    page = tmp_path / "licences.md"
    page.write_text(with_rows(PAGE.read_text(encoding="utf-8"), ROWS), encoding="utf-8")
    with pytest.raises(SupplyError, match=r"(?s)listed for none, and locked for .*make licences"):
        main(["--check"], page)

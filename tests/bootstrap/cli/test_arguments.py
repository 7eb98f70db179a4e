"""Options: lists of values, and what is parsed of them."""

from __future__ import annotations

import argparse
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.cli.arguments import CommandParser
from bootstrap.cli.parser import build_parser

PARSER = build_parser()


def parsed(*arguments: str) -> argparse.Namespace:
    return PARSER.parse_args(arguments)


# Lists


@given(st.lists(st.lists(st.integers(1, 10**6), min_size=1), min_size=1))
def test_values_are_separated_by_commas_or_repeated(groups: list[list[int]]) -> None:
    words = [part for group in groups for part in ("--k", ",".join(map(str, group)))]
    assert parsed("cluster", "x", *words).k == [k for group in groups for k in group]


NAMES = st.text(st.characters(blacklist_categories=("C", "Z")), min_size=1).filter(
    lambda name: not name.startswith("-")
)


@given(st.lists(NAMES, min_size=1))
def test_any_name_can_be_a_value_in_quotes(names: list[str]) -> None:
    parser = CommandParser(prog="x", main="x.main")
    parser.add_list("--term", "COLUMN", "names")
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    assert parser.parse_args([f"--term={quoted}"]).term == names


@pytest.mark.parametrize(
    ("words", "name", "values"),
    [
        (
            ["tag", "--propagate", "PERSON=words,AGE=none", "m", "a", "b"],
            "propagate",
            [("PERSON", "words"), ("AGE", None)],
        ),
        (["tag", "m", "a", "b"], "propagate", None),
        (["gazetteer", "import", "--term", "a, b", "x", "-o", "y"], "term", ["a", "b"]),
        (["embed", "train", "--window", "1,5", "x", "-o", "y"], "window", [1, 5]),
    ],
)
def test_a_list_swallows_no_other_argument(words: list[str], name: str, values: Any) -> None:
    assert getattr(parsed(*words), name) == values


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cluster", "x", "--k", "4,,5"], "expected values separated by commas"),
        (["cluster", "x", "--k", ""], "expected values separated by commas"),
        (["cluster", "x", "--k", "4,0"], "0: expected an integer of 1 or more"),
        (["embed", "train", "x", "-o", "y", "--normalise", "upper"], "'upper': expected one of"),
        (
            ["gazetteer", "import", "x", "-o", "y", "--count", "n", "--count-rows"],
            "not allowed with argument --count",
        ),
    ],
)
def test_values_that_cannot_be_used_are_errors(words, message, command) -> None:
    done = command(*words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err.splitlines()[-1]

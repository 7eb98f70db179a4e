"""JSON of others: values of the expected types are returned, and all else is one clear line."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.errors import InputError
from corpus.storage.fields import Fields, parse_json
from tests.measuring import measured

FIELDS = Fields(
    {
        "text": "a",
        "texts": ["a", "b", "a"],
        "number": 3,
        "real": 0.5,
        "object": {"x": "y"},
        "rows": [{"x": "1"}, {"x": "2"}],
        "none": None,
        "yes": True,
        "nan": math.nan,
        "huge": 10**400,
        "half": "\ud800",
        "halves": ["\ud800"],
    },
    "m.json",
)


def test_values_of_the_expected_types_are_returned() -> None:
    assert FIELDS.text("text") == "a"
    assert FIELDS.texts("texts") == ("a", "b", "a")
    assert FIELDS.integer("number", least=3, most=3) == 3
    assert FIELDS.number("number") == 3.0 and FIELDS.number("real") == 0.5
    assert FIELDS.fields("object").text("x") == "y"
    assert FIELDS.text_by_key("object") == {"x": "y"}
    assert [row.text("x") for row in FIELDS.rows("rows")] == ["1", "2"]
    assert list(FIELDS.fields("object")) == ["x"]


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda fields: fields.text("absent"), 'm.json lacks the key "absent"'),
        (lambda fields: fields.text("number"), 'm.json: "number": expected a string'),
        (lambda fields: fields.text("half"), 'm.json: "half": expected a string'),
        (lambda fields: fields.texts("halves"), "expected strings of characters"),
        (lambda fields: fields.texts("text"), "expected a list of strings"),
        (lambda fields: fields.texts("rows"), "expected a list of strings"),
        (lambda fields: fields.distinct_texts("texts"), "expected a list of different strings"),
        (lambda fields: fields.integer("yes", least=0, most=9), "a whole number from 0 to 9"),
        (lambda fields: fields.integer("number", least=4, most=9), "a whole number from 4 to 9"),
        (lambda fields: fields.integer("real", least=0, most=9), "a whole number"),
        (lambda fields: fields.number("yes"), "a finite number"),
        (lambda fields: fields.number("nan"), "a finite number"),
        (lambda fields: fields.number("huge"), "a finite number"),
        (lambda fields: fields.number("text"), "a finite number"),
        (lambda fields: fields.fields("texts"), 'm.json: "texts": expected an object'),
        (lambda fields: fields.rows("object"), "expected a list of objects"),
        (lambda fields: fields.rows("texts"), 'm.json: "texts", number 1: expected an object'),
        (lambda fields: fields.text_by_key("none"), "expected an object"),
    ],
)
def test_other_values_are_refused(read: Callable[[Fields], Any], message: str) -> None:
    with pytest.raises(InputError) as raised:
        read(FIELDS)
    assert message in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON"),
        (b"\xff\xfe", "it is not UTF-8"),
        (b"[" * 200_000, "is nested too deeply"),
        (b'{"a":' * 200_000, "is nested too deeply"),
        (b"1" * 5000, "a key or a number of more than 1,000"),
    ],
)
def test_what_is_no_json_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_json(content, "m.json")


def test_control_characters_of_keys_are_escaped() -> None:
    with pytest.raises(InputError) as raised:
        Fields({"\x1b[31m": 1}, "m.json").text("\x1b[31m")
    assert str(raised.value).isprintable()


@given(st.lists(st.text('"\\[]{},.a', max_size=20), max_size=20))
def test_brackets_within_strings_have_no_structure(texts: list[str]) -> None:
    nested = ["[" * 40, '"[' * 40, '\\"[' * 40, *texts]
    assert parse_json(json.dumps(nested).encode(), "m.json") == nested


@pytest.mark.parametrize("text", ["[" * 40 + "]" * 40, '["\\\\", ' + "[" * 40 + "]" * 41])
def test_brackets_beside_strings_have_one(text: str) -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        parse_json(text.encode(), "m.json")


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_escapes_take_no_memory_of_their_own() -> None:
    code = "from corpus.storage.fields import parse_json\n"
    code += "print(len(parse_json(b'\"' + b'\\\\n' * 8_000_000 + b'\"', 'm.json')))"
    said, peak = measured(code)
    assert said == "8000000"
    assert peak < 250

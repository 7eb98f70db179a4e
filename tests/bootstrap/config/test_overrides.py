"""Overrides of a configuration, and the source that an error names."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.config.overrides import Source, overridden
from tests.bootstrap.config.conftest import refusal

WORD = st.text("abc", min_size=1, max_size=3)
VALUE = st.one_of(st.integers(), st.booleans(), st.floats(allow_nan=False), WORD)


def as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@given(
    st.dictionaries(WORD, st.dictionaries(WORD, VALUE)),
    st.lists(st.tuples(WORD, WORD, VALUE), max_size=5),
)
def test_the_last_override_of_a_key_holds_and_is_its_source(tables, given) -> None:
    texts = [f"{section}.{key}={as_text(value)}" for section, key, value in given]
    found, origins = overridden(tables, texts)
    source = Source("x.toml", Path("there"), origins)
    expected = {name: dict(table) for name, table in tables.items()}
    last = {}
    for text, (section, key, value) in zip(texts, given, strict=True):
        expected.setdefault(section, {})[key] = value
        last[section, key] = text
    assert found == expected
    for section, table in expected.items():
        for key in table:
            typed = last.get((section, key))
            assert source.origin(section, key) == (f"--set {typed}" if typed else "x.toml")
            assert source.folder_of(section, key) == Path("." if typed else "there")


def test_the_tables_of_the_file_stay_as_they_are() -> None:
    tables = tomllib.loads("[select]\nreference = { empty = 0.5 }")
    found, _ = overridden(tables, ["select.reference.empty=0.1"])
    assert tables == {"select": {"reference": {"empty": 0.5}}}
    assert found == {"select": {"reference": {"empty": 0.1}}}


def test_an_error_between_settings_names_the_overrides_of_its_section(file: Path) -> None:
    patterns = "tagger.patterns=['a.toml']"
    message = refusal(file, "", "loop.batch=5", patterns)
    assert message.startswith(
        f"{file} with --set {patterns}: [tagger] patterns have no effect, because"
    )
    message = refusal(file, "", "loop.batch=5", "loop.pseudo_weight=0.5", "tagger.trainer=crfsuite")
    assert message.startswith(f"{file} with --set loop.batch=5 with --set loop.pseudo_weight=0.5")
    assert "loop.pseudo_weight other than 1 needs document weights, which [tagger]" in message


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("select.reference.empty=7", "[select.reference] empty = 7: expected a finite number"),
        ("select.reference.empti=7", 'no key in [select.reference] "empti"'),
        ("data.seed_columns.text=3", "[data] seed_columns = {'text': 3}: expected a table"),
        ("labels.NAME=3", "[labels] must hold lines"),
        ("select.reference=3", "[select.reference] must be a section"),
    ],
)
def test_an_override_of_a_part_of_a_setting_is_named(file, override, expected) -> None:
    text = "[select.reference]\nempty = 0.5\nlength = { A = 1 }\nper_token = { A = 0.1 }"
    message = refusal(file, text, "loop.batch=3", override)
    assert message.startswith(f"--set {override}: ")
    assert expected in message

"""Tables of patterns: the builtin one by its own examples, and what is wrong with others."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.errors import InputError
from taggers.patterns.matcher import PatternMatcher
from taggers.patterns.pattern import Pattern
from taggers.patterns.tables import IDENTIFIERS, check_examples, read_patterns

BUILTIN = read_patterns((IDENTIFIERS,))
NEGATIVES = [
    line
    for line in Path(__file__).with_name("not_identifiers.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
ROW = '[[pattern]]\nclass = "A"\n'


@pytest.mark.parametrize("pattern", BUILTIN, ids=lambda pattern: pattern.label)
def test_a_row_finds_its_examples_and_not_the_others(pattern: Pattern) -> None:
    assert pattern.matches and pattern.not_matches
    check_examples(pattern, pattern.label)


def test_doses_values_scores_and_eponyms_are_no_identifiers() -> None:
    assert len(NEGATIVES) >= 200
    matcher = PatternMatcher(BUILTIN)
    labels = {
        text: BUILTIN[hits[0][2]].label for text in NEGATIVES if (hits := matcher.spans(text))
    }
    assert not labels


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("«Tel: 912345678»", "912345678"),
        ("•NHC: 123456", "123456"),
        (f"en www.hospital.es/{'a-b/' * 100}fin.", f"www.hospital.es/{'a-b/' * 100}fin"),
        (f"a {'juan.' * 9}ruiz@hospital.es hoy", f"{'juan.' * 9}ruiz@hospital.es"),
    ],
)
def test_signs_before_a_header_and_long_spans_are_read(text, span) -> None:
    matcher = PatternMatcher(BUILTIN)
    assert max((text[start:end] for start, end, _ in matcher.spans(text)), key=len) == span


def test_patterns_that_are_too_large_together_are_searched_one_by_one() -> None:
    patterns = [Pattern(label="A", expression=f"{n}x{{0,900}}") for n in range(64)]
    assert PatternMatcher(patterns).spans("12xx 63x") == [(0, 4, 12), (5, 8, 63)]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "expected rows"),
        ("x = 1", "expected rows"),
        ("[[pattern]]\nclass = 3", "row 1: Expected `str`"),
        (f"{ROW}expression = ''", "row 1: Expected `str` of length >= 1"),
        (f"{ROW}expression = 'a'\nconfidence = 1", "row 1: Expected `float` < 1"),
        (f"{ROW}expression = 'a'\nexpresion = 'b'", "row 1: Object contains unknown field"),
        (f"{ROW}expression = 'a'\n{ROW}expression = '('", "row 2: expression: not an expression"),
        (f"{ROW}expression = 'a(?=b)'", "row 1: expression: .* RE2: invalid perl"),
        (f"{ROW}expression = 'a'\nbefore = '(b)'", "row 1: expected groups that are not captured"),
        (f"{ROW}expression = '(?P<x>a)'", "row 1: expected groups that are not captured"),
        (f"{ROW}expression = 'a*'", "row 1: expression: it matches the empty text"),
        (f"{ROW}expression = '(?:x{{1000}}){{1000}}'", "row 1: expression: not an"),
        (f"{ROW}expression = '{{MONTHS}}'", r"\{MONTHS\} is no fragment: expected one of "),
        (f"{ROW}expression = 'a'\ncheck = 'dnie'", "row 1: check: expected one of dni"),
        (f"{ROW}expression = 'a'\ndrop_invalid = true", "row 1: drop_invalid: expected a check"),
        ('[[pattern]]\nclass = "A\\nB"\nexpression = "a"', "row 1: class: expected a text of one"),
        (f"{ROW}expression = '1'\nmatches = ['1', 'b']", "nothing in number 2 of matches"),
        (f"{ROW}expression = '1'\nnot_matches = ['1']", "a span in number 1 of not_matches"),
    ],
)
def test_errors_name_the_file_and_the_row(table, message, tmp_path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(table)
    with pytest.raises(InputError, match=message) as raised:
        read_patterns((IDENTIFIERS, str(path)))
    assert str(path) in str(raised.value)
    assert str(raised.value).isprintable()


def test_a_file_that_is_missing_is_named(tmp_path) -> None:
    with pytest.raises(InputError, match=r"none\.toml cannot be read: No such file"):
        read_patterns((str(tmp_path / "none.toml"),))


def test_rows_for_other_languages_are_left_out(tmp_path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        f"{ROW}expression = '1'\n{ROW}expression = '2'\nlanguages = ['ca']\n"
        f"{ROW}expression = '3'\nlanguages = ['es', 'en']\n"
    )
    for languages, expected in ((), "123"), (("ca",), "12"), (("en",), "13"):
        assert "".join(p.expression for p in read_patterns((str(path),), languages)) == expected
    with pytest.raises(InputError, match="languages: expected codes such as"):
        read_patterns((str(path),), ("Spanish",))


def test_a_check_raises_and_lowers_the_confidence() -> None:
    pattern = Pattern(label="A", expression="1", confidence=0.9)
    sure, unsure = map(pattern.confidence_after, (True, False))
    assert unsure < pattern.confidence < sure < 1

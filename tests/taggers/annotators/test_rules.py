"""What the rules find, and what they do not."""

from __future__ import annotations

import re

import numpy as np
import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.batch import Batch, Stream, make_batch
from corpus.document import Document
from corpus.errors import InputError
from corpus.storage.fields import Fields
from corpus.tokens.normalisation import normalise
from taggers.annotators import Rules
from taggers.annotators.rules import RULES


def batch_of(*texts: str) -> Batch:
    documents = [Document(str(row), text) for row, text in enumerate(texts)]
    return make_batch(documents, labelled=False)


def said(stream: Stream) -> list[str | None]:
    assert stream.values.dtype == np.int32
    return [stream.vocabulary[value] if value >= 0 else None for value in stream.values.tolist()]


def found_in(text: str, rules: Rules) -> list[tuple[str, str]]:
    """Return what is found: the rule, and its text from the first token to the last."""
    batch = batch_of(text)
    result: list[tuple[str, int, int]] = []
    for token, value in enumerate(said(rules.annotate(batch))):
        if value is None:
            continue
        start, end = int(batch.starts[token]), int(batch.ends[token])
        side, name = value.split("-", 1)
        if side == "B":
            result.append((name, start, end))
        else:
            last = result.pop()
            assert last[0] == name
            result.append((name, last[1], end))
    return [(name, text[start:end]) for name, start, end in result]


BUILT_IN = Rules()


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("DATE", ("3/5/2012", "03-05-12", "31.12.1999", "3 de mayo", "3 de Mayo de 2012")),
        ("DATE", ("12 de septiembre del 2012", "12 setiembre", "3 DE MAYO DE 2012", "2 de març")),
        ("DATE", ("1 de gener de 2015", "1 d'abril de 2015", "1 D’AGOST DEL 2015")),
        ("TIME", ("9:30", "23:59")),
        ("TELEPHONE", ("+34 91 234 56 78", "+34912345678", "+34-612-345-678", "612345678")),
        ("TELEPHONE", ("93.345.67.89", "93 345 67 89")),
        ("IDENTITY", ("12345678Z", "12345678-Z", "12345678 Z", "X1234567L", "Y1234567-L")),
        ("POSTCODE", ("08025", "28027", "52001")),
        ("AGE", ("68 años", "1 año", "102 AÑOS", "68 anys", "3 meses", "3 mesos", "11 dies")),
        ("EMAIL", ("ana.puig+nota@hospital-clinic.cat", "niña_2@correu.udl.es")),
        ("URL", ("https://www.hospital.cat/nota?id=3", "http://x.es", "WWW.HOSPITAL.CAT")),
        ("LONG_NUMBER", ("123456", "0012345678901234")),
    ],
)
def test_a_built_in_rule_finds(name: str, texts: tuple[str, ...]) -> None:
    for text in texts:
        for around in ("{}", "el {} .", "({})", "\n{}\n", "es:{},", "«{}»"):
            assert found_in(around.format(text), BUILT_IN) == [(name, text)]


@pytest.mark.parametrize(
    "text",
    [
        *("3/5-2012", "3/5", "5/2012", "133/5/2012", "3/5/123", "mayo de 2012", "3 de mayoral"),
        *("3 de mar", "25:30", "9:3", "9:60", "123:30", "9:301"),
        *("00000", "53001", "2802", "1234 5678", "5 12 34 56 78"),
        *("1234-Z", "Z", "años", "68 añadidos", "68 mesetas", "1000 años"),
        *("ana@", "@hospital.cat", "ana@hospital", "ana arroba hospital.cat", "ana@.cat"),
        *("http:", "http://", "www", "wwwhospital.cat", "www. "),
        *("La paciente refiere dolor de 3 horas , 38,5 ºC y TA 120/80 .", "B12", "T1N0M0"),
        "",
    ],
)
def test_the_built_in_rules_do_not_find(text: str) -> None:
    assert found_in(text, BUILT_IN) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(www.hospital.cat).", [("URL", "www.hospital.cat")]),
        ("www.hospital.cat, ana@x.es.", [("URL", "www.hospital.cat"), ("EMAIL", "ana@x.es")]),
        ("612345678 / 934567890", [("TELEPHONE", "612345678"), ("TELEPHONE", "934567890")]),
        ("28027España", [("POSTCODE", "28027")]),  # as notes run words together
        ("el 3/5/2012 a las 9:30", [("DATE", "3/5/2012"), ("TIME", "9:30")]),
        ("9:30:15", [("TIME", "9:30")]),
        ("NHC 1234567, 08025 Barcelona", [("LONG_NUMBER", "1234567"), ("POSTCODE", "08025")]),
    ],
)
def test_rules_find_each_thing_beside_the_other(text: str, expected: list[tuple[str, str]]) -> None:
    assert found_in(text, BUILT_IN) == expected


def test_rules_may_have_alternatives_groups_and_names_of_any_form() -> None:
    rules = Rules({"línea 1-2": "a|(b)(?P<x>c)(?P=x)", "B-": r"\\1|(?i:d)|\(?(11)", "": "e"})
    assert found_in("a", rules) == [("línea 1-2", "a")]
    assert found_in("bcc", rules) == [("línea 1-2", "bcc")]
    assert found_in("D", rules) == [("B-", "D")]
    assert found_in("(11", rules) == [("B-", "(11")]
    assert found_in("e", rules) == [("", "e")]


def test_where_there_is_nothing_nothing_is_found() -> None:
    """A place within a word is no part of it, and hides no other rule."""
    rules = Rules({"PLACE": r"(?<=o)(?=l)|\b", "WORD": "hola"})
    assert found_in("hola sol", rules) == [("WORD", "hola")]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"B\n": "("}, r"the rule B\\n is not a valid regular expression: missing "),
        ({"A": "a*"}, "the rule A matches the empty string$"),
        (
            {"A": r"(a)\1"},
            r"the rule A refers to a group by number, .* name the group: \(\?P<sign>",
        ),
        ({"A": r"(a)?b(?(1)c|d)"}, "the rule A refers to a group by number"),
        ({"A": r"(a)\g<1>"}, "the rule A refers to a group by number"),
        ({"A": "a(?1)?(b)"}, "the rule A refers to a group by number"),
        ({"A": "(?i)a"}, "the rule A cannot be combined with others: it sets flags"),
        ({"A": "(?P<x>a)", "B": "(?P<x>b)"}, "the rule B cannot be combined .* names a group"),
        ({"A": "(?P<_0>a)"}, "the rule A cannot be combined .* names a group"),
        ({"A": "(?:" * 500 + "a" + ")" * 500}, "has too many levels"),
        ({str(number): "x" for number in range(501)}, "there are 501 rules, .* at most 500"),
        ({str(number): "x" * 9_000 for number in range(6)}, "50,000 characters together"),
        ({"A": "(?:(?:(?:x{1000}){1000}){100})y"}, "the rules A take more than 1 second or 128 M"),
    ],
)
def test_a_bad_rule_is_an_error_of_one_line(rules: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Rules(rules)
    assert "\n" not in str(caught.value)


def test_without_rules_there_are_the_built_in_ones() -> None:
    for rules in (Rules(), Rules({}), Rules(None)):
        assert rules.settings() == {"rules": RULES}


def test_they_are_made_again_of_their_settings() -> None:
    rules = Rules({"A": "a", "B": "b"})
    batch = batch_of("a b c")
    again = Rules.from_settings(Fields(rules.settings(), "model"))
    assert again.settings() == rules.settings()
    assert said(again.annotate(batch)) == said(rules.annotate(batch)) == ["B-A", "B-B", None]


# Against a look at one match after the other


def one_after_the_other(batch: Batch, rules: dict[str, str]) -> list[str | None]:
    """Find at each place of a text the first rule that matches there."""
    library = re if rules == RULES else regex
    compiled = {name: library.compile(rule) for name, rule in rules.items()}
    result: list[str | None] = [None] * batch.n_tokens
    for row, stored in enumerate(batch.texts.to_pylist()):
        normalised, place = normalise(stored), 0
        text = normalised.text if normalised else stored
        while place < len(text):
            matches = [(name, pattern.match(text, place)) for name, pattern in compiled.items()]
            name, match = next((pair for pair in matches if pair[1]), ("", None))
            if match is None:
                place += 1
                continue
            start, end = normalised.in_source(*match.span()) if normalised else match.span()
            touched = [
                token
                for token in range(
                    int(batch.document_offsets[row]), int(batch.document_offsets[row + 1])
                )
                if batch.starts[token] < end and start < batch.ends[token]
            ]
            for token in touched:
                result[token] = f"{'B' if token == touched[0] else 'I'}-{name}"
            place = match.end()
    return result


OWN = {"TWO": "a.b", "DOT": r"\.+", "WORD": r"(?<!\w)(?P<x>\w)(?P=x)", "END": r"\w(?=\s|$)"}
PIECES = [
    *("a", "b", "aab", "à", "e\u0301", "👩", ".", "..", " ", "\n", "\r\n", "3", "12/3/12", "28027"),
    *("612345678", "ana@x.es", "+34 ", " de mayo", "68 años", ":", "-", "12345678Z", "www.a.b."),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=10).map("".join)


@given(st.lists(TEXTS, max_size=4), st.sampled_from([OWN, RULES]))
@example([], OWN)
@example(["", "", " \n"], RULES)
@settings(max_examples=60, deadline=None)
def test_of_any_texts_it_finds_what_one_match_after_the_other_does(texts, rules) -> None:
    batch = batch_of(*texts)
    for part in (batch, batch.slice(1, 3), batch.take(np.arange(len(batch))[::-1])):
        assert said(Rules(rules).annotate(part)) == one_after_the_other(part, rules)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tel 61\xad2 345\u200b678.", ("TELEPHONE", "61\xad2 345\u200b678")),
        ("Tel ６１２３４５６７８.", ("TELEPHONE", "６１２３４５６７８")),
        ("el 1\u20602/3/12\ufeff ve", ("DATE", "1\u20602/3/12")),
        ("el 3\xa0de\xa0mayo", ("DATE", "3\xa0de\xa0mayo")),
        ("a\xadna@x.\u200bes", ("EMAIL", "a\xadna@x.\u200bes")),
    ],
)
def test_it_finds_what_invisible_characters_and_other_forms_hide(text, expected) -> None:
    assert found_in(text, Rules()) == [expected]


LONG = 200_000


@pytest.mark.parametrize(
    "piece",
    [
        *("a", "é.", "-", "a@", "a@b", "www.", "http://,"),  # without a digit
        *("1", "+34 ", "1/1", "1 de ", "6 ", "X1"),
    ],
)
def test_a_very_long_line_takes_no_more_than_its_length(piece: str) -> None:
    """With work for each pair of places, these would take hours."""
    batch = batch_of((piece * LONG)[:LONG])
    assert len(BUILT_IN.annotate(batch).values) == batch.n_tokens


@pytest.mark.parametrize("rule", [r"(?:\w|\w\w)*;", r"(?:x|xx)*z$", r"(?:x|xx)*\d"])
def test_a_rule_that_takes_too_long_is_an_error_with_the_document(rule: str) -> None:
    rules = Rules({"SLOW": rule})
    notes = [Document("short", "x"), Document("long", "x" * 50 + "palabra " * 50 + "1;yz")]
    batch = make_batch(notes, labelled=False)
    with pytest.raises(InputError, match="the rules take too long, at last in the document long"):
        rules.annotate(batch)


def test_a_rule_that_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="expected at most 10,000"):
        Rules({"LONG": "x" * 10_001})


@given(st.text(alphabet="ab1 2.-", max_size=40))
def test_rules_of_users_match_as_those_of_the_standard_library(text: str) -> None:
    rule = r"(?<!\w)(?P<first>[ab])\w*+-?(?P=first)|\d{1,3}\b(?! )"
    batch = make_batch([Document("1", text)], labelled=False)
    stream = Rules({"R": rule}).annotate(batch)
    expected = [match.span() for match in re.finditer(rule, text) if match.group()]
    touched = [
        any(begin < end_of and start < end for begin, end in expected)
        for start, end_of in zip(batch.starts.tolist(), batch.ends.tolist(), strict=True)
    ]
    assert [value >= 0 for value in stream.values.tolist()] == touched

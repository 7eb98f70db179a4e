"""The builtin table on text that is not as clean as the examples of its rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from corpus.batch import batch_of_texts
from taggers.patterns.matcher import PatternMatcher
from taggers.patterns.merging import merged
from taggers.patterns.tables import IDENTIFIERS, read_patterns

BUILTIN = read_patterns((IDENTIFIERS,))
MATCHER = PatternMatcher(BUILTIN)


def identifiers_of(text: str) -> list[tuple[str, str]]:
    """Return the spans that are kept, as they are written, and their classes."""
    column = pa.array([text], pa.large_string())
    batch = batch_of_texts(column, column)
    hits = MATCHER.find(batch)
    hits = hits.take(merged(hits.first, hits.last, hits.confidences))
    starts, ends = batch.starts[hits.first], batch.ends[hits.last]
    return [
        (text[start:end], BUILTIN[number].label)
        for start, end, number in zip(starts, ends, hits.patterns, strict=True)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Of a telephone within an account number, and of a date within a longer one, nothing stays.
        ("IBAN: ES12 9123 4567 8912 3456 7891.", [("ES12 9123 4567 8912 3456 7891", "IBAN")]),
        ("IBAN ES6691234567891234567891", [("ES6691234567891234567891", "IBAN")]),
        ("el lunes 12 de octubre de 2010", [("lunes 12 de octubre de 2010", "DATE")]),
        ("Nº de historia 12/10/2010", [("12/10/2010", "DATE")]),
        ("NASS: 28 12345678 40, NºCol: 28 28 12345", [
            ("28 12345678 40", "SOCIAL_SECURITY"), ("28 28 12345", "LICENCE")
        ]),
        # Spaces, hyphens and digits of all kinds.
        ("Tel.: 912\u00a034\u00a056\u00a078", [("912\u00a034\u00a056\u00a078", "TELEPHONE")]),
        ("Tel.: 912\u202f34\u200956\u200778", [("912\u202f34\u200956\u200778", "TELEPHONE")]),
        *(
            (f"el 12{hyphen}10{hyphen}2010", [(f"12{hyphen}10{hyphen}2010", "DATE")])
            for hyphen in "-\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d"
        ),
        *(
            (f"DNI 12345678{hyphen}Z", [(f"12345678{hyphen}Z", "ID_CARD")])
            for hyphen in "-\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d"
        ),
        ("CP: １２３４５", [("１２３４５", "POSTAL_CODE")]),
        ("el １２/１０/２０１０", [("１２/１０/２０１０", "DATE")]),
        ("NHC: ٣٦٨٥٠٣", []),
        ("NHC: 36\u200b85\u00ad03", [("36\u200b85\u00ad03", "RECORD")]),
        # Line breaks.
        ("el 12 de octubre\nde 2010", [("12 de octubre\nde 2010", "DATE")]),
        ("el 12 de octubre\r\nde 2010", [("12 de octubre\r\nde 2010", "DATE")]),
        ("mayo\r\nde 2010", [("mayo\r\nde 2010", "DATE")]),
        ("NHC:\r\n368503\r\nCP:\r\n28016\r\n", [("368503", "RECORD"), ("28016", "POSTAL_CODE")]),
        ("12/10/2010\n13/10/2010", [("12/10/2010", "DATE"), ("13/10/2010", "DATE")]),
        # Emoji.
        ("📅 12/10/2010 📞 Tel. 912345678", [("12/10/2010", "DATE"), ("912345678", "TELEPHONE")]),
        ("📧m.garcia@hospital.es👍", [("m.garcia@hospital.es", "EMAIL")]),
        ("Edad: 7️⃣0️⃣ años", [("7️⃣0️⃣ años", "AGE")]),
        # Names of hospitals and streets.
        ("Hospital 12 de Octubre de Madrid", []),
        ("ingresó en el 12 de Octubre", []),
        ("ingresó en el 12 de octubre", []),
        ("ingresó el 12 de octubre", [("12 de octubre", "DATE")]),
        ("Hospital 12 de Octubre el 3 de mayo de 2010", [("3 de mayo de 2010", "DATE")]),
        ("Calle 2 de Mayo 14, 28013 Madrid", [("28013", "POSTAL_CODE")]),
    ],
)  # fmt: skip
def test_identifiers_are_found_in_all_writing(text, expected) -> None:
    assert identifiers_of(text) == expected


@pytest.mark.parametrize("unit", ["1", "@", "1/", "1 ", "a@", "12/10/", "Nº ", "A1", "de 1 ", "ES"])
def test_each_row_is_linear_in_an_adversarial_note(unit) -> None:
    text = unit * (1_000_000 // len(unit.encode()))
    of_all, of_part = (
        [span for span in MATCHER.spans(part) if span[1] < 1_000] for part in (text, text[:2_000])
    )
    assert of_all == of_part

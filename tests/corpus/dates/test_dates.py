"""Written dates are found, read and written again in the same form."""

import datetime
import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.dates import CHECKS, FRAGMENTS, is_time, parse
from corpus.errors import Problems
from corpus.formats import read

MONTHS = {
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre"
    " diciembre",
    "ca": "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre",
    "en": "January February March April May June July August September October November December",
}
SHORT_MONTHS = {
    "es": "ene feb mar abr may jun jul ago sep oct nov dic",
    "ca": "gen feb mar abr mai jun jul ago set oct nov des",
    "en": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
}
WEEKDAYS = {
    "es": "lunes martes miércoles jueves viernes sábado domingo",
    "ca": "dilluns dimarts dimecres dijous divendres dissabte diumenge",
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
}
ROMAN = "I II III IV V VI VII VIII IX X XI XII"

FORMS = {  # of a fragment in languages
    ("NUMERIC_DATE", "es"): "{d}/{m}/{y} | {d}/{m}/{yy} | {dd}/{mm}/{y} | {dd}-{mm}-{yy}"
    " | {dd}.{mm}.{y} | {y}-{mm}-{dd} | {y}/{mm}/{dd} | {d}/{roman}/{y} | {dd} / {mm} /{y}",
    (
        "WRITTEN_DATE",
        "es ca en",
    ): "{d} {month} {y} | {d}-{short}-{y} | {d}{SHORT}{y} | {y} {month} {d}"
    " | {d} {short}. {y} | {d}/{short}/{yy} | {d}-{Month}-{y} | {weekday}, {d} {MONTH} {y}",
    ("WRITTEN_DATE", "es"): "{d} de {month} de {y} | {d} DE {MONTH} DEL {yy}"
    " | {d} de\r\n{month} del año {thousands}",
    ("WRITTEN_DATE", "ca"): "{d} {of}{month} de {y} | {d} {of}{month} de l'any {y}"
    " | {weekday}, {d} {of}{short}. del {y}",
    ("WRITTEN_DATE", "en"): "{month} {d}, {y} | {weekday}, {month} {d}{th} {y}"
    " | {weekday} the {d}{th} of {month}, {y}",
    (
        "PARTIAL_DATE",
        "es ca en",
    ): "{mm}/{y} | {roman}/{y} | {month} {y} | {Month}/{y} | {short}-{yy} | {d} {month}",
    ("PARTIAL_DATE", "es"): "{month} de {y} | {weekday} {d} de {month} | verano de {y} | año {y}",
    ("PARTIAL_DATE", "ca"): "{month} del {y} | {d} {of}{month} | tardor del {y}",
    ("PARTIAL_DATE", "en"): "{month} {d} | {d}{th} of {month} | summer of {y}",
}


@dataclass(frozen=True)
class Form:
    """A form of dates in a language, which a fragment matches."""

    fragment: str
    language: str
    form: str

    def __call__(self, date: datetime.date) -> str:
        month = MONTHS[self.language].split()[date.month - 1]
        short = SHORT_MONTHS[self.language].split()[date.month - 1]
        return self.form.format(
            d=date.day,
            dd=f"{date.day:02}",
            m=date.month,
            mm=f"{date.month:02}",
            y=date.year,
            yy=f"{date.year % 100:02}",
            thousands=f"{date.year:,}".replace(",", "."),
            month=month,
            Month=month.capitalize(),
            MONTH=month.upper(),
            short=short,
            SHORT=short.upper(),
            roman=ROMAN.split()[date.month - 1],
            weekday=WEEKDAYS[self.language].split()[date.weekday()],
            of="d'" if month[0] in "ao" else "de ",
            th={1: "st", 2: "nd", 3: "rd"}.get(date.day % 10 * (date.day // 10 != 1), "th"),
        )


ALL_FORMS = [
    Form(fragment, language, form)
    for (fragment, languages), forms in FORMS.items()
    for language in languages.split()
    for form in forms.split(" | ")
]
FULL_FORMS = [form for form in ALL_FORMS if form.fragment != "PARTIAL_DATE"]
PARTIAL_FORMS = [form for form in ALL_FORMS if form.fragment == "PARTIAL_DATE"]

dates = st.dates(datetime.date(1940, 1, 1), datetime.date(2039, 12, 31))


def is_matched(fragment: str, text: str) -> bool:
    return pc.match_substring_regex(pa.array([text]), f"^(?:{FRAGMENTS[fragment]})$")[0].as_py()


@given(st.sampled_from(FULL_FORMS), dates)
def test_a_date_is_read_and_written_again(form: Form, date: datetime.date) -> None:
    text = form(date)
    parsed = parse(text, form.language)
    assert parsed is not None
    assert parsed.date == date
    assert parsed.written(date) == text


@given(st.sampled_from(FULL_FORMS), dates, dates)
def test_another_date_has_the_same_form(
    form: Form, date: datetime.date, other: datetime.date
) -> None:
    parsed = parse(form(date), form.language)
    assert parsed is not None
    text = parsed.written(other)
    again = parse(text, form.language)
    assert again is not None
    assert again.date == other
    is_ambiguous = "{m}" in form.form or "may" in form(date).lower()  # padded? abbreviated?
    assert text == form(other) or is_ambiguous


@given(st.sampled_from(PARTIAL_FORMS), dates, dates)
def test_the_same_parts_are_written(form: Form, date: datetime.date, other: datetime.date) -> None:
    parsed = parse(form(date), form.language)
    assert parsed is not None
    assert parsed.date is None
    assert parsed.written(date) == form(date)
    assert parsed.written(other) == form(other) or "may" in form(date).lower()


@given(st.sampled_from(ALL_FORMS), dates)
def test_fragments_match_what_is_written(form: Form, date: datetime.date) -> None:
    assert is_matched(form.fragment, form(date))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("12/10/2010", "01/03/2011"),
        ("12/9/2010", "1/3/2011"),
        ("10/25/2010", "03/01/2011"),
        ("20/11//2014", "01/03//2011"),
        ("1º de setiembre", "1º de marzo"),
        ("Sept. 10th", "Mar. 1st"),
        ("MIÉRCOLES 13 DE OCTUBRE DE 2010", "MARTES 1 DE MARZO DE 2011"),
        ("lunes 13 de octubre de 2010", "martes 1 de marzo de 2011"),
        ("12 d’octubre", "1 de març"),
        ("12 d´octubre", "1 de març"),
        ("d'octubre", "de març"),
        ("2010", "2011"),
        ("12 oct 10", "1 mar 11"),
    ],
)
def test_what_stays(text: str, other: str) -> None:
    parsed = parse(text)
    assert parsed is not None
    assert parsed.written(datetime.date(2011, 3, 1)) == other


def test_languages_of_words_are_told_apart() -> None:
    date = datetime.date(2011, 1, 2)
    for text, expected in {
        "12 oct 2010": "2 ene 2011",
        "12 d'oct. 2010": "2 de gen. 2011",
        "12th oct 2010": "2nd jan 2011",
        "octubre de l'any 2010": "gener de l'any 2011",
    }.items():
        assert parse(text).written(date) == expected  # type: ignore[union-attr]
    assert parse("12 oct 2010", "en").written(date) == "2 jan 2011"  # type: ignore[union-attr]
    assert parse("12 de octubre of 2010") is None


def test_years_of_two_digits() -> None:
    years = [parse(f"1-1-{digits}").year for digits in ("39", "40", "00")]  # type: ignore[union-attr]
    assert years == [2039, 1940, 2000]


def test_what_is_no_date() -> None:
    measures = ["1/2", "12/10", "120/80", "3-4 días", "1/2-2010", "12/10/1010", "mayor", ""]
    impossible = ["31/02/2010", "13/13/2010", "29/02/2011", "31 de abril", "0/1/2010", "1/0/2010"]
    longer = ["12/10/2010 ", "el 12 de octubre", "12 de octubre de", "Hospital 12 de Octubre"]
    assert not any(map(CHECKS["date"], measures + impossible + longer))


def test_times() -> None:
    times = ["14:30", "14:30:05", "14.30 h", "14h30", "14 h", "9:05 am", "9 p.m.", "14 horas"]
    for text in times:
        assert CHECKS["time"](text)
        assert is_matched("TIME", text)
    assert not any(map(is_time, ["14.30", "25:10", "12:61", "14", "14 hombres"]))


def test_parts() -> None:
    assert not any(re.compile(expression).groups for expression in FRAGMENTS.values())
    parts = {"DAY": "31", "MONTH": "MARÇ", "WEEKDAY": "Dc.", "YEAR": "1998"}
    for name, text in parts.items():
        assert is_matched(name, text)
        assert not is_matched(name, f"x{text}")


def test_dates_of_notes(meddocan: Path) -> None:
    """Others are typing errors, several dates, or wrong annotations."""
    texts = [
        note.text[span.start : span.end]
        for note in read(meddocan / "train", problems=Problems())
        for span in note.spans
        if span.label == "FECHAS"
    ]
    parsed = [parse(text) for text in texts]
    assert len(parsed) - parsed.count(None) > 0.99 * len(texts)
    for text, date in zip(texts, parsed, strict=True):
        assert not date or not date.date or date.written(date.date) == text
    vague = sum(text.isdigit() or text.isalpha() for text in texts)
    matched = sum(any(is_matched(name, text) for name, _ in FORMS) for text in texts)
    assert matched > 0.98 * (len(texts) - vague)


def test_a_word_that_is_a_month_in_one_language_is_a_weekday_in_another() -> None:
    date = parse("mar, 12 octubre 2010")
    assert date is not None and date.written(datetime.date(2010, 10, 13)) == "mié, 13 octubre 2010"
    assert parse("mar, 12 october 2010") is None

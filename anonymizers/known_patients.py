"""What a hospital knows of the patient of a note, and where it stands in the note.

Names, birth dates, addresses, telephones and record numbers are columns of the notes, or of a table
with a row for each patient. They are found without a model: abbreviated, in another order, with
other separators, and misspelt.
"""

from __future__ import annotations

import bisect
import csv
import datetime
import functools
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rapidfuzz.distance import OSA

from anonymizers.mention import folded
from anonymizers.spans import Spans
from anonymizers.surrogates.names import forms_of
from corpus.dates import parse
from corpus.dates.languages import LANGUAGES
from corpus.errors import InputError
from corpus.formats.batches import OTHERS, columns_after_notes, has_records
from gazetteers.common_words import is_common
from gazetteers.grammar import Grammar

Indices: TypeAlias = npt.NDArray[np.int64]

#: What has found the spans, for the report.
KNOWN = "known patient"

#: The classes of what is found, by the category of the column.
CLASSES: Mapping[str, str] = {
    "person": "PERSON",
    "date": "DATE",
    "place": "LOCATION",
    "telephone": "TELEPHONE",
    "email": "EMAIL",
    "number": "ID",
}
#: The type of the column of what is known of each note.
TYPE = pa.list_(pa.struct([("category", pa.string()), ("value", pa.string())]))

#: The category and the value of what is known of a patient.
Known: TypeAlias = Sequence[Mapping[str, str]]

#: The column of a table that is the group of the notes.
_PATIENT = "patient"
#: The least letters of a word of a name, and of an address; the least characters of a number.
_NAME, _ADDRESS, _NUMBER = 3, 4, 4
#: The least letters of a name that is joined to another, or written in letters apart.
_JOINED = 4
#: A date in one token has more digits than this, such as 12031950.
_DATE_WITHOUT_SIGNS = 6
#: The check letter of an identity number, which may be left out.
_CHECK_LETTER = re.compile(r"(?<=\d{7})[a-z]$")
#: Words of so many letters may have one wrong letter, and of so many two.
_ONE_ERROR, _TWO_ERRORS = 5, 8
_YEAR = re.compile(r"(?:19|20)\d\d")
_WORD = re.compile(r"[^\W\d_]+")
_SIGNS = frozenset(".,-'’ª")
# The kinds of the tokens of a name: its words, n, or those that count beside others, c if they are
# words of the language in lower case and s if they are short; initials, i; signs; and particles, -.
_WORDS = "(?:[ncs]*n[ncs]*|[cs]+(?:c|[,-]?s|--[is]))"
_NAME_KINDS = re.compile(
    f"(?:i[.]?ª?|s[.,]?){{0,4}}{_WORDS}(?:[ics.,'’ª-]{{0,4}}{_WORDS})*(?:(?:,|--)?[is](?:[.]ª)?)?"
)


class KnownOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where what is known of patients is: the table ``[known]`` of a policy.

    Parameters
    ----------
    columns : dict of str to str
        The category of each column: a key of `CLASSES`.
    table : str
        A CSV or Parquet file with the columns, and the column ``patient``, the group of the notes.
        If empty, the columns are those of the notes.
    """

    columns: dict[str, str]
    table: str = ""

    def __post_init__(self) -> None:
        if not self.columns:
            raise InputError(
                '[known] columns is empty; expected categories, such as name = "person"'
            )
        for column, category in self.columns.items():
            if category not in CLASSES:
                raise InputError(f"{column}: expected one of {', '.join(CLASSES)}")


class KnownPatients:
    """What is known of patients.

    Parameters
    ----------
    options : KnownOptions
        Where it is.

    Raises
    ------
    InputError
        If the table cannot be read or lacks a column.
    """

    def __init__(self, options: KnownOptions) -> None:
        self._columns, self._table = options.columns, options.table
        self._values = _read_table(options) if options.table else None
        self._missing: set[str] | None = None  # of the columns, after the first notes
        self._matches = set[bool]()  # whether patients of notes are in the table

    def of_notes(self, notes: pa.RecordBatch) -> pa.Array:
        """Return what is known of the patient of each note, of the type `TYPE`.

        Raises
        ------
        InputError
            If the notes lack a column. Of records of JSON lines, some may lack a key; see
            `refuse_missing`.
        """
        if self._values is not None:
            patients = [_text(group) for group in notes.column("group").to_pylist()]
            self._matches |= {patient in self._values for patient in patients}
            rows = [self._values.get(patient, []) for patient in patients]
        else:
            rows = list(self._of_columns(notes))
        return pa.array(rows, TYPE)

    def _of_columns(self, notes: pa.RecordBatch) -> Iterator[list[dict[str, str]]]:
        if self._missing is None:
            self._missing = {*self._columns}
        if has_records(notes.schema):
            texts = notes.column(OTHERS).to_pylist()
            records = [msgspec.json.decode(text or "{}") for text in texts]
            self._missing -= {name for record in records for name in record}
        else:
            self._missing -= {*columns_after_notes(notes)}
            self.refuse_missing()
            records = pa.table(columns_after_notes(notes)).to_pylist()
        for record in records:
            yield list(_known(self._columns, record))

    def refuse_missing(self) -> None:
        """Check, after all notes, that a note has each column, and one a patient of the table.

        Raises
        ------
        InputError
            If no note has a column, whose name may be misspelt, or no patient is in the table.
        """
        if self._missing:
            raise InputError(f"[known] {min(self._missing)}: the notes have no such column")
        if self._matches == {False}:
            raise InputError(
                f"[known] table {self._table}: its column {_PATIENT} has the group of no note; "
                "expected the groups of the notes (see --group-column)"
            )


def _known(columns: Mapping[str, str], record: Mapping[str, object]) -> Iterator[dict[str, str]]:
    """Yield what a record says."""
    for name, category in columns.items():
        if text := _text(record.get(name)):
            yield {"category": category, "value": text}


def _text(value: object) -> str:
    """Return a cell as text, empty if it has no value; 1.0 is 1 in a column with gaps."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, datetime.date):
        return value.isoformat()[:10]
    text = str(value).strip()
    return text[:-2] if re.fullmatch(r"\d+\.0", text) else text


def _read_table(options: KnownOptions) -> dict[str, list[dict[str, str]]]:
    """Return what a table says of each patient."""
    path = Path(options.table)
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet as pq  # noqa: PLC0415 - not always used

            table = pq.read_table(path)
            names, records = table.column_names, table.to_pylist()
        else:
            with path.open(encoding="utf-8-sig", newline="") as file:
                names, *rows = csv.reader(file, strict=True)
                records = [dict(zip(names, row, strict=True)) for row in rows if row]
    except (OSError, ValueError, csv.Error):
        raise InputError(
            f"[known] table {path} cannot be read; expected Parquet, or CSV with a value for each "
            "column in each row"
        ) from None
    for name in (_PATIENT, *options.columns):
        if (number := names.count(name)) != 1:
            count = "several columns" if number else "no column"
            raise InputError(f"[known] table {path} has {count} {name}")
    values: dict[str, list[dict[str, str]]] = {}
    for record in records:
        if patient := _text(record[_PATIENT]):
            values.setdefault(patient, []).extend(_known(options.columns, record))
    return values


class NoteTokens(NamedTuple):
    """The tokens of notes, in order.

    Parameters
    ----------
    rows, starts, ends : ndarray of int64, shape (N,)
        The note of each token, and its half-open offsets there.
    words : list of str, length N
        The tokens as they are written.
    """

    rows: Indices
    starts: Indices
    ends: Indices
    words: list[str]


def find_known(tokens: NoteTokens, known: Sequence[Known]) -> Spans:
    """Find what is known of patients in their notes.

    Parameters
    ----------
    tokens : NoteTokens
        The tokens of all notes.
    known : sequence of sequence of mapping of str to str
        The category and the value of what is known of the patient of each note.
    """
    spans: list[tuple[int, int, str]] = []  # the first and the last token, and the class
    borders = np.searchsorted(tokens.rows, np.arange(len(known) + 1)).tolist()
    for row, values in enumerate(known):
        first, end = borders[row], borders[row + 1]
        if not values or first == end:
            continue
        note = _Note(tokens.words[first:end])
        by_category: dict[str, list[str]] = {}
        for value in values:
            by_category.setdefault(value["category"], []).append(value["value"])
        for category, texts in by_category.items():
            longest = dict(sorted(_FINDERS[category](note, texts)))  # from each first token on
            spans += [(first + a, first + b, CLASSES[category]) for a, b in longest.items()]
    firsts, lasts = (np.array([span[side] for span in spans], np.int64) for side in (0, 1))
    return Spans(
        tokens.rows[firsts],
        tokens.starts[firsts],
        tokens.ends[lasts],
        np.array([label for *_, label in spans], object),
        np.full(len(spans), KNOWN, object),
    )


class _Note:
    """The tokens of a note, and their letters and digits in a row."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.folded = [folded(word) for word in words]
        characters = ["".join(filter(str.isalnum, word)) for word in self.folded]
        self.compact = "".join(characters)
        self.offsets = [*itertools.accumulate(map(len, characters), initial=0)]  # of tokens there

    def runs(self, value: str) -> Iterator[tuple[int, int]]:
        """Yield the first and last tokens that together have the letters and digits of a value.

        The first token may begin with zeros, and a number may have a check letter.
        """
        start = self.compact.find(value)
        while start >= 0:
            end = start + len(value)
            first, last = (bisect.bisect(self.offsets, place) - 1 for place in (start, end - 1))
            before = self.compact[self.offsets[first] : start]
            after = self.compact[end : self.offsets[last + 1]]
            if not before.strip("0") and (not after or (value.isdecimal() and after.isalpha())):
                yield first, last
            start = self.compact.find(value, self.offsets[first + 1])


def _names(note: _Note, values: Sequence[str]) -> list[tuple[int, int]]:
    texts = (folded(value).replace(".ª", "ª") for value in values)
    particles = _grammar().particles
    names, short = set[str](), set[str]()
    for word in {word for text in texts for word in _WORD.findall(text)} - particles:
        for form in forms_of(word):
            # Ma is also hand in Catalan, and Ant. also before; Mª is always a name.
            is_cut = form != word and word.startswith(form)
            is_short = is_cut or (len(form) < _NAME and form[-1] != "ª")
            (short if is_short else names).add(form)
    initials = {name[0] for name in names}
    # Such as jgarcia and anagarcia.
    joined = {a + b for a in names | initials for b in names if a != b and len(b) >= _JOINED}

    def kind(word: str, written: str) -> str:
        if word in _SIGNS:
            return word
        if word in short:
            return "s" if len(word) > 1 else "i"
        if is_common(written):
            return "c" if word in names else "-" if word in particles else " "
        if word in names or word in joined or _is_misspelt(word, names):
            return "n"
        return "i" if word in initials else "-" if word in particles else " "

    kinds = "".join(map(kind, note.folded, note.words))
    spaced = (run for name in names if len(name) >= _JOINED for run in note.runs(name))
    return [
        (match.start(), match.end() - 1)
        for match in _NAME_KINDS.finditer(kinds)
        if "n" in match[0] or len({*note.folded[match.start() : match.end()]} - _SIGNS) > 1
    ] + [
        (first, last)
        for first, last in spaced
        if last > first and all(len(word) == 1 for word in note.words[first : last + 1])
    ]


def _is_misspelt(word: str, names: set[str]) -> bool:
    """Return whether a word is one of some names with a wrong letter, or two if it is long."""
    if len(word) < _ONE_ERROR or not word.isalpha():
        return False
    most = 1 if len(word) < _TWO_ERRORS else 2
    return any(
        abs(len(name) - len(word)) <= most
        and len(name) >= _ONE_ERROR
        and OSA.distance(name, word, score_cutoff=most) <= most
        for name in names
    )


def _addresses(note: _Note, values: Sequence[str]) -> list[tuple[int, int]]:
    words = {word for value in values for word in re.findall(r"\w+", folded(value))}
    names = {word for word in words - _grammar().place_words if len(word) >= _ADDRESS}
    numbers = {word for word in words if word.isdecimal()}
    following = [*note.folded[1:], ""]
    return [
        (place, place)
        for place, (word, after) in enumerate(zip(note.folded, following, strict=True))
        if word in names and (after in numbers or not is_common(note.words[place]))
    ]


def _numbers(note: _Note, values: Sequence[str]) -> list[tuple[int, int]]:
    places: list[tuple[int, int]] = []
    for value in values:
        characters = "".join(filter(str.isalnum, folded(value)))
        for form in {characters, characters.lstrip("0"), _CHECK_LETTER.sub("", characters)}:
            if len(form) >= _NUMBER and any(map(str.isdigit, form)):
                places += note.runs(form)
    return places


def _telephones(note: _Note, values: Sequence[str]) -> list[tuple[int, int]]:
    own = [re.sub(r"^(?:\+|00)34", "", re.sub(r"[^\d+]", "", value)) for value in values]
    return _numbers(note, [*own, *(f"34{value}" for value in own), *(f"0034{v}" for v in own)])


def _emails(note: _Note, values: Sequence[str]) -> list[tuple[int, int]]:
    own = [folded(value) for value in values if re.search(r"\w@\w", value)]
    forms = (value.replace("@", sign) for value in own for sign in ("", "at", "arroba"))
    return [place for form in forms for place in note.runs("".join(filter(str.isalnum, form)))]


def _dates(note: _Note, values: Sequence[str]) -> list[tuple[int, int]]:
    forms = set[str]()
    for date in filter(None, map(_date, values)):
        days = {f"{date:%d}", str(date.day)}
        years = {year for year in (f"{date:%Y}", f"{date:%y}") if year in note.compact}
        months = {f"{date:%m}", str(date.month), *_months(date.month)}
        for day, month, year in itertools.product(days, months, years):
            forms |= {year + month + day, month + day + year}
            forms |= {
                f"{day}{before}{month}{after}{year}"
                for before, after in itertools.product(("", "de", "d"), ("", "de", "del"))
            }
    full = [
        (first, last)
        for form in forms
        if len(form) >= _NUMBER
        for first, last in note.runs(form)
        if (last > first or len(form) > _DATE_WITHOUT_SIGNS)
        and "x" not in note.words[first : last + 1]  # of 2 x 50 mg; X is October
    ]
    own_years = {value for value in values if _YEAR.fullmatch(value)}
    return full + [(place, place) for place, word in enumerate(note.words) if word in own_years]


@functools.lru_cache(1 << 12)
def _date(text: str) -> datetime.date | None:
    parsed = parse(text) or parse(re.split("[ T]", text)[0])  # a time of day may follow
    return parsed.date if parsed else None


@functools.cache
def _months(month: int) -> frozenset[str]:
    """Return the folded names of a month, and its Roman number."""
    rows = (row[month - 1] for own in LANGUAGES.values() for row in own.months.rows)
    return frozenset(folded(name) for names in rows for name in names)


@functools.cache
def _grammar() -> Grammar:
    return Grammar.read()


_FINDERS = {
    "person": _names,
    "date": _dates,
    "place": _addresses,
    "telephone": _telephones,
    "email": _emails,
    "number": _numbers,
}

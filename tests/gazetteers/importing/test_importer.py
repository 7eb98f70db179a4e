"""Dictionaries are read as Python's csv module reads them, row by row."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.errors import InputError, Problem, Problems
from gazetteers.folding import fold
from gazetteers.importing.importer import Imported, ImportOptions, import_table

Row = tuple[str, str, int]
MakeTable = Callable[[str | bytes], Path]


@pytest.fixture
def table(tmp_path: Path) -> MakeTable:
    """Write a table: `table(text)`."""

    def make(text: str | bytes) -> Path:
        path = tmp_path / "names.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make


def rows_of(imported: Imported) -> list[Row]:
    gazetteer = imported.gazetteer
    columns = gazetteer.terms.to_pylist(), gazetteer.classes.to_pylist(), gazetteer.counts.tolist()
    return list(zip(*columns, strict=True))


def ordered(sums: Counter[tuple[str, str]]) -> list[Row]:
    rows = [(term, name, count) for (term, name), count in sums.items()]
    return sorted(rows, key=lambda row: (-row[2], row[1], row[0]))


def straightforward(
    path: Path, terms: Sequence[int], counts: Sequence[int], name: str, width: int = 0
) -> tuple[list[Row], int]:
    """Add up the rows of a clean file one by one: columns are known by their places."""
    sums: Counter[tuple[str, str]] = Counter()
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    for row in rows:
        parts = [row[place].zfill(width * row[place].isdecimal()) for place in terms]
        term = " ".join(" ".join(parts).split())
        sums[fold([term])[0], name] += sum(int(row[place]) for place in counts) if counts else 1
    return ordered(sums), len(rows)


def read(path: Path, **options: Any) -> list[Row]:
    return rows_of(import_table(path, ImportOptions(**options)))


# Real files, as they are


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "options", "terms", "counts", "width"),
    [
        ("given_names_men", {}, [0], [1], 0),
        ("given_names_women", {}, [0], [1], 0),
        ("surnames", {}, [0], [1, 2], 0),
        ("surnames", {"counts": ["frec_pri", "freq_rep"]}, [0], [1, 3], 0),
        ("municipalities", {}, [0], [1], 0),
        ("hospitals", {}, [0], [], 0),
        ("hospitals", {"terms": ["codpostal"]}, [4], [], 5),
        ("health_centres", {}, [4], [], 0),
        ("health_centres", {"terms": ["CP"]}, [6], [], 5),
        ("health_centres", {"terms": ["column1"], "width": 7}, [0], [], 7),
        ("council_addresses", {"terms": ["dir_tipo_via", "Dir_Via"]}, [1, 2], [], 0),
        ("council_addresses", {"terms": ["n_mun.2"]}, [4], [], 0),
        ("council_addresses", {"terms": ["dir_cp"]}, [3], [], 5),
    ],
)
def test_published_files_are_read_as_they_are(file, options, terms, counts, width, spain) -> None:
    path = spain / f"{file}.csv"
    expected, rows = straightforward(path, terms, counts, "x", width)
    imported = import_table(path, ImportOptions(class_name="x", **options))
    assert rows_of(imported) == expected
    assert (imported.rows, imported.left_out) == (rows, 0)


# What is made of a row


def test_terms_are_folded_and_whole_and_added_up(table: MakeTable) -> None:
    path = table('nombre,frec\n MARÍA  José ,3\n"Maria\njosé",4\nmaria jose,5\nMUÑOZ,1\nmunoz,1\n')
    assert read(path) == [
        ("maria jose", "nombre", 12),
        ("munoz", "nombre", 1),
        ("muñoz", "nombre", 1),
    ]


@settings(max_examples=30)
@given(
    rows=st.lists(
        st.tuples(
            st.text("aA ñÑé\n,;\"'", max_size=6).map("x{}".format),
            st.integers(0, 10**11),
            st.sampled_from(["c", " d ", "e f"]),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_any_table_is_read_as_a_loop_over_rows_reads_it(rows, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("t") / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("term", "count", "kind"), *rows])
    sums: Counter[tuple[str, str]] = Counter()
    for term, count, kind in rows:
        sums[fold([" ".join(term.split())])[0], kind.strip()] += count
    assert read(path, class_column="kind") == ordered(sums)


@pytest.mark.parametrize(
    ("options", "classes"),
    [
        ({}, {"apellido"}),
        ({"class_name": " SURNAME "}, {"SURNAME"}),
        ({"class_column": "Origen"}, {"Norte Sur", "este"}),
        ({"terms": ["Apellido", "Origen"]}, {"apellido origen"}),
    ],
)
def test_classes(options: dict[str, Any], classes: set[str], table: MakeTable) -> None:
    path = table("Apellido,Origen,n\nGIL,Norte  Sur,1\nPI,este,2\nPI, este,2\n")
    assert {name for _, name, _ in read(path, **options)} == classes


def test_parts_of_a_term_may_be_empty(table: MakeTable) -> None:
    path = table("type,street\nCalle,Mayor\n,Prado\nPlaza,\n")
    assert {term for term, _, _ in read(path, terms=["type", "street"])} == {
        "calle mayor",
        "prado",
        "plaza",
    }


@pytest.mark.parametrize("name", ["CP", "cp", "C.P.", "CodPostal", "codigo_postal", "dir_cp"])
def test_postal_codes_have_five_digits(name: str, table: MakeTable) -> None:
    path = table(f"{name},x\n8001,a\n 8001 ,a\n28001,a\nAD500,a\n")
    expected = [("08001", 2), ("28001", 1), ("ad500", 1)]
    assert sorted((term, count) for term, _, count in read(path, terms=[name])) == expected


@pytest.mark.parametrize("name", ["cpu", "codigo", "portal", "telefono"])
def test_other_numbers_are_as_they_are(name: str, table: MakeTable) -> None:
    path = table(f"{name},x\n8001,a\n")
    assert read(path, terms=[name], counts=[])[0][0] == "8001"
    assert read(path, terms=[name], counts=[], width=6)[0][0] == "008001"


# Which columns


@pytest.mark.parametrize(
    ("text", "terms", "counts"),
    [
        ("nombre,frec,edad_media\nANA,5,41.9\n", ("nombre",), ("frec",)),
        ("Orden,Apellido,Frecuencia\n1,GIL,5\n", ("Apellido",), ("Frecuencia",)),
        ("TERM\tn\nx\t1\n", ("TERM",), ("n",)),
        ("name,town,bearers\nx,y,1\n", ("name",), ("bearers",)),
        ("MUNICIPI,POB20\nReus,1\n", ("MUNICIPI",), ("POB20",)),
        ("población,habitantes\nReus,1\n", ("población",), ("habitantes",)),
        ("apellido,frec_pri,frec_seg,freq_rep\nG,3,4,1\n", ("apellido",), ("frec_pri", "frec_seg")),
        ("apellido,frec_rep,frec_seg\nGIL,3,4\n", ("apellido",), ("frec_seg",)),
        ("thing,much\nx,1\n", ("thing",), ("much",)),
        ("thing,age\nx,1\n", ("thing",), ()),
        (",thing,cp\n0,x,8001\n", ("thing",), ()),
        ("nombre,nota\nANA,x\n", ("nombre",), ()),
        ("palabra\nx\n", ("palabra",), ()),
        ("nombre,frec\nANA,..\nEVA,3\n", ("nombre",), ("frec",)),
        ("nombre,frec\nANA,many\nEVA,few\nLUZ,3\n", ("nombre",), ("frec",)),
    ],
)
def test_columns_are_told_by_their_names_and_rows(text, terms, counts, table) -> None:
    imported = import_table(table(text), problems=Problems(invalid="skip"))
    assert (imported.terms, imported.counts) == (terms, counts)
    assert set(terms + counts) <= set(imported.table.columns)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\nx,y\n", {}, "names.csv: cannot detect the column of terms among its 2; .* --term"),
        ("nombre,apellido\nx,y\n", {}, "column of terms among its 2"),
        ("a,b\n1,2\n", {}, "cannot detect the column of terms"),
        ("nombre,total,frec\nx,1,2\n", {}, "column of counts among its 3; .*--count-rows"),
        ("nombre,a,b\nx,1,2\n", {}, "cannot detect the column of counts"),
        ("nombre,n\nx,1\n", {"terms": ["name"]}, "no column name for --term among its 2"),
        ("nombre,n\nx,1\n", {"counts": ["m"]}, "no column m for --count among its 2"),
        ("nombre,n\nx,1\n", {"class_column": "m"}, "no column m for --class-column"),
        ("Nombre,NOMBRE\nx,y\n", {"terms": ["nombre"]}, "no column nombre for --term"),
        ("nombre,n\nx,1\n", {"counts": ["n", "N"]}, "--count names a column twice"),
        ("nombre,n\nx,1\n", {"class_name": "  "}, "expected the name of a class"),
        ("nombre,n\nx,1\n", {"class_name": "a\nb"}, "--class .*expected the name of a class"),
        ("GARCIA,1484607\nGIL,2\n", {}, "names.csv: its first line holds numbers, and is no head"),
        ("nombre,2019\nx,1\n", {"terms": ["nombre"]}, "name both columns with --term and --count"),
    ],
)
def test_what_cannot_be_told_is_asked(text, options, message, table) -> None:
    with pytest.raises(InputError, match=message):
        import_table(table(text), ImportOptions(**options))


def test_a_header_of_numbers_can_be_named(table: MakeTable) -> None:
    path = table("nombre,2019,2020\nx,1,2\n")
    assert read(path, terms=["nombre"], counts=["2019", "2020"]) == [("x", "nombre", 3)]


def test_no_count_can_be_asked_for(table: MakeTable) -> None:
    assert read(table("nombre,n\nx,7\nx,8\n"), counts=[]) == [("x", "nombre", 2)]


# Rows that cannot be used

BAD = """\
nombre,frec
ana,1

eva,..
luz,12.5
"a
b",-3
,4
sol,5,6
paz
rita,1000000000000
\u0301 ,8
mar,9
"""
FAULTS = [
    (4, "no count"),
    (5, "count that is no whole number"),
    (6, "negative count"),
    (8, "no term"),
    (9, "row with too many fields"),
    (10, "row with too few fields"),
    (11, "count that is too large"),
    (12, "no term"),
]


def test_rows_that_cannot_be_used_are_named_and_counted(table: MakeTable) -> None:
    path = table(BAD)
    noted: list[Problem] = []
    imported = import_table(path, problems=Problems(invalid="skip", on_problem=noted.append))
    assert [(problem.where, problem.kind) for problem in noted] == [
        (f"{path}:{line}", kind) for line, kind in FAULTS
    ]
    assert all("expected" in fault.detail or "header has 2" in fault.detail for fault in noted)
    assert not any(name in str(noted) for name in ["eva", "luz", "rita", "1000000000000"])
    with pytest.raises(InputError, match=r'names.csv:4: no count: .*invalid = "skip"'):
        import_table(path)
    assert rows_of(imported) == [("mar", "nombre", 9), ("ana", "nombre", 1)]
    assert (imported.rows, imported.left_out) == (2, len(FAULTS))


def test_a_row_without_a_class_cannot_be_used(table: MakeTable) -> None:
    with pytest.raises(InputError, match=r"names.csv:3: no class: expected its name"):
        read(table("term,kind\na,x\nb, \n"), class_column="kind")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names.csv is empty; expected a header and rows"),
        ("nombre,frec\n", "names.csv has a header and no rows"),
        ("a,b\n\n \n", "names.csv has a header and no rows"),
        ("nombre,frec\nana,..\neva\n", "names.csv: none of its 2 rows can be used"),
    ],
)
def test_a_file_without_a_row_is_refused(text: str, message: str, table: MakeTable) -> None:
    with pytest.raises(InputError, match=message):
        import_table(table(text), problems=Problems(invalid="skip"))

"""What is known of a patient is found in his notes, in other forms, too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.known_patients import (
    KnownOptions,
    KnownPatients,
    NoteTokens,
    find_known,
)
from corpus.batch import make_batch
from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.formats import read_batches
from corpus.formats.batches import batch_of


def found(text: str, **known: str) -> list[str]:
    batch = make_batch([Document("1", text)], labelled=False)
    words = [batch.vocabulary[number] for number in batch.word_ids.tolist()]
    rows = np.zeros(batch.n_tokens, np.int64)
    tokens = NoteTokens(rows, batch.starts.astype(np.int64), batch.ends.astype(np.int64), words)
    values = [{"category": category, "value": value} for category, value in known.items()]
    spans = find_known(tokens, [values])
    return [text[a:b] for a, b in zip(spans.starts.tolist(), spans.ends.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Vista Marta Puigdefàbregas Soler hoy", ["Marta Puigdefàbregas Soler"]),
        ("PUIGDEFABREGAS SOLER, MARTA", ["PUIGDEFABREGAS SOLER, MARTA"]),
        ("M. Puigdefàbregas y Soler", ["M. Puigdefàbregas y Soler"]),
        ("Sra. Puigdefabrgas", ["Puigdefabrgas"]),  # misspelt
        ("Puigdefàbregas, M. ingresa", ["Puigdefàbregas, M"]),
        ("puigdefabregas viene sola", ["puigdefabregas"]),
        ("Puigdefàbregas, M. J. y su madre", ["Puigdefàbregas, M"]),
        ("martes, soleado", []),
        ("Sra. Blanco, Josefa Ruiz", []),
    ],
)
def test_names(text: str, expected: list[str]) -> None:
    assert found(text, person="Marta Puigdefàbregas Soler") == expected


def test_a_common_word_counts_only_with_a_capital_or_beside_others() -> None:
    text = "sustancia blanco. Sra. Blanco, color rosa y blanco; rosa blanco acude"
    assert found(text, person="Rosa Blanco") == ["Blanco", "rosa blanco"]
    assert found("ruiz blanco", person="Ana Blanco Ruiz") == ["ruiz blanco"]
    assert found("balmes; c/ balmes 12", place="Calle Balmes, 12") == ["balmes"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Li Wu", "Li Wu; LI WU; Wu Li", ["Li Wu", "LI WU", "Wu Li"]),
        ("Li Wu", "Sra. Wu, Li; Li-Wu", ["Wu, Li", "Li-Wu"]),
        ("Li Wu", "se li dona; Wu; li, li", []),
        ("Ana Wu", "Ana Wu; Wu", ["Ana Wu"]),
        ("Juan de la O", "juan de la o; Juan de la O", ["juan de la o", "Juan de la O"]),
        ("Juan de la O", "uno o dos", []),
        ("María José Fernández García", "Mª Fdez. García", ["Mª Fdez. García"]),
        ("María José Fernández García", "M.ª Fernández", ["M.ª Fernández"]),
        ("María José Fernández García", "mª josé; Mª José", ["mª josé", "Mª José"]),
        ("María José Fernández García", "Dña. Ma. José Gª", ["Ma. José Gª"]),
        ("María José Fernández García", "José M.ª", ["José M.ª"]),
        ("María", "Ma, Mà", []),
        ("Mª Fdez.", "María Fernández", ["María Fernández"]),
        ("M.ª Pz.", "María Pérez", ["María Pérez"]),
        ("Francisco Javier", "Fco. ingresa", ["Fco"]),
        ("Francisco Javier", "Fco. Javier", ["Fco. Javier"]),
        ("Antonio Ruiz", "Ant. Ruiz. Ant. personales", ["Ant. Ruiz"]),
        ("Ana García", "usuario agarcia: AnaGarcía, analucia", ["agarcia", "AnaGarcía"]),
        ("Ana García", "G A R C I A, A; G. A. R.", ["G A R C I A"]),
    ],
)
def test_short_and_abbreviated_names(name: str, text: str, expected: list[str]) -> None:
    assert found(text, person=name) == expected


@pytest.mark.parametrize(
    ("category", "value", "text", "expected"),
    [
        ("telephone", "+34 935 550 102", "tel 93 555 01 02.", ["93 555 01 02"]),
        ("telephone", "935550102", "0034-935-550-102", ["935-550-102", "0034-935-550-102"]),
        ("number", "00123456", "NHC 123.456", ["123.456"]),
        ("number", "12345678Z", "DNI 12.345.678-z", ["12.345.678-z"]),
        ("number", "12", "cama 12", []),
        ("number", "123456", "1234567 y 9123456", []),
        ("number", "1234567", "NHC 01234567, 91234567, 100 1234567", ["01234567", "1234567"]),
        ("number", "12345678Z", "12345678, 12.345.678", ["12345678", "12.345.678"]),
        ("number", "12345678", "DNI 12345678Z, 12345678-Z", ["12345678Z", "12345678"]),
        ("number", "1950A", "en 1950", []),
        ("email", "ana.puig@x.es", "ANA.PUIG@x.es", ["ANA.PUIG@x.es"]),
        ("email", "ana.puig@x.es", "ana.puig(at)x.es", ["ana.puig(at)x.es"]),
        ("email", "ana.puig@x.es", "ana.puig [at] x.es", ["ana.puig [at] x.es"]),
        ("email", "@", "ana at x.es", []),
        ("date", "1950-03-12", "12/III/50 y 12-iii-1950", ["12/III/50", "12-iii-1950"]),
        ("date", "1950-10-02", "2 x 50 mg; 2.X.50", ["2.X.50"]),
        ("date", "1950-03-12", "12/3/50; 12 de marzo de 1950", ["12/3/50", "12 de marzo de 1950"]),
        ("date", "1950-04-03", "3 d'abril del 1950", ["3 d'abril del 1950"]),
        ("date", "12/03/1950", "12-03-1950; 13/03/1950", ["12-03-1950"]),
        ("date", "1950-03-12", "12/03 del 50; 12.03. de 1950", ["12/03 del 50", "12.03. de 1950"]),
        ("date", "1950", "de 1950, 19501, 1951", ["1950"]),
        ("date", "1950.0", "en 1950", []),
        ("place", "C/ Balmes 12, Olot", "en Balmes, calle de Olot", ["Balmes", "Olot"]),
        ("person", "N", "N hoy", []),
        ("person", "(.*)", "todo", []),
        ("date", "desconocida", "hoy", []),
        ("date", "1950-03-12 00:00:00", "el 12.03.1950", ["12.03.1950"]),
    ],
)  # fmt: skip
def test_other_values(category: str, value: str, text: str, expected: list[str]) -> None:
    assert sorted(found(text, **{category: value})) == sorted(expected)


@given(
    st.text(max_size=40),
    st.text(max_size=12),
    st.sampled_from(["person", "date", "place", "telephone", "email", "number"]),
)
def test_spans_lie_in_the_text(text: str, value: str, category: str) -> None:
    for piece in found(text, **{category: value}):
        assert piece and piece in text


def test_the_columns_of_notes(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "text": "Ana", "nombre": "Ana Puig", "nhc": 123456, "alta": None},
        {"id": "2", "text": "x", "nombre": "", "nhc": None, "alta": "2010-01-02"},
    ]
    path = tmp_path / "n.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = KnownOptions({"nombre": "person", "nhc": "number", "alta": "date"})
    expected = [
        [{"category": "person", "value": "Ana Puig"}, {"category": "number", "value": "123456"}],
        [{"category": "date", "value": "2010-01-02"}],
    ]
    for carry in ("records", "columns"):
        (batch,) = read_batches(path, problems=Problems(), labelled=False, carry=carry)
        assert KnownPatients(options).of_notes(batch).to_pylist() == expected
    (batch,) = read_batches(path, problems=Problems(), labelled=False, carry="columns")
    with pytest.raises(InputError, match="edad: the notes have no such column"):
        KnownPatients(KnownOptions({"edad": "number"})).of_notes(batch)


def test_records_may_lack_a_key_that_others_have(tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    path.write_text('{"id": "1", "text": "Ana"}\n{"id": "2", "text": "x", "nhc": 612345678.0}\n')
    known = KnownPatients(KnownOptions({"nhc": "number"}))
    (batch,) = read_batches(path, problems=Problems(), labelled=False, carry="records")
    assert known.of_notes(batch.slice(0, 1)).to_pylist() == [[]]
    with pytest.raises(InputError, match="nhc: the notes have no such column"):
        known.refuse_missing()
    assert known.of_notes(batch.slice(1)).to_pylist() == [
        [{"category": "number", "value": "612345678"}]
    ]
    known.refuse_missing()


def test_a_table_of_patients(tmp_path: Path) -> None:
    table = tmp_path / "patients.csv"
    table.write_text("patient,name\np1,Ana Puig\np2,\np1,Anna\n")
    options = KnownOptions({"name": "person"}, str(table))
    path = tmp_path / "n.jsonl"
    rows = [
        {"id": str(n), "text": "x", "group": group} for n, group in enumerate(["p2", "p1", None])
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (batch,) = read_batches(path, problems=Problems(), labelled=False)
    values = [
        [v["value"] for v in row] for row in KnownPatients(options).of_notes(batch).to_pylist()
    ]
    assert values == [[], ["Ana Puig", "Anna"], []]
    with pytest.raises(InputError, match="has no column age"):
        KnownPatients(KnownOptions({"age": "number"}, str(table)))
    with pytest.raises(InputError, match="cannot be read"):
        KnownPatients(KnownOptions({"age": "number"}, str(tmp_path / "none.csv")))
    with pytest.raises(InputError, match="name: expected one of person"):
        KnownOptions({"name": "surname"})
    with pytest.raises(InputError, match="columns is empty"):
        KnownOptions({}, str(table))
    table.write_text("patient,name\n")
    with pytest.raises(InputError, match="has no column age"):
        KnownPatients(KnownOptions({"age": "number"}, str(table)))


def of_groups(table: Path, *groups: str | None) -> list[list[str]]:
    """Return what a table says of the names and numbers of the patients of notes."""
    notes = batch_of([Document(str(row), "x", group=group) for row, group in enumerate(groups)])
    known = KnownPatients(KnownOptions({"name": "person", "nhc": "number"}, str(table)))
    values = known.of_notes(notes).to_pylist()
    known.refuse_missing()
    return [[value["value"] for value in row] for row in values]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_of_integers_with_gaps(tmp_path: Path, suffix: str) -> None:
    rows = pa.table(
        {
            "patient": [1.0, None, float("nan"), 17.0],
            "name": ["Ana", "Eva", "Mar", "Pau"],
            "nhc": [6123456.0, 1.0, 2.0, float("nan")],
        }
    )
    table = tmp_path / f"patients.{suffix}"
    if suffix == "parquet":
        pq.write_table(rows, table)
    else:
        table.write_text('patient,name,nhc\n1.0,Ana,6123456.0\n,Eva,1.0\n" ",Mar,2\n 17 ,Pau,\n')
    expected = [["Ana", "6123456"], [], [], ["Pau"], ["Pau"]]
    assert of_groups(table, "1", None, "nan", "17", "17.0") == expected


def test_a_table_without_the_patients_of_the_notes_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "patients.csv"
    table.write_text("patient,name,nhc\np1,,\n")
    assert of_groups(table, "p1", "p2") == [[], []]
    assert of_groups(table) == []
    with pytest.raises(InputError, match=r"patients.csv: .* the group of no note"):
        of_groups(table, "P-1", None)


def test_a_source_without_notes_lacks_no_column() -> None:
    KnownPatients(KnownOptions({"name": "person"})).refuse_missing()


@pytest.mark.parametrize(
    "content", ["patient,n\n1,Puig, Ana\n", "patient,n\n1\n", "patient,n,n\n1,Ana,Puig\n", ""]
)
def test_a_table_that_would_lose_a_name_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text(content)
    with pytest.raises(InputError, match=r"\[known\] table"):
        KnownPatients(KnownOptions({"n": "person"}, str(tmp_path / "patients.csv")))
    with pytest.raises(InputError, match="cannot be read"):
        KnownPatients(KnownOptions({"n": "person"}, "a\0b"))

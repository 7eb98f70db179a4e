"""Units: every character of a text in one of them, at offsets that lead back to it."""

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.document import Document, Span
from corpus.errors import Problem, Problems
from corpus.formats.batches import SCHEMA, batches_of, documents_of
from corpus.tokens.characters import LINE_ENDS
from corpus.tokens.normalisation import normalise
from corpus.tokens.sentences import _breaks, _breaks_in_source
from corpus.units import Unit, count_lines, split_batch, split_documents, unit_texts

PIECES = [
    *(".", "...", "!", "¿", "?", "…", ")", "»", '"', "(", "«", " ", "  ", "\t", "\xa0", "\u2028"),
    *("\n", "\r\n", "\r", "\n\n", "\x0b", "\x85", "\ufeff", "\0", "e\u0301", "👩\u200d⚕\ufe0f"),
    *("El", "dolor", "Dr.", "H.", "Sta.", "Álvarez", "3", "aprox."),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=20).map("".join)
pieces_of_text = st.sampled_from(["line", "sentence"])
thorough = settings(max_examples=60, deadline=None)


@st.composite
def documents(draw: st.DrawFn, name: str = "a") -> Document:
    text = draw(texts)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    pairs = list(pairwise(cuts))
    names = [draw(st.sampled_from(["A", "B", None])) for _ in pairs]
    spans = [Span(*pair, name) for pair, name in zip(pairs, names, strict=True) if name]
    return Document(name, text, tuple(spans), draw(st.sampled_from([None, "p"])))


notes = st.lists(st.sampled_from("abc").flatmap(documents), max_size=5)


def batch_of(documents: list[Document]) -> pa.RecordBatch:
    """Return documents as a part of a record batch, with another column."""
    around = [Document("x", "É. X\n", (Span(0, 1, "A"),))]
    (batch,) = batches_of(around + documents + around)
    others = pa.array([{"n": 7}] * len(batch))
    batch = batch.append_column("others", others)
    return batch.slice(1, len(documents))


def split_document(
    document: Document, unit: Unit, problems: Problems
) -> list[tuple[int, Document]]:
    (notes,) = batches_of([document])
    units = split_batch(notes, unit, problems)
    return list(zip(units.offsets.tolist(), documents_of(units.batch), strict=True))


def specified_borders(text: str, unit: Unit) -> Iterator[tuple[int, int]]:
    for match in re.finditer(f"[^{LINE_ENDS}]+", text):
        if match.group().isspace():
            continue
        begin, end = match.span()
        if unit == "sentence":
            line = normalise(match.group()) if normalise(text) else None
            breaks = _breaks_in_source(text, line, begin) if line else _breaks(text, begin, end)
            for stop, following in breaks:
                yield begin, stop
                begin = following
        yield begin, end


def specified_units(
    document: Document, unit: Unit, problems: list[Problem]
) -> Iterator[tuple[int, Document]]:
    """Split a note by itself: what units are."""
    borders = list(specified_borders(document.text, unit))
    pieces: dict[tuple[int, int], list[Span]] = {border: [] for border in borders}
    for span in document.spans:
        for start, end in borders:
            left, right = max(span.start, start), min(span.end, end)
            cut = document.text[left:right]
            if (left, right) != (span.start, span.end):
                left, right = left + len(cut) - len(cut.lstrip()), left + len(cut.rstrip())
            if left < right:
                pieces[start, end].append(Span(left - start, right - start, span.label))
        if not any(start <= span.start and span.end <= end for start, end in borders):
            problems.append(
                Problem(
                    f"annotations that cross the border of a {unit}",
                    f"document {document.id}",
                    f"{span}, cut at the border",
                )
            )
    group = document.group or document.id
    for (start, end), spans in pieces.items():
        text = document.text[start:end]
        yield start, Document(f"{document.id}#{start}", text, tuple(spans), group)


@given(notes, pieces_of_text)
@example([Document("a", "Sí."), Document("b", ") El"), Document("c", ". Él")], "sentence")
@example([Document("a", "Va.\u2029"), Document("b", ""), Document("c", "\u2028 El")], "line")
@example([Document("a", "-\n\xad\u0301\u20742"), Document("b", "Gar-\ncía. El-")], "sentence")
@thorough
def test_units_of_a_batch_are_those_of_each_note(documents: list[Document], unit: Unit) -> None:
    expected_problems: list[Problem] = []
    expected = [
        (row, *piece)
        for row, document in enumerate(documents)
        for piece in specified_units(document, unit, expected_problems)
    ]
    problems: list[Problem] = []
    units = split_batch(batch_of(documents), unit, Problems(on_problem=problems.append))
    assert units.batch.schema == SCHEMA
    units.batch.validate(full=True)
    columns = units.owners.tolist(), units.offsets.tolist(), documents_of(units.batch)
    assert list(zip(*columns, strict=True)) == expected
    assert problems == expected_problems
    assert list(split_documents(documents, unit, Problems())) == [unit for *_, unit in expected]
    texts = pa.array([document.text for document in documents], pa.large_string())
    assert unit_texts(texts, unit).to_pylist() == [unit.text for *_, unit in expected]
    if unit == "line":
        counts = [sum(row == of_unit for of_unit, *_ in expected) for row in range(len(texts))]
        assert count_lines(texts).tolist() == counts


@given(notes)
def test_whole_notes_are_unchanged(documents: list[Document]) -> None:
    batch = batch_of(documents)
    problems = Problems()
    units = split_batch(batch, "document", problems)
    assert units.batch is batch
    assert not problems.counts
    assert list(split_documents(documents, "document", problems)) == documents
    texts = batch.column("text")
    assert unit_texts(texts, "document") is texts
    rows = np.repeat(np.arange(len(documents)), [len(document.spans) for document in documents])
    values = (batch.column(name).flatten() for name in ("starts", "ends"))
    starts, ends = (column.to_numpy() for column in values)
    labels = batch.column("labels").flatten()
    joined = units.joined_spans(len(documents), rows, starts, ends, labels)
    assert joined == batch.columns[3:6]


def test_arrow_and_python_have_the_same_white_space() -> None:
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    texts = pa.array(characters, pa.large_string())
    assert pc.utf8_is_space(texts).to_pylist() == [one.isspace() for one in characters]
    for strip in (pc.utf8_ltrim_whitespace, pc.utf8_rtrim_whitespace):
        assert strip(texts).to_pylist() == [one.strip() for one in characters]


def split(text: str, unit: Unit) -> list[str]:
    return [piece.text for _, piece in split_document(Document("a", text), unit, Problems())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ana\nPuig", {0: "Ana", 4: "Puig"}),
        ("Ana\r\nPuig\rVic", {0: "Ana", 5: "Puig", 10: "Vic"}),
        ("\n\nAna\n \t \n\r\n  Puig  \n", {2: "Ana", 12: "  Puig  "}),
        ("\ufeffNombre: Ana.\nVic. 3", {0: "\ufeffNombre: Ana.", 14: "Vic. 3"}),
        ("a\x0bb\x85c\u2028d\f\u2029e\x1cf", {0: "a", 2: "b", 4: "c", 6: "d", 9: "e\x1cf"}),
        ("", {}),
        (" \n\t\r\n", {}),
    ],
)
def test_lines(text: str, expected: dict[int, str]) -> None:
    actual = split_document(Document("a", text), "line", Problems())
    assert {offset: piece.text for offset, piece in actual} == expected


@pytest.mark.parametrize(
    "text",
    [
        "Refiere dolor.| El paciente sale.",
        "Refiere dolor...|  El paciente sale!| ¿Vuelve?| «No.»| Sí.",
        "Dolor (intenso.)| Alta…| 3 días después vuelve.",
        'Dice "me duele."| Álvarez lo ve.',
        # No sentence ends within a word, or before a small letter, or without a space.
        "Mide 1.75 y pesa 60. kg el dia 3.A vegades",
        "bases...Normas.Pulmicort-100",
        # Lines end sentences.
        "Refiere dolor|\nEl paciente sale.|\r\nalta",
        "Sin punto|\rni final",
        # Abbreviations go on, wherever they stand.
        "Visto por el Dr. Pérez y la Dra. Puig.| Alta.",
        "Dr. Pérez lo ve.| Sta. Cruz.",
        "Refiere dolor.| Dr. Pérez lo ve.| H. Clínico.| C. Mayor 3.",
        "Refiere dolor.|\nDr. Pérez lo ve.|\r\nSta. Cruz de Tenerife.|\nH. Clínico.|\r3 dias",
        "Vive en c/ Sta. Coloma, en la Avda. Meridiana y la Pl. Catalunya.| Alta.",
        "Ingresa en el H. Sant Pau (Dr. Puig, Dra. Vila).| Alta.",
        "Sra. Puig.| Sr. Vila.| Srta. Roca.| Prof. Mas.| Tel. 934567890.| Núm. 3.",
        "Mr. Smith and Mrs. Jones.| Ms. Lee is stable.| Espera 50 ms.| Alta.",
        "Firmado: J. M. Puig.| Col. 12345.| Aprox. 3 dias.",
        # An initial goes on; a number does not, unless another one follows.
        "J. Pérez y À. Vila.| Dr. X. Puig.| Planta B. Sala 2.| El pacient surt.",
        "Tumor de grado 3.| El paciente sale.| Tumor de grau 12.| «El pacient» surt.",
        "C. Mayor 3.| Vive sola.| Estadio II.| Alta.",
        "Cita el 3. 10. 2013.| C. Mayor 3. 28007 Madrid.| Alta.",
        "Leucocitos 9.| Plaquetas 150.| 3 días después, TA 120/80.| 2 comprimidos.",
        # "no" is a word before a word, and an abbreviation before a number.
        "Vive en el no. 3.| Dice que no.| El paciente sale.| No. 3 de la lista.",
        # A letter after a number is a unit.
        "Ingresa a las 10 h.| Toma 1 g.| Alta.| Vive en la c. Mayor.| Diuresis de 2 l.| Bien.",
        # What a list counts its items by begins them.
        "1. Paciente de 45 años.| 2. Dolor.|\n- 3. Fiebre.|\n12. Tos.|\n2.1. Alta.",
        # They are words of their own: the end of another word is none.
        "Tiene fiebredr.| Pérez",
        "Toma el preaprox.| Pérez",
        "Acude a ConSr.| Pérez",
    ],
)
def test_sentences(text: str) -> None:
    assert split(text.replace("|", ""), "sentence") == [each.strip() for each in text.split("|")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Vist\xad. \u200bEl Dr\xad. \ufeffPuig.", ["Vist\xad.", "\u200bEl Dr\xad. \ufeffPuig."]),
        ("Mal.\u200b Ｅｌ dolor. É", ["Mal.\u200b", "Ｅｌ dolor.", "É"]),
        ("Mal.\xa0E\u0301l\r\n\xadNo. A", ["Mal.", "E\u0301l", "\xadNo.", "A"]),
        ("12.\xad Tos. \xad", ["12.\xad Tos. \xad"]),
    ],
)
def test_sentences_end_where_they_would_without_invisible_characters(text, expected) -> None:
    assert split(text, "sentence") == expected


@given(documents(), pieces_of_text)
@example(Document("a", "A. B\n. C"), "sentence")
@example(Document("a", ". \ufeff 0"), "sentence")
@thorough
def test_each_character_is_in_one_unit(document: Document, unit: Unit) -> None:
    end = 0
    covered = ""
    for offset, piece in split_document(document, unit, Problems()):
        assert offset >= end
        end = offset + len(piece.text)
        assert document.text[offset:end] == piece.text
        assert piece.text.strip()
        assert not set(piece.text) & set("\n\v\f\r\x85\u2028\u2029")
        assert piece.id == f"a#{offset}"
        covered += piece.text
    assert "".join(covered.split()) == "".join(document.text.split())


@given(texts)
@thorough
def test_sentences_are_parts_of_lines(text: str) -> None:
    lines = split_document(Document("a", text), "line", Problems())
    within = [
        (start + offset, piece.text)
        for start, line in lines
        for offset, piece in split_document(line, "sentence", Problems())
    ]
    actual = split_document(Document("a", text), "sentence", Problems())
    assert [(offset, piece.text) for offset, piece in actual] == within


def labels_of(text: str, spans: tuple[Span, ...]) -> list[str | None]:
    """Return the label of each character, none for white space."""
    labels: list[str | None] = [None] * len(text)
    for span in spans:
        labels[span.start : span.end] = [span.label] * (span.end - span.start)
    return [None if mark.isspace() else label for mark, label in zip(text, labels, strict=True)]


@given(documents(), pieces_of_text)
@example(Document("a", "Ana\nPuig", (Span(0, 3, "A"), Span(3, 4, "A"), Span(4, 8, "B"))), "line")
@example(Document("a", "Ana \n\n Puig\nVic", (Span(2, 14, "A"),)), "line")
@example(Document("a", "Va. Él. No", (Span(0, 4, "A"), Span(5, 10, "B"))), "sentence")
@example(Document("a", "  \nAna", (Span(0, 2, "A"),)), "line")
@example(Document("a", "Ana\n  Puig", (Span(0, 5, "A"),)), "line")
@thorough
def test_joined_spans_are_the_sources(document: Document, unit: Unit) -> None:
    problems = Problems()
    pieces = split_document(document, unit, problems)
    units = split_batch(batch_of([document]), unit, Problems())
    spans = [(row, span) for row, (_, piece) in enumerate(pieces) for span in piece.spans]
    sides = [(row, span.start, span.end) for row, span in spans]
    labels = pa.array([span.label for _, span in spans], pa.string())
    columns = units.joined_spans(1, *np.array(sides, np.int64).reshape(-1, 3).T, labels)
    joined = tuple(map(Span, *(column[0].as_py() for column in columns)))
    # They make a document, and mark the same characters.
    assert Document("a", document.text, joined).spans == joined
    assert labels_of(document.text, joined) == labels_of(document.text, document.spans)
    # Those within a unit are the same; the others are named, and cut so that none crosses.
    borders = [(offset, offset + len(piece.text)) for offset, piece in pieces]
    whole = {
        span
        for span in document.spans
        if any(start <= span.start and span.end <= end for start, end in borders)
    }
    crossing = [span for span in document.spans if span not in whole]
    assert whole <= set(joined)
    for span in set(joined) - whole:
        assert any(each.start <= span.start and span.end <= each.end for each in crossing)
        cut = document.text[span.start : span.end]
        assert cut == cut.strip()
    assert sum(problems.counts.values()) == len(crossing)
    named = [problem for each in problems.named.values() for problem in each]
    assert [problem.detail.split(",")[0] for problem in named] == [
        f"{span.start}-{span.end} ({span.label})" for span in crossing
    ]


def test_a_span_that_crosses_is_named_and_cut() -> None:
    text = "Nombre: Ana \n Puig\nEdad: 68"
    document = Document("ward/17", text, (Span(8, 18, "NAME"), Span(25, 27, "AGE")))
    problems = Problems()
    actual = split_document(document, "line", problems)
    assert [(offset, piece.spans) for offset, piece in actual] == [
        (0, (Span(8, 11, "NAME"),)),
        (13, (Span(1, 5, "NAME"),)),
        (19, (Span(6, 8, "AGE"),)),
    ]
    assert list(problems.lines()) == [
        "annotations that cross the border of a line: 1",
        "  document ward/17: 8-18 (NAME), cut at the border",
    ]
    assert split_document(document, "document", problems) == [(0, document)]
    assert problems.counts.total() == 1


@pytest.mark.parametrize("group", [None, "patient 3", ""])
def test_units_share_the_group_of_their_source(group: str | None) -> None:
    document = Document("ward/17", "Ana.\nVic.", (), group)
    expected = group or "ward/17"
    for unit in ("line", "sentence"):
        actual = [piece for _, piece in split_document(document, unit, Problems())]
        assert [piece.id for piece in actual] == ["ward/17#0", "ward/17#5"]
        assert [piece.group for piece in actual] == [expected, expected]


@pytest.mark.slow
@pytest.mark.parametrize("piece", [".", ".)", ". ", ".\t \xa0", "Dr. ", ". a", "…»", "3. ", "C. "])
def test_a_line_of_a_million_characters_ends(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert split(text, "sentence") == [text]
    assert split(text + " Ana", "sentence")[-1].endswith("Ana")

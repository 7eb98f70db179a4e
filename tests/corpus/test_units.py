"""Units: every character of a text in one of them, at offsets that lead back to it."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.document import Document, Span
from corpus.errors import Problems
from corpus.units import Unit, join_spans, split_document

PIECES = [
    *(".", "...", "!", "¿", "?", "…", ")", "»", '"', "(", "«", " ", "  ", "\t", "\xa0", "\u2028"),
    *("\n", "\r\n", "\r", "\n\n", "\x0b", "\x85", "\ufeff", "\0", "e\u0301", "👩\u200d⚕\ufe0f"),
    *("El", "dolor", "Dr.", "H.", "Sta.", "Álvarez", "3", "aprox."),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=20).map("".join)
pieces_of_text = st.sampled_from(["line", "sentence"])
thorough = settings(max_examples=60, deadline=None)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(texts)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    pairs = list(pairwise(cuts))
    names = [draw(st.sampled_from(["A", "B", None])) for _ in pairs]
    spans = [Span(*pair, name) for pair, name in zip(pairs, names, strict=True) if name]
    return Document("a", text, tuple(spans))


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
def test_sentences_end_where_they_would_without_invisible_characters(
    text: str, expected: list[str]
) -> None:
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
    joined = join_spans((offset, piece.spans) for offset, piece in pieces)
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

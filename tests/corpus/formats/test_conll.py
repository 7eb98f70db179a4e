"""Reading and writing CoNLL columns."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.document import Document, Span
from corpus.errors import InputError, ProblemError, Problems
from corpus.formats import Columns, WriteReport, count_records, write
from corpus.formats.conll.schemes import OUTSIDE, detect_scheme, entities_of, parsed_tag
from tests.corpus.formats.reading import documents, lenient


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.conll"


CONLL_2003 = """-DOCSTART- -X- O O

EU NNP I-NP I-ORG
rejects VBZ I-VP O
German JJ I-NP I-MISC
British JJ I-NP B-MISC

Peter NNP I-NP I-PER
Blackburn NNP I-NP I-PER
"""


def test_a_sentence_is_a_document(path: Path) -> None:
    path.write_text(CONLL_2003)
    problems = Problems()
    assert documents(path, problems) == [
        Document(
            "notes.conll:3",
            "EU rejects German British",
            (Span(0, 2, "ORG"), Span(11, 17, "MISC"), Span(18, 25, "MISC")),
        ),
        Document("notes.conll:8", "Peter Blackburn", (Span(0, 15, "PER"),)),
    ]
    assert problems.unused == {"1", "2"}
    assert count_records(path) == 2


@pytest.mark.parametrize(
    ("columns", "labels"),
    [
        (Columns(), ["ORG", "MISC", "MISC"]),
        (Columns(text="0", label="-1"), ["ORG", "MISC", "MISC"]),
        (Columns(label="2"), ["NP", "VP", "NP"]),
        (Columns(label="-2"), ["NP", "VP", "NP"]),
    ],
)
def test_columns_are_in_any_order(path: Path, columns: Columns, labels: list[str]) -> None:
    path.write_text(CONLL_2003)
    assert [span.label for span in documents(path, columns=columns)[0].spans] == labels


def test_a_tag_may_stand_before_its_token(path: Path) -> None:
    path.write_text("B-PER\t0\tAnna\nI-PER\t5\tPuig\n")
    notes = documents(path, columns=Columns(text="2", label="0"))
    assert notes == [Document("notes.conll:1", "Anna Puig", (Span(0, 9, "PER"),))]


def test_columns_may_have_names_in_a_comment(path: Path) -> None:
    path.write_text("# global.columns = ID FORM NE\n1\tAnna\tB-PER\n")
    (document,) = documents(path, columns=Columns(text="FORM", label="NE"))
    assert document == Document("notes.conll:2", "Anna", (Span(0, 4, "PER"),))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (Columns(text="4"), "there is no column '4': expected a number from 0 to 3"),
        (Columns(label="NE"), "there is no column 'NE'"),
        (Columns(text="-1"), "token and tag are the same column"),
    ],
)
def test_a_column_that_is_not_there_is_an_error(path: Path, columns: Columns, message: str) -> None:
    path.write_text(CONLL_2003)
    with pytest.raises(InputError, match=rf"notes\.conll:3: {message}"):
        documents(path, columns=columns)


def test_a_file_of_one_column_is_an_error(path: Path) -> None:
    path.write_text("Joan\nVila\n")
    with pytest.raises(InputError, match="expected a token and its tag") as error:
        documents(path)
    assert "Joan" not in str(error.value)


def test_comments_hold_ids_groups_and_texts(path: Path) -> None:
    path.write_text(
        '# id = n1\n# group = 7\n# text = "Joan  Vila.\\nReus"\n'
        "Joan\tB-PER\nVila\tI-PER\n.\tO\n\nReus\tB-LOC\n\n"
        "# newdoc id = n2\n# sent_id = 1\n# text = Sóc l'Anna\nSóc\tO\nl'\tO\nAnna\tB-PER\n\n"
        '# sent_id = 2\n# text = "Sí"\n"\tO\nSí\tO\n"\tO\n'
    )
    problems = Problems()
    first, second = documents(path, problems)
    assert first == Document(
        "n1", "Joan  Vila.\nReus", (Span(0, 10, "PER"), Span(12, 16, "LOC")), "7"
    )
    assert second == Document("n2", 'Sóc l\'Anna\n"Sí"', (Span(6, 10, "PER"),))
    assert not problems.unused


def test_a_number_sign_may_be_a_token(path: Path) -> None:
    path.write_text("Sala O\n# O\n# a comment of some words\n3 B-ROOM\n")
    assert documents(path) == [Document("notes.conll:1", "Sala # 3", (Span(7, 8, "ROOM"),))]


def test_a_token_of_spaces_is_where_it_is_joined(path: Path) -> None:
    path.write_text("a\tO\n \tB-X\nb\tO\n")
    (document,) = documents(path)
    assert (document.text, document.spans) == ("a   b", (Span(2, 3, "X"),))


def test_offsets_say_where_tokens_are(path: Path) -> None:
    path.write_text("# text = na na\n# offsets = 3-5\nna\tB-X\n")
    assert documents(path)[0].spans == (Span(3, 5, "X"),)


@pytest.mark.parametrize("comment", ["0-2 3-5", "1-3", "x", "3-5-7", "4-6", ""])
def test_offsets_that_disagree_with_the_text_are_rejected(path: Path, comment: str) -> None:
    path.write_text(f"# text = na na\n# offsets = {comment}\nna\tB-X\n\nok\tO\n")
    problems = lenient()
    assert [document.text for document in documents(path, problems)] == ["ok"]
    assert problems.counts == {"tokens that disagree with the text in the comments": 1}


@pytest.mark.parametrize(
    "line", ["Joan", "Joan\tB-PER\tO", "Joan\tJoan", "Joan\tb-per", "\tO", "Joan\tB-"]
)
def test_lines_that_are_no_token_with_a_tag_are_rejected(path: Path, line: str) -> None:
    path.write_text(f"ok\tO\n\nok\tO\n{line}\n\nok\tO\n")
    problems = lenient()
    assert len(documents(path, problems)) == 2
    (problem,) = problems.named["lines that are not a token with a tag"]
    assert problem.where == f"{path}:3"
    assert problem.detail.startswith("line 4: expected 2 columns")
    assert "Joan" not in str(problem)
    with pytest.raises(ProblemError):
        documents(path)


def tags_in(scheme: str, entities: list[tuple[int, str]]) -> list[str]:
    """Write entities, given by their number of tokens (0: one token outside), in a scheme."""
    tags: list[str] = []
    for index, (length, label) in enumerate(entities):
        if not length:
            tags.append("O")
            continue
        if scheme == "IOB1":
            follows = index and entities[index - 1][0] and entities[index - 1][1] == label
            prefixes = ["B" if follows else "I", *"I" * (length - 1)]
        elif scheme == "BIO":
            prefixes = ["B", *"I" * (length - 1)]
        else:
            prefixes = ["B", *"I" * (length - 2), "E"] if length > 1 else ["S"]
        tags += [f"{prefix}-{label}" for prefix in prefixes]
    return tags


entities = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("AB")), max_size=8)


@given(st.lists(entities, max_size=3), st.sampled_from(["IOB1", "BIO", "BIOES"]))
@settings(max_examples=60, deadline=None)
def test_schemes_are_told_apart(sentences: list[list[tuple[int, str]]], scheme: str) -> None:
    written = [[parsed_tag(tag) for tag in tags_in(scheme, part)] for part in sentences]
    detected = detect_scheme(tag for sentence in written for tag in [*sentence, OUTSIDE])
    for sentence, tags in zip(sentences, written, strict=True):
        expected, place = [], 0
        for length, label in sentence:
            if length:
                expected.append((place, place + length - 1, label))
            place += max(1, length)
        assert entities_of(tags) == expected
    actual = {prefix for sentence in written for prefix, _ in sentence}
    if "I" in actual or "E" in actual or "S" in actual:  # the schemes differ in their first entity
        assert detected == scheme or (scheme == "IOB1") == (detected == "IOB1")


def test_an_inside_tag_that_begins_an_entity_is_repaired_and_reported(path: Path) -> None:
    """As in the Spanish files of CoNLL-2002, with a single such tag after the end of a sentence."""
    path.write_text("a\tB-X\nb\tI-X\n\nc\tI-X\nd\tI-X\ne\tI-Y\n")
    problems = Problems()
    spans = [document.spans for document in documents(path, problems)]
    assert spans == [(Span(0, 3, "X"),), (Span(0, 3, "X"), Span(4, 5, "Y"))]
    (kind,) = problems.counts
    assert "begin with I-" in kind
    assert [problem.where for problem in problems.named[kind]] == [f"{path}:4", f"{path}:6"]


def test_inside_tags_that_begin_entities_are_no_problem_in_iob1(path: Path) -> None:
    path.write_text("a\tI-X\nb\tB-X\n\nc\tI-Y\n")
    problems = Problems()
    assert [len(document.spans) for document in documents(path, problems)] == [2, 1]
    assert not problems.counts


@pytest.mark.parametrize(
    ("tags", "line"),
    [
        (["B-X", "O"], 2),
        (["B-X"], 1),
        (["I-X", "E-X"], 1),
        (["B-X", "E-Y"], 2),
        (["S-X", "E-X"], 2),
        (["B-X", "B-X", "E-X"], 2),
    ],
)
def test_tags_that_contradict_bioes_are_rejected(path: Path, tags: list[str], line: int) -> None:
    path.write_text("".join(f"a\t{tag}\n" for tag in tags) + "\na\tS-X\n")
    problems = lenient()
    assert len(documents(path, problems)) == 1
    (problem,) = problems.named["tags that contradict their scheme"]
    assert problem.detail == f"line {line}: its tag does not follow as in BIOES"


def test_bilou_is_bioes_in_other_letters(path: Path) -> None:
    path.write_text("a\tB-X\na\tI-X\na\tL-X\na\tU-X\n")
    assert documents(path)[0].spans == (Span(0, 5, "X"), Span(6, 7, "X"))


def test_byte_order_marks_and_windows_line_ends_are_no_part_of_it(path: Path) -> None:
    path.write_bytes("\ufeffAnna\tB-PER\r\n\r\nReus\tB-LOC\r\n".encode())
    assert [document.text for document in documents(path)] == ["Anna", "Reus"]


def test_documents_are_counted_over_files(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("a\tO\n\nb\tO\n\n\n\nc\tO")
    (tmp_path / "b.bio").write_text("# a licence\n\n# id = d\nd\tO\n\nd\tO\n\n# id = e\ne\tO\n")
    assert [document.text for document in documents(tmp_path)] == ["a", "b", "c", "d\nd", "e"]
    assert count_records(tmp_path) == 5


def test_what_is_written(path: Path) -> None:
    anna = Document("a", "Anna\n\nPuig, Reus", (Span(0, 10, "NAME"), Span(12, 16, "TOWN")), "p")
    assert write([anna, Document("b", " ")], path) == WriteReport(2, 2)
    assert path.read_text() == (
        '# id = "a"\n# group = "p"\n# text = "Anna\\n\\nPuig, Reus"\n'
        "# offsets = 0-4 6-10 10-11 12-16\n"
        "Anna\tB-NAME\nPuig\tI-NAME\n,\tO\nReus\tB-TOWN\n\n"
        '# id = "b"\n# text = " "\n\n'
    )
    assert documents(path) == [anna, Document("b", " ")]


def test_a_word_that_a_line_end_breaks_is_on_one_line(path: Path) -> None:
    note = Document("a", "Anna Gar-\n\tcía\x85ve", (Span(0, 14, "NAME"),))
    write([note], path)
    assert "Anna\tB-NAME\nGar-  cía\tI-NAME\n\nve\tO\n" in path.read_text()
    assert documents(path) == [note]


def test_spans_that_do_not_align_are_counted(path: Path) -> None:
    document = Document(
        "a", "Anna , 12", (Span(0, 2, "X"), Span(2, 4, "Y"), Span(4, 5, "Z"), Span(7, 9, "N"))
    )
    report = write([document], path)
    assert report == WriteReport(1, 2, {"spans": 2, "span boundaries inside tokens": 1})
    assert documents(path)[0].spans == (Span(0, 4, "X"), Span(7, 9, "N"))


def test_a_label_with_white_space_is_an_error(path: Path) -> None:
    with pytest.raises(InputError, match="white space, which CoNLL columns cannot hold"):
        write([Document("a", "Anna", (Span(0, 4, "A NAME"),))], path)
    assert not path.exists()

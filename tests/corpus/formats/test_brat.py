"""Reading and writing brat standoff, and plain text beside it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.document import Document, Span
from corpus.errors import InputError, ProblemError, Problems
from corpus.formats import read, write
from tests.corpus.formats.reading import lenient

TEXT = "Joan Vila, de Reus"

Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Make a folder with one document of given annotations and text."""

    def make(annotations: str | bytes | None, text: str | bytes = TEXT) -> Path:
        for suffix, content in ((".txt", text), (".ann", annotations)):
            if content is not None:
                data = content.encode() if isinstance(content, str) else content
                (tmp_path / f"note{suffix}").write_bytes(data)
        return tmp_path

    return make


def spans(source: Path, problems: Problems | None = None) -> list[tuple[int, int, str]]:
    (document,) = read(source, format="brat", problems=problems or Problems())
    return [(span.start, span.end, span.label) for span in document.spans]


def only(problems: Problems) -> tuple[str, str, str]:
    """Return kind, place and detail of the only problem."""
    assert sum(problems.counts.values()) == 1, problems.counts
    ((kind, (problem,)),) = problems.named.items()
    return kind, Path(problem.where.split(", document")[0]).name, problem.detail


def test_ids_are_paths_without_suffix(tmp_path: Path) -> None:
    for name in ("a.txt", "a.ann", "b/c.v2.txt", "b/c.v2.ann", "b/d.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")

    def ids(source: str | Path, format: str | None = "brat") -> list[str]:
        return [document.id for document in read(source, format=format, problems=Problems())]

    assert ids(tmp_path, None) == ["a", "b/c.v2", "b/d"]
    assert ids(tmp_path, "text") == ["a", "b/c.v2", "b/d"]
    assert ids(f"{tmp_path}/**/*.ann", None) == ["a", "b/c.v2"]
    assert ids(f"{tmp_path}/b/*", None) == ["c.v2", "d"]
    assert ids(f"{tmp_path}/*/c*.txt") == ["c.v2"]
    assert ids(tmp_path / "b" / "d.txt", None) == ["d"]


def test_relative_patterns_have_the_same_ids(tmp_path, monkeypatch) -> None:
    write([Document("a", ""), Document("b/c", "")], tmp_path / "x", format="text")
    monkeypatch.chdir(tmp_path / "x")
    for pattern in ("**", "./**/*.txt", "../x/**/*.txt", "."):
        assert [document.id for document in read(pattern, problems=Problems())] == ["a", "b/c"]


def test_a_pattern_of_one_suffix_finds_the_other_file(folder: Folder) -> None:
    source = folder("T1\tNAME 0 4\tJoan\n")
    assert spans(source / "*.ann") == spans(source / "note.txt") == [(0, 4, "NAME")]
    (document,) = read(source / "*.txt", problems=Problems())  # what is named *.txt is text
    assert document.spans == ()


def test_text_is_read_as_stored(folder: Folder) -> None:
    text = "\ufeffJoan\r\nAnna\rMar\u2028\x85\U0001f469\u200d\u2695\ufe0f e\u0301\0 fi\n"
    source = folder("T1\tNAME 7 11\tAnna\nT2\tJOB 17 21\t\U0001f469\u200d\u2695\ufe0f\n", text)
    (document,) = read(source, problems=Problems())
    assert document.text == text
    assert [text[span.start : span.end] for span in document.spans] == [text[7:11], text[17:21]]
    (plain,) = read(source, format="text", problems=Problems())
    assert plain == Document("note", text)


def test_annotations_may_have_a_byte_order_mark_and_windows_line_ends(folder: Folder) -> None:
    source = folder("\ufeffT1\tNAME 0 4\tJoan\r\n\r\nT2\tTOWN 14 18\tReus\r\n")
    assert spans(source) == [(0, 4, "NAME"), (14, 18, "TOWN")]


@pytest.mark.parametrize("annotations", [None, "", "\n\n", "\ufeff"])
def test_a_text_without_annotations_is_a_document(folder: Folder, annotations: str | None) -> None:
    assert spans(folder(annotations)) == []


def test_other_kinds_of_lines_are_counted(folder: Folder) -> None:
    lines = ["R1\tOf Arg1:T1 Arg2:T1", "E1\tX:T1", "A1\tX T1", "M1\tX T1", "N1\tReference T1 X:1"]
    lines += ["#1\tAnnotatorNotes T1\tJoan", "*\tEquiv T1 T2", "T1\tNAME 0 4\tJoan"]
    problems = Problems()
    assert spans(folder("\n".join(lines)), problems) == [(0, 4, "NAME")]
    assert problems.counts == {"brat lines that are not text-bound annotations": 7}
    assert "Joan" not in "".join(problems.lines())


@pytest.mark.parametrize(
    "line",
    [
        "T1\tNAME 0 9",
        "T1 NAME 0 9 Joan Vila",
        "T1\tNAME 0\tJoan Vila",
        "T1\tNAME 0-9\tJoan Vila",
        "T1\tNAME 0 9;\tJoan Vila",
        "T1\tNAME -1 9\tJoan Vila",
        "T1\tNAME 0 9.0\tJoan Vila",
        "T1\tNAME ٠ ٩\tJoan Vila",
        f"T1\tNAME 0 {'9' * 5000}\tJoan Vila",
        "T1\t 0 9\tJoan Vila",
        "T1\tFULL NAME 0 9\tJoan Vila",
        "Joan Vila",
        "Reus",  # as a line end inside of an annotation would leave it
        "#Joan",
        "T1\tNAME 0 9\tJoan\rT2\tNAME 5 9\tVila",
    ],
)
def test_malformed_lines_are_rejected(folder: Folder, line: str) -> None:
    source = folder(f"T7\tTOWN 14 18\tReus\n{line}\n")
    problems = lenient()
    assert spans(source, problems) == [(14, 18, "TOWN")]
    kind, place, detail = only(problems)
    assert kind in ("malformed annotations", "annotations that disagree with the text")
    assert place == "note.ann:2"
    assert "Joan" not in detail and "Vila" not in detail
    with pytest.raises(ProblemError, match=r"note\.ann:2: .*\(invalid = "):
        spans(source)


@pytest.mark.parametrize("offsets", ["0 19", "18 19", "5 5", "9 5", "0 4;17 19", "99 199"])
def test_annotations_outside_of_the_text_are_rejected(folder: Folder, offsets: str) -> None:
    source = folder(f"T1\tNAME {offsets}\tJoan\n")
    problems = lenient()
    assert spans(source, problems) == []
    kind, place, detail = only(problems)
    assert (kind, place) == ("annotations outside of the text", "note.ann:1")
    assert "is empty or outside of the text of 18 characters" in detail
    with pytest.raises(ProblemError):
        spans(source)


@pytest.mark.parametrize("covered", ["Anna", "Joa", "joan", "Joan ", "", "Joan\tVila"])
def test_annotations_that_disagree_with_the_text_are_rejected(folder: Folder, covered: str) -> None:
    source = folder(f"T1\tNAME 0 4\t{covered}\n")
    problems = lenient()
    assert spans(source, problems) == []
    kind, place, detail = only(problems)
    assert (kind, place) == ("annotations that disagree with the text", "note.ann:1")
    assert detail == "0-4 (NAME): its last column is not the text at these offsets"


@pytest.mark.parametrize("end", ["\n", "\r", "\u2028", "\x85", "\t"])
def test_line_ends_inside_of_an_annotation_may_be_spaces(folder: Folder, end: str) -> None:
    covered = f"Joan{end}Vila".replace("\n", " ")
    text = f"Sr. Joan{end}Vila"
    for column in (covered, covered if end == "\t" else "Joan Vila"):
        assert spans(folder(f"T1\tNAME 4 13\t{column}\n", text)) == [(4, 13, "NAME")]


@pytest.mark.parametrize(
    ("annotated", "kept"),
    [
        ([(0, 4, "A"), (0, 9, "B")], [(0, 9, "B")]),  # the longest
        ([(5, 9, "A"), (3, 7, "B")], [(3, 7, "B")]),  # the first
        ([(0, 4, "B"), (0, 4, "A")], [(0, 4, "A")]),  # the label
        ([(0, 4, "A"), (3, 11, "B"), (10, 14, "A")], [(3, 11, "B")]),
        ([(0, 6, "A"), (5, 9, "B"), (8, 18, "A")], [(0, 6, "A"), (8, 18, "A")]),
        ([(0, 4, "A"), (4, 9, "A")], [(0, 4, "A"), (4, 9, "A")]),  # no overlap
    ],
)
def test_the_longest_of_overlapping_annotations_stays(folder, annotated, kept) -> None:
    lines = [f"T1\t{label} {start} {end}\t{TEXT[start:end]}" for start, end, label in annotated]
    for order in (lines, lines[::-1]):
        problems = lenient()
        assert spans(folder("\n".join(order)), problems) == kept
        left_out = len(annotated) - len(kept)
        assert problems.counts["overlapping annotations"] == left_out


def test_the_same_annotation_twice_is_kept_once(folder: Folder) -> None:
    problems = Problems()  # no reason to stop
    source = folder("T1\tNAME 0 4\tJoan\nT2\tNAME 0 4\tJoan\nT3\tNAME 0 4\tJoan\n")
    assert spans(source, problems) == [(0, 4, "NAME")]
    assert problems.counts == {"duplicate annotations": 2}


def test_of_a_discontinuous_annotation_the_longest_piece_stays(folder: Folder) -> None:
    source = folder("T1\tNAME 0 4;11 18\tJoan de Reus\n")
    with pytest.raises(ProblemError, match=r"0-4 \(NAME\) and 11-18 \(NAME\)"):
        spans(source)
    problems = lenient()
    assert spans(source, problems) == [(11, 18, "NAME")]
    assert only(problems)[:2] == ("discontinuous annotations", "note.ann:1")
    assert spans(folder("T1\tNAME 14 18;0 4\tReus Joan\n"), lenient()) == [(0, 4, "NAME")]


@pytest.mark.parametrize("twice", ["note.ANN", "note.TXT"])
def test_several_files_of_one_name_are_rejected(folder: Folder, twice: str) -> None:
    """Which of them is right, nobody knows: none is taken, and none is quietly lost."""
    root = folder("T1\tNAME 0 4\tAnna\n", "Anna ve")
    if (root / twice).exists():
        pytest.skip("a file system that takes both names for the same")
    (root / twice).write_text("Joan ve")
    (root / "other.txt").write_text("hola")
    for source in (root, root / "*", root / "*.ann"):
        if source.name == "*.ann" and twice == "note.ANN":
            continue  # the user named one of them
        with pytest.raises(ProblemError, match=r"several files of one name: note\.\w+ and note"):
            list(read(source, format="brat", problems=Problems()))
    problems = Problems(invalid="skip")
    assert [document.id for document in read(root, format="brat", problems=problems)] == ["other"]
    assert problems.counts == {"several files of one name": 1}


def test_suffixes_may_be_in_capitals(folder: Folder) -> None:
    root = folder("T1\tNAME 0 4\tAnna\n", "Anna ve")
    expected = [Document("note", "Anna ve", (Span(0, 4, "NAME"),))]
    (root / "note.ann").rename(root / "note.ANN")
    for source in (root, root / "*.txt", root / "*.ANN"):
        assert list(read(source, format="brat", problems=Problems())) == expected
    (root / "note.txt").rename(root / "note.TXT")
    for source in (root, root / "*.TXT", root / "*.ANN"):
        assert list(read(source, format="brat", problems=Problems())) == expected


def test_annotations_without_a_text_are_rejected(folder: Folder) -> None:
    source = folder("T1\tNAME 0 4\tJoan\n")
    (source / "alone.ann").write_text("")
    with pytest.raises(ProblemError, match=r"alone\.ann: annotations without a text: expected"):
        list(read(source, problems=Problems()))
    problems = lenient()
    assert [document.id for document in read(source, problems=problems)] == ["note"]
    assert only(problems)[1] == "alone.ann"


@pytest.mark.parametrize("suffix", [".txt", ".ann"])
def test_bytes_that_are_not_utf8_are_rejected(folder: Folder, suffix: str) -> None:
    source = folder("")
    (source / f"note{suffix}").write_bytes("Núria Vila".encode("latin-1"))
    with pytest.raises(ProblemError, match=r"note\.txt: text that is not UTF-8: byte 1 ") as error:
        list(read(source, problems=Problems()))
    assert (", in its .ann" in str(error.value)) == (suffix == ".ann")
    assert "Vila" not in str(error.value)
    problems = lenient()
    assert list(read(source, problems=problems)) == []
    assert problems.counts == {"text that is not UTF-8": 1}


@pytest.mark.parametrize("format", ["brat", "text"])
def test_files_that_cannot_be_opened_or_named_are_rejected(tmp_path: Path, format: str) -> None:
    (tmp_path / "b.txt").write_text("")
    (tmp_path / "a.txt").symlink_to("nowhere")
    latin = Path(str(tmp_path / "c") + "\udcfa.txt")  # Latin-1 on disk
    latin.write_text("")
    problems = lenient()
    assert [document.id for document in read(tmp_path, format=format, problems=problems)] == ["b"]
    assert problems.counts == {"files that cannot be read": 1, "file names that are not UTF-8": 1}
    "".join(problems.lines()).encode()


@pytest.mark.parametrize("format", ["brat", "text"])
def test_documents_are_in_the_order_of_their_names(tmp_path: Path, format: str) -> None:
    write([Document(f"d{n // 10}/{n % 10}", str(n)) for n in range(30)], tmp_path / "x")
    everything = list(read(tmp_path / "x", format=format, problems=Problems()))
    assert [document.text for document in everything] == [str(n) for n in range(30)]


def test_annotations_are_written_in_order_and_on_one_line_each(tmp_path: Path) -> None:
    text = "\ufeffJoan\r\nVila\u2028x, Reus"
    document = Document("n", text, (Span(15, 19, "TOWN"), Span(1, 13, "NAME")))
    assert text[15:19] == "Reus"
    write([document], tmp_path / "out")
    assert (tmp_path / "out" / "n.txt").read_bytes() == text.encode()
    assert (tmp_path / "out" / "n.ann").read_text() == (
        "T1\tNAME 1 13\tJoan  Vila x\nT2\tTOWN 15 19\tReus\n"
    )
    assert list(read(tmp_path / "out", problems=Problems())) == [document]


@pytest.mark.parametrize("label", ["FULL NAME", "A\tB", "A\nB", " ", "A\u2028B"])
def test_labels_with_white_space_cannot_be_written(tmp_path: Path, label: str) -> None:
    document = Document("n", "Joan", (Span(0, 4, label),))
    with pytest.raises(InputError, match=r"document n: the label of 0-4 \(.*\) has white space"):
        write([document], tmp_path / "out")
    assert not list(tmp_path.iterdir())

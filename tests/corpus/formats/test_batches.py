"""Reading and writing record batches."""

import datetime
import json
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.document import Document, Span
from corpus.errors import InputError, ProblemError, Problems
from corpus.formats import Columns, read, read_batches, write, write_batches
from corpus.formats import batches as module
from corpus.formats.batches import SCHEMA, batch_of, with_whole_groups
from tests.corpus.formats.reading import lenient

ANNA = Document("a", "Anna Puig", (Span(0, 4, "NAME"), Span(5, 9, "NAME")), "p")


def item(span: tuple[Any, Any, Any] | None) -> dict[str, Any] | None:
    return None if span is None else dict(zip(("start", "end", "label"), span, strict=True))


def save(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("name", ["o.jsonl", "o.parquet", "o.csv", "o.conll", "o"])
def test_batches_of_every_format_have_one_schema(tmp_path: Path, name: str) -> None:
    write([ANNA, Document("b", "")], tmp_path / name)
    (batch,) = read_batches(tmp_path / name, problems=Problems())
    assert batch.select(SCHEMA.names).schema.equals(SCHEMA)
    batch.validate(full=True)
    assert batch.select(["id", "starts", "ends", "labels"]).to_pylist() == [
        {"id": "a", "starts": [0, 5], "ends": [4, 9], "labels": ["NAME", "NAME"]},
        {"id": "b", "starts": [], "ends": [], "labels": []},
    ]


offsets = st.none() | st.integers(-2, 12)
spans = st.none() | st.tuples(offsets, offsets, st.sampled_from(["A", "B", "", None]))
rows = st.tuples(st.text("añ\n\U0001f600", max_size=9) | st.none(), st.lists(spans, max_size=4))


@given(st.lists(rows, max_size=8))
@settings(max_examples=50, deadline=None)
def test_columns_are_checked_as_single_records_are(notes) -> None:
    """JSON lines are read one by one: what is wrong in them is found without any arrays."""
    kind = pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64()), ("label", pa.string())]))
    with TemporaryDirectory() as folder:
        labels = pa.array([list(map(item, actual)) for _, actual in notes], kind)
        texts = pa.array([text for text, _ in notes], pa.string())
        ids = pa.array([str(number) for number in range(len(notes))], pa.string())
        path = save(Path(folder) / "n.parquet", id=ids, text=texts, label=labels)
        lines = Path(folder) / "n.jsonl"
        lines.write_text(
            "\n".join(
                json.dumps({"id": str(number), "text": text, "label": actual})
                for number, (text, actual) in enumerate(notes)
            )
        )
        expected_problems, problems, by_batch = lenient(), lenient(), lenient()
        expected = list(read(lines, problems=expected_problems))
        assert list(read(path, problems=problems)) == expected
        counts = {*problems.counts.values()}, sum(problems.counts.values())
        assert counts == (
            {*expected_problems.counts.values()},
            sum(expected_problems.counts.values()),
        )
        actual = list(read_batches(path, problems=by_batch))
        assert by_batch.counts == problems.counts
        write_batches(iter(actual), Path(folder) / "o.parquet")
        assert list(read(Path(folder) / "o.parquet", problems=Problems())) == expected


def test_rows_before_a_problem_are_read(tmp_path: Path) -> None:
    labels = [[item((1, 2, "B")), item((0, 1, "A"))], [item((0, 1, "A"))], [item((0, 9, "A"))], []]
    path = save(tmp_path / "n.parquet", id=["a", "b", "c", "d"], text=["xyz"] * 4, label=labels)
    actual = read_batches(path, problems=Problems())
    assert next(actual).column("id").to_pylist() == ["a", "b"]
    with pytest.raises(ProblemError, match="row 2: annotations outside"):
        next(actual)


def test_parquet_to_parquet_makes_no_object_for_a_sound_note(tmp_path, monkeypatch) -> None:
    labels = [[item((5, 9, "B")), item((0, 4, "A"))], [], None]
    path = save(tmp_path / "n.parquet", text=["Anna Puig", "", "ñ"], label=labels, age=[1, 2, 3])

    def refuse(*_: object) -> None:
        raise AssertionError("a document was made")

    with monkeypatch.context() as patched:
        patched.setattr(Document, "__post_init__", refuse)
        report = write_batches(read_batches(path, problems=Problems()), tmp_path / "o.parquet")
    assert (report.documents, report.spans, report.left_out) == (3, 2, {})
    assert list(read(tmp_path / "o.parquet", problems=Problems())) == list(
        read(path, problems=Problems())
    )


def test_other_columns_are_carried_along(tmp_path: Path) -> None:
    others = {
        "when": [datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC), None],
        "vector": [[1.5, 2.5], None],
        "ward": pa.array(["x", "y"]).dictionary_encode(),
        "nested": [{"a": 1}, {"a": None}],
        "raw": [b"\x00", b""],
        "confidence": [0.5, 0.25],
        "span_confidences": pa.array([[0.1, 0.9, 0.5], []], pa.list_(pa.float64())),
    }
    labels = [[item((5, 9, "B")), item((0, 4, "A")), item((0, 4, "A"))], []]
    texts = ["Anna Puig", ""]
    path = save(
        tmp_path / "n.parquet", labels=[1, 2], id=["a", "b"], text=texts, label=labels, **others
    )
    problems = Problems()
    actual = list(read_batches(path, problems=problems))
    assert not problems.unused
    write_batches(iter(actual), tmp_path / "o.parquet")
    stored = pq.read_table(tmp_path / "o.parquet").drop_columns(["id", "text", "label", "group"])
    expected = pa.table({"labels": [1, 2], **others})
    assert stored.schema.equals(expected.schema)
    in_order = expected.to_pydict() | {"span_confidences": [[0.9, 0.1], []]}
    assert stored.to_pydict() == in_order  # as the annotations are
    write_batches(iter(actual), tmp_path / "o.jsonl.gz")
    (first, _) = read(tmp_path / "o.jsonl.gz", problems=(seen := Problems()))
    assert first.spans == (Span(0, 4, "A"), Span(5, 9, "B"))
    assert seen.unused == {"labels", *others}
    report = write_batches(iter(actual), tmp_path / "o")
    assert report.left_out == {"confidences": 2, "span confidences": 2}
    of_columns = {"labels": 2, "when": 1, "vector": 1, "ward": 2, "nested": 2, "raw": 2}
    assert report.other_columns == of_columns


def test_columns_keep_their_order_and_what_they_describe(tmp_path: Path) -> None:
    fields = [pa.field("ward", pa.int8(), metadata={"unit": "floor"}), pa.field("id", pa.int64())]
    schema = pa.schema(
        [*fields, pa.field("note", pa.string()), pa.field("nhc", pa.string())], {"origin": "a"}
    )
    pq.write_table(pa.table([[1], [7], ["Anna"], ["x"]], schema=schema), tmp_path / "n.parquet")
    columns = Columns(id="nhc", text="note")
    for suffix in ("parquet", "jsonl", "csv"):
        notes = read_batches(tmp_path / "n.parquet", columns=columns, problems=Problems())
        write_batches(notes, tmp_path / f"o.{suffix}", columns=columns)
    stored = pq.read_table(tmp_path / "o.parquet").schema
    assert stored.names == ["ward", "id", "note", "nhc", "label", "group"]
    assert (stored.field("ward"), stored.metadata[b"origin"]) == (fields[0], b"a")
    assert stored.field("ward").metadata == {b"unit": b"floor"}
    assert (tmp_path / "o.csv").read_text().splitlines()[1] == "1,7,Anna,x,[],"
    record = json.loads((tmp_path / "o.jsonl").read_text())
    assert list(record.items()) == [
        ("ward", 1),
        ("id", 7),
        ("note", "Anna"),
        ("nhc", "x"),
        ("label", []),
    ]


KEYS = st.sampled_from(["date", "ward", "x", "confidence", "ñ"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(st.lists(st.dictionaries(KEYS, VALUES), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_the_keys_of_json_lines_are_carried(records: list[dict[str, Any]]) -> None:
    """From lines to lines as they are; through columns with a null for a key that is missing."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        lines = [json.dumps({"text": "Anna", **record, "id": "a"}) for record in records]
        (folder / "n.jsonl").write_text("\n".join(lines))
        names = {key for record in records for key in record}
        for target, carry in (("o.jsonl", "records"), ("o.parquet", "columns")):
            notes = read_batches(folder / "n.jsonl", problems=lenient(), carry=carry)
            write_batches(notes, folder / target)
        write_batches(read_batches(folder / "o.parquet", problems=lenient()), folder / "p.jsonl")
        parts = {"id": "a", "text": "Anna", "label": []}
        for source, missing in (("o.jsonl", {}), ("p.jsonl", dict.fromkeys(names))):
            for line, record in zip((folder / source).open(), records, strict=True):
                expected = {**missing, **record}
                if type(expected.get("confidence")) not in (int, float):  # it is no confidence
                    expected.pop("confidence", None)
                actual = json.loads(line)
                assert parts.items() <= actual.items()
                assert {key: actual[key] for key in actual.keys() - parts} == expected


def test_files_with_other_columns_are_unified(tmp_path: Path) -> None:
    save(tmp_path / "a.parquet", text=["A"], age=pa.array([1], pa.int32()))
    save(tmp_path / "b.parquet", text=["B"], age=[2**40], ward=["x"])
    table = pa.Table.from_batches(read_batches(tmp_path, problems=Problems()))
    assert table["others"].to_pylist() == [{"age": 1, "ward": None}, {"age": 2**40, "ward": "x"}]
    save(tmp_path / "c.parquet", text=["C"], age=[["x"]])
    with pytest.raises(InputError, match=r"c\.parquet: column 2 is list.*expected one type"):
        list(read_batches(tmp_path, problems=Problems()))


def test_confidences_that_do_not_match_the_annotations_are_left_out(tmp_path: Path) -> None:
    labels = [[item((0, 4, "A"))], [item((0, 4, "A"))], [item((0, 4, "A"))]]
    sure = [[0.5, 0.25], None, [0.75]]
    ids = ["a", "b", "c"]
    path = save(
        tmp_path / "n.parquet", id=ids, text=["Anna"] * 3, label=labels, span_confidences=sure
    )
    problems = Problems()
    (batch,) = read_batches(path, problems=problems)
    assert batch.column("span_confidences").to_pylist() == [None, None, [0.75]]
    assert problems.counts == {"confidences of spans that do not match the annotations": 1}


@given(st.lists(st.lists(st.sampled_from(["p", "q", None]), min_size=1, max_size=4), max_size=6))
def test_a_group_whose_rows_are_side_by_side_is_in_one_batch(parts: list[list[str | None]]) -> None:
    batches = [batch_of([Document("1", "", (), group) for group in part]) for part in parts]
    result = [batch["group"].to_pylist() for batch in with_whole_groups(batches)]
    assert [*chain(*result)] == [*chain(*parts)]
    for left, right in pairwise(result):
        assert left and (left[-1] != right[0] or left[-1] is None or len({*left}) == 1)


def test_small_batches_are_put_together_and_large_ones_cut(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 4)
    write([Document(str(number), "A") for number in range(11)], tmp_path / "n.parquet")
    (whole,) = (
        pa.Table.from_batches(read_batches(tmp_path, problems=Problems()))
        .combine_chunks()
        .to_batches()
    )

    def batches() -> Iterator[pa.RecordBatch]:
        yield from (whole.slice(start, 1) for start in range(3))
        yield whole.slice(3)

    assert write_batches(batches(), tmp_path / "o.parquet").documents == 11
    metadata = pq.ParquetFile(tmp_path / "o.parquet").metadata
    assert max(metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)) <= 4
    assert metadata.num_row_groups <= 4
    notes = list(read(tmp_path / "o.parquet", problems=Problems()))
    assert [document.id for document in notes] == [str(number) for number in range(11)]


def test_batches_of_another_schema_are_refused(tmp_path: Path) -> None:
    write([ANNA], tmp_path / "n.parquet")
    (batch,) = read_batches(tmp_path / "n.parquet", problems=Problems())
    with pytest.raises(ValueError, match="have no column starts"):
        write_batches([batch.drop_columns(["starts"])], tmp_path / "o.jsonl")
    wider = batch.append_column("age", pa.array([7]))
    with pytest.raises(ValueError, match="columns outside of 'others'"):
        write_batches([wider], tmp_path / "o.jsonl")
    with pytest.raises(ValueError, match="different columns"):
        write_batches([batch.drop_columns(["others"]), batch], tmp_path / "o.jsonl")
    others = pa.array([{"label": 7}])
    named = batch.drop_columns(["others"]).append_column("others", others)
    with pytest.raises(InputError, match="column 'label' is also the name of a part of the note"):
        write_batches([named], tmp_path / "o.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["n.parquet"]


@pytest.mark.parametrize(
    ("starts", "ends", "labels", "message"),
    [
        ([0], [10], ["A"], "document a: span 0-10 .* lies outside"),
        ([4], [4], ["A"], "document a: span 4-4 .* is empty"),
        ([0, 3], [4, 9], ["A", "B"], "document a: spans .* overlap"),
        ([0], [4], [""], "document a: span 0-4 has no label"),
        ([0], [4], [None], "a part of row 0 is null"),
        ([0], [4, 5], ["A"], "starts, ends and labels differ in length"),
    ],
)
@pytest.mark.parametrize("name", ["o.parquet", "o.csv"])
def test_batches_that_hold_no_documents_are_refused(
    tmp_path: Path, name: str, starts: list[int], ends: list[int], labels: list[Any], message: str
) -> None:
    values = [["a"], ["Anna Puig"], [None], [starts], [ends], [labels]]
    arrays = [pa.array(value, field.type) for value, field in zip(values, SCHEMA, strict=True)]
    batch = pa.record_batch(arrays, schema=SCHEMA)
    with pytest.raises(InputError, match=message):
        write_batches([batch], tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_annotations_that_are_not_in_order_are_written_and_sorted_when_read(tmp_path: Path) -> None:
    values = [["a"], ["Anna Puig"], [None], [[5, 0]], [[9, 4]], [["B", "A"]]]
    arrays = [pa.array(value, field.type) for value, field in zip(values, SCHEMA, strict=True)]
    write_batches([pa.record_batch(arrays, schema=SCHEMA)], tmp_path / "o.parquet")
    (found,) = read(tmp_path / "o.parquet", problems=Problems())
    assert found.spans == (Span(0, 4, "A"), Span(5, 9, "B"))


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_an_empty_patient_is_an_unknown_one(name: str, tmp_path: Path) -> None:
    if name == "a.jsonl":
        (tmp_path / name).write_text('{"id": "a", "text": "x", "group": ""}')
    else:
        save(tmp_path / name, id=["a"], text=["x"], group=[""])
    (batch,) = read_batches(tmp_path / name, problems=Problems(), labelled=False)
    assert batch.column("group").to_pylist() == [None]

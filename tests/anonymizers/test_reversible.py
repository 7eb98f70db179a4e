"""Maps lead back to the notes, and tell nothing without the key."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anonymizers.keys import Key
from anonymizers.reversible import ROWS, ReplacedTexts, map_writer, read_map, replaced_rows
from anonymizers.spans import Spans
from corpus.errors import InputError
from corpus.formats.batches import SCHEMA
from corpus.replacement import replace_spans

pytest.importorskip("cryptography", reason="maps need the package cryptography")

KEY, OTHER = Key(bytes(range(32))), Key(bytes(32))
Note = tuple[str, list[tuple[int, int, str | None]]]  # a text, and spans with their new texts

texts = st.text(st.sampled_from("abé\u0301€\n 𝒳👩"), max_size=12)


@st.composite
def notes(draw: st.DrawFn) -> Note:
    text = draw(texts)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)))))
    spans = [pair for pair in pairwise(cuts) if draw(st.booleans())]
    return text, [(*pair, draw(st.none() | texts)) for pair in spans]


def batch_of(notes: list[Note], first: int = 0) -> pa.RecordBatch:
    rows = [
        {
            "id": f"d{row}",
            "text": text,
            "starts": [start for start, *_ in spans],
            "ends": [end for _, end, _ in spans],
            "labels": ["AB"[start % 2] for start, *_ in spans],
            "n": row,
        }
        for row, (text, spans) in enumerate(notes, first)
    ]
    return pa.RecordBatch.from_pylist(rows, SCHEMA.append(pa.field("n", pa.int8())))


def replaced(notes: list[Note], first: int = 0) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Return notes after their spans were replaced, and the rows of a map."""
    new = pa.array([other for _, spans in notes for *_, other in spans], pa.large_string())
    before = batch_of(notes, first)
    after, _ = replace_spans(before, new)
    kept = np.flatnonzero(new.is_valid())  # the others stay as they are
    old, spans = (Spans.of_notes(of, "model").take(kept) for of in (before, after))
    return after, replaced_rows(before, old, after, spans)


def without_spans(notes: pa.RecordBatch) -> pa.RecordBatch:
    empty = [{"starts": [], "ends": [], "labels": []}] * len(notes)
    rows = [row | none for row, none in zip(notes.to_pylist(), empty, strict=True)]
    return pa.RecordBatch.from_pylist(rows, notes.schema)


def write(path: Path, *rows: pa.RecordBatch, key: Key = KEY) -> bytes:
    with map_writer(path, key) as add:
        for batch in rows:
            add(batch)
    return path.read_bytes()


@given(st.lists(notes(), max_size=5), st.lists(notes(), max_size=3))
@example([("Ana Puig", [(0, 3, ""), (3, 8, "")])], [("", []), ("a", [(0, 1, "bb")])])
def test_what_was_replaced_is_put_back(some: list[Note], others: list[Note]) -> None:
    after, rows = replaced(some)
    later, more_rows = replaced(others, first=len(some))
    replaced_texts = ReplacedTexts([more_rows, rows])
    for original, new in ((some, after), (others, later)):
        before = batch_of(original, 0 if original is some else len(some))
        restored, left = replaced_texts.restore(without_spans(new))
        assert left == 0 and restored == without_spans(before)


@given(st.lists(notes(), max_size=5))
def test_annotations_move_with_the_text(notes: list[Note]) -> None:
    # Of texts that were removed side by side, nobody can tell which annotation is whose.
    notes = [(text, [(a, b, other or None) for a, b, other in spans]) for text, spans in notes]
    after, rows = replaced(notes)
    restored, left = ReplacedTexts([rows]).restore(after.slice(1))
    assert left == 0 and restored == batch_of(notes).slice(1)


def restored(new: Note, rows: pa.RecordBatch) -> tuple[str, list[tuple[int, int]], int]:
    notes, left = ReplacedTexts([rows]).restore(batch_of([new]))
    (row,) = notes.to_pylist()
    return row["text"], list(zip(row["starts"], row["ends"], strict=True)), left


def test_a_note_that_has_changed_stays_as_it_is() -> None:
    after, rows = replaced(
        [("Ana Puig, 52, Vic", [(0, 8, "Pau Mas"), (10, 12, ""), (14, 17, "X")])]
    )
    assert after["text"].to_pylist() == ["Pau Mas, , X"]
    assert restored(("Pau Mas, , X", []), rows) == ("Ana Puig, 52, Vic", [], 0)
    for changed in ("Pau Mas, . X", "¡Pau Mas, , X", "Pau", ""):
        assert restored((changed, []), rows) == (changed, [], 1)


def test_annotations_within_a_replacement_cover_the_original() -> None:
    _, rows = replaced([("Ana Puig, 52, Vic", [(0, 8, "Pau Mas"), (10, 12, ""), (14, 17, "X")])])
    spans: list[tuple[int, int, str | None]] = [(0, 3, None), (9, 9, None), (9, 12, None)]
    text, places, left = restored(("Pau Mas, , X", spans), rows)
    assert (text, left) == ("Ana Puig, 52, Vic", 0)
    assert [text[start:end] for start, end in places] == ["Ana Puig", "52", ", Vic"]


def test_rows_of_other_notes_or_twice_do_no_harm() -> None:
    after, rows = replaced([("Ana", [(0, 3, "Pau")]), ("Vic", [(0, 3, "Reus")])])
    assert ReplacedTexts([rows, rows]).restore(after)[0]["text"].to_pylist() == ["Ana", "Vic"]
    unknown = after.set_column(0, SCHEMA.field("id"), pa.array(["x", "y"], pa.large_string()))
    assert ReplacedTexts([rows]).restore(unknown) == (unknown, 0)
    assert ReplacedTexts([]).restore(after) == (after, 0)
    assert ReplacedTexts([rows]).restore(after.slice(2))[1] == 0


def test_notes_with_one_id_are_told_apart_or_stay() -> None:
    def called(notes: pa.RecordBatch) -> pa.RecordBatch:
        ids = pa.array(["d"] * len(notes), pa.large_string())
        return notes.set_column(0, notes.schema.field(0), ids)

    some: list[Note] = [
        ("Ana, Vic", [(0, 3, "X")]),
        ("Eva, Olot", [(0, 3, "X")]),
        ("nada", []),
        ("Pau, Vic", [(0, 3, "X")]),
        ("Ana, Vic", [(0, 3, "X")]),
    ]
    after, rows = replaced(some)
    maps = ReplacedTexts([called(rows)])
    texts = maps.restore(called(after.take([1, 2])))
    assert (texts[0]["text"].to_pylist(), texts[1]) == (["Eva, Olot", "nada"], 0)
    texts = maps.restore(called(after))  # Ana's and Pau's notes have become the same
    assert (texts[0]["text"].to_pylist(), texts[1]) == (
        ["X, Vic", "Eva, Olot", "nada", "X, Vic", "X, Vic"],
        3,
    )


def test_a_map_is_read_as_it_was_written(tmp_path: Path) -> None:
    many = pa.RecordBatch.from_arrays(
        [
            pa.array(
                [[1, 2] if pa.types.is_list(field.type) else b"0123456789abcdef"] * 40_000
            ).cast(field.type)
            for field in ROWS
        ],
        schema=ROWS,
    )
    _, rows = replaced([("Anacleta", [(0, 8, "Hermenegilda")])])
    data = write(tmp_path / "map", rows, many, rows.slice(1))
    assert pa.Table.from_batches(read_map(tmp_path / "map", KEY)) == pa.Table.from_batches(
        [rows, many]
    )
    assert max(map(len, read_map(tmp_path / "map", KEY))) < 40_000
    assert (tmp_path / "map").stat().st_mode & 0o077 == 0
    assert b"Anacleta" not in data and b"Hermenegilda" not in data and b"01234567" not in data
    # The same rows are encrypted differently, in one map and in two.
    assert data != write(tmp_path / "again", rows, many)
    write(tmp_path / "empty")
    assert list(read_map(tmp_path / "empty", KEY)) == []


def test_a_map_that_is_not_complete_does_not_appear(tmp_path: Path) -> None:
    _, rows = replaced([("Ana", [(0, 3, "Pau")])])
    with pytest.raises(RuntimeError), map_writer(tmp_path / "map", KEY) as add:
        add(rows)
        raise RuntimeError
    assert not list(tmp_path.iterdir())
    write(tmp_path / "map", rows)
    with pytest.raises(InputError, match="exists"):
        write(tmp_path / "map", rows)


def read(path: Path, data: bytes, key: Key = KEY) -> list[pa.RecordBatch]:
    path.write_bytes(data)
    return list(read_map(path, key))


def test_what_is_no_map_of_this_key_is_refused(tmp_path: Path) -> None:
    path, (_, rows) = tmp_path / "other", replaced([("Ana", [(0, 3, "Pau")])])
    data = write(tmp_path / "map", rows, rows)
    with pytest.raises(InputError, match="another key"):
        read(path, data, OTHER)
    for other in (b"", data[:20], b"Ana Puig" * 20):
        with pytest.raises(InputError, match="no map"):
            read(path, other)
    with pytest.raises(InputError, match="cannot be read"):
        list(read_map(tmp_path / "missing", KEY))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_map(tmp_path, KEY))


def test_any_damage_is_noticed(tmp_path: Path) -> None:
    path, (_, rows) = tmp_path / "other", replaced([("Ana", [(0, 3, "Pau")])])
    data = write(tmp_path / "map", rows, rows)
    size = (len(data) - 48 - 4 - 19) // 2  # of a block of rows, after the header and before the end
    first, second, end = data[48 : 48 + size], data[48 + size : 48 + 2 * size], data[-23:]
    assert len(read(path, data[:48] + first + second + end)) == 2
    damaged = [
        *(data[:length] for length in range(48, len(data), 7)),
        data[:48] + second + first + end,
        data[:48] + first + end,
        data + b"\0",
        data + end,
        data[:48] + write(tmp_path / "again", rows, rows)[48:],
        *(
            data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
            for place in range(32, len(data), 5)
        ),
    ]
    for other in damaged:
        with pytest.raises(InputError, match="damaged"):
            read(path, other)

"""Folds and halves: every document is on one side, with those of its patient and its text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.config.overrides import ConfigurationError, Source
from bootstrap.data.splits import HELD_OUT, HELD_OUT_PATIENT
from bootstrap.experiments.plan import parse_plan
from bootstrap.experiments.splits import TESTED, Split, linked_units, read_splits
from corpus.document import Document, Span
from corpus.errors import Problems
from corpus.formats import write

NOTES = st.lists(
    st.tuples(st.sampled_from([None, *"abcdef"]), st.sampled_from(["", " ", *"tuvwxyz"])),
    max_size=20,
)


def documents(notes: list[tuple[str | None, str]]) -> list[Document]:
    return [Document(f"d{n}", text, (), group) for n, (group, text) in enumerate(notes)]


@given(NOTES)
def test_units_are_the_closure_of_same_patient_and_same_text(notes) -> None:
    """Compared with repeated merging of pairs."""
    made = documents(notes)
    expected = list(range(len(made)))
    changed = True
    while changed:
        changed = False
        for i, left in enumerate(made):
            for j, right in enumerate(made):
                alike = (left.group is not None and left.group == right.group) or (
                    left.text == right.text and left.text.strip() != ""
                )
                if alike and expected[i] != expected[j]:
                    low, high = sorted((expected[i], expected[j]))
                    expected = [low if unit == high else unit for unit in expected]
                    changed = True
    index: dict[int, int] = {}
    assert linked_units(made).tolist() == [index.setdefault(u, len(index)) for u in expected]


def splits_of(
    folder: Path, problems: Problems | None = None, folds: int = 0, **sources: list[Document]
) -> list[Split]:
    data: dict[str, Any] = {}
    for name, notes in sources.items():
        path = folder / f"{name}.jsonl"
        path.unlink(missing_ok=True)
        write(notes, path)
        data[name] = path.name
    tables = {"data": data, "experiment": {"folds": folds}, "seed": {"documents": 1}}
    plan = parse_plan(tables, Source("e.toml", folder))
    return read_splits(plan, problems or Problems())


def gold(number: int, patients: int, prefix: str = "n") -> list[Document]:
    return [
        Document(
            f"{prefix}{n}", f"{prefix} {n} Anna", (Span(0, 1, "P"),), f"{prefix}p{n % patients}"
        )
        for n in range(number)
    ]


@pytest.mark.parametrize("folds", [3, 7])
def test_each_document_is_tested_once_and_never_with_its_patient_in_training(
    folds: int, tmp_path: Path
) -> None:
    notes = gold(100, 20)
    splits = splits_of(tmp_path, folds=folds, seed=notes)
    assert len(splits) == folds
    tested = Counter(note.id for split in splits for note in split.test or ())
    assert tested == Counter(note.id for note in notes)
    for number, split in enumerate(splits):
        sides = [split.train, split.validation or (), split.test or ()]
        assert sorted(note.id for side in sides for note in side) == sorted(tested)
        patients = [{note.group for note in side} for side in sides]
        assert all(patients)
        assert not (
            patients[0] & patients[1] | patients[0] & patients[2] | patients[1] & patients[2]
        )
        following = splits[(number + 1) % folds].test
        assert split.validation == following
    sizes = [len(split.test or ()) for split in splits]
    assert max(sizes) - min(sizes) <= 5  # a patient has five documents


def test_validation_documents_that_are_named_are_those_of_every_fold(tmp_path: Path) -> None:
    splits = splits_of(tmp_path, folds=2, seed=gold(10, 10), validation=gold(5, 5, "v"))
    assert [split.validation for split in splits] == [None, None]
    assert [len(split.train) for split in splits] == [5, 5]


def test_halves_of_validation_change_places(tmp_path: Path) -> None:
    notes = gold(11, 4, "v")
    left, right = splits_of(tmp_path, seed=gold(10, 10), validation=notes)
    assert (left.validation, left.test) == (right.test, right.validation)
    assert sorted(
        note.id for side in (left.validation, left.test) for note in side or ()
    ) == sorted(note.id for note in notes)
    assert left.train == right.train


def test_texts_and_patients_of_evaluation_are_left_out_of_training(tmp_path: Path) -> None:
    train, dev, test = gold(6, 6), gold(4, 4, "v"), gold(4, 4, "t")
    same = Document("same", dev[0].text, dev[0].spans)
    patient = Document("patient", "other text", (Span(0, 5, "P"),), test[1].group)
    problems = Problems()
    (split,) = splits_of(
        tmp_path, problems, seed=[*train, same, patient], validation=dev, test=test
    )
    assert [note.id for note in split.train] == [note.id for note in train]
    assert problems.counts == {HELD_OUT: 1, HELD_OUT_PATIENT: 1}
    assert (split.validation, split.test) == (None, None)


def test_no_document_chooses_and_is_scored(tmp_path: Path) -> None:
    dev, test = gold(4, 4, "v"), gold(4, 4, "t")
    same = Document("same", test[0].text, test[0].spans)
    patient = Document("patient", "other text", (Span(0, 5, "P"),), test[1].group)
    problems = Problems()
    (split,) = splits_of(
        tmp_path, problems, seed=gold(6, 6), validation=[*dev, same, patient], test=test
    )
    assert [note.id for note in split.validation or ()] == [note.id for note in dev]
    assert split.test is None
    assert problems.counts == {TESTED: 2}
    with pytest.raises(ConfigurationError, match="every document has the text or the patient"):
        splits_of(tmp_path, seed=gold(6, 6), validation=test, test=test)
    with pytest.raises(ConfigurationError, match=r"\[data\] seed = .*: every document has"):
        splits_of(tmp_path, seed=test, validation=dev, test=test)


def test_documents_without_an_entity_cannot_be_scored(tmp_path: Path) -> None:
    notes = [Document(f"n{n}", f"Anna {n}", () if n else (Span(0, 4, "P"),)) for n in range(9)]
    with pytest.raises(ConfigurationError, match="of fold-0 have no entity"):
        splits_of(tmp_path, folds=3, seed=notes)
    with pytest.raises(ConfigurationError, match="of half-0 have no entity"):
        splits_of(tmp_path, seed=gold(6, 6), validation=notes)


def test_too_few_patients_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="has 2 patients or documents"):
        splits_of(tmp_path, folds=3, seed=gold(10, 2))
    with pytest.raises(ConfigurationError, match="cannot be divided into halves"):
        splits_of(tmp_path, seed=gold(10, 2), validation=gold(3, 1, "v"))

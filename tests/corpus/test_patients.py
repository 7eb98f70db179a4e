"""Documents of a patient have one number."""

from __future__ import annotations

import numpy as np

from bootstrap.experiments.splits import linked_units
from corpus.batch import make_batch
from corpus.document import Document
from corpus.errors import Problems
from corpus.patients import number_patients
from corpus.units import split_document
from taggers.name_propagation import note_numbers


def test_documents_of_a_patient_have_one_number() -> None:
    groups = ["p", None, "p", "q", None, ""]
    assert number_patients(groups, ["a", "p", "c", "d", "e", "f"]).tolist() == [0, 1, 0, 2, 3, 4]
    numbers: dict[str, int] = {}
    assert number_patients(["p", "q"], ["a", "b"], numbers).tolist() == [0, 1]
    assert number_patients(["q", None], ["c", "q"], numbers).tolist() == [1, 2]


def test_documents_with_an_empty_group_are_of_different_patients() -> None:
    documents = [Document("a", "Ana", group=""), Document("b", "Puig", group="")]
    assert all(document.group is None for document in documents)
    batch = make_batch(documents, labelled=False)
    assert batch.groups.null_count == 2
    for numbers in (note_numbers(batch), linked_units(documents)):
        assert len(np.unique(numbers)) == 2
    units = [split_document(document, "line", Problems())[0][1] for document in documents]
    assert [unit.group for unit in units] == ["a", "b"]

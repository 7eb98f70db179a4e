"""Documents of a patient are one unit."""

from __future__ import annotations

from corpus.patients import unit_numbers


def test_documents_of_a_patient_are_one_unit() -> None:
    groups = ["p", None, "p", "q", None, ""]
    assert unit_numbers(groups, ["a", "p", "c", "d", "e", "f"]).tolist() == [0, 1, 0, 2, 3, 4]


def test_a_document_with_the_id_of_a_patient_is_a_unit_of_its_own() -> None:
    assert unit_numbers(["p", None], ["a", "p"]).tolist() == [0, 1]

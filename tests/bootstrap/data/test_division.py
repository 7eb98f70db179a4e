"""The division of annotated notes into seed and validation notes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.data.division import validation_notes
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.formats.batches import batch_of


def note(number: int, patient: str | None, label: str = "") -> Document:
    spans = (Span(0, 4, label),) if label else ()
    return Document(f"n{number}", "Anna", spans, patient)


@given(
    patients=st.lists(st.sampled_from("abcdef"), min_size=2, max_size=30),
    labels=st.lists(st.sampled_from(["", "A", "B"]), min_size=30, max_size=30),
    share=st.floats(0.01, 0.99),
    cut=st.integers(0, 30),
)
def test_patients_stay_together(
    patients: list[str], labels: list[str], share: float, cut: int
) -> None:
    notes = [note(i, patient, labels[i]) for i, patient in enumerate(patients)]
    batches = [batch_of(part) for part in (notes[:cut], notes[cut:]) if part]
    if len(set(patients)) == 1:
        with pytest.raises(InputError, match="not two; name validation notes"):
            validation_notes(batches, share)
        return
    chosen = validation_notes(batches, share)
    sides = [
        {p for p, held in zip(patients, chosen, strict=True) if held == side} for side in (0, 1)
    ]
    assert all(sides) and not sides[0] & sides[1]
    assert (chosen == validation_notes([batch_of(notes)], share)).all()


def test_all_classes_and_blank_notes_are_divided_in_proportion() -> None:
    kinds = ["", "", "", "A", "A", "B"] * 20
    notes = [note(i, None, label) for i, label in enumerate(kinds)]
    chosen = validation_notes([batch_of(notes)], 0.3)
    for kind in ("", "A", "B"):
        own = np.array([label == kind for label in kinds])
        assert chosen[own].mean() == pytest.approx(0.3, abs=0.05)

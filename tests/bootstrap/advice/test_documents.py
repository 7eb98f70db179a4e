"""Documents to annotate: the most uncertain ones, of which no two are alike."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.advice.advice import SIMILAR, uncertain_documents
from corpus.batch import make_batch
from corpus.document import Document

texts = st.lists(st.sampled_from(["Anna", "anna", "7", "12", "35", "tos", "Vic", ":"]), max_size=6)


@given(
    st.lists(st.tuples(texts, st.sampled_from([0.0, 0.2, 0.5, 1.0])), max_size=12),
    st.integers(0, 5),
)
def test_they_are_chosen_one_after_the_other(drawn, number) -> None:
    """Compared with sets of words, document by document."""
    documents = [Document(str(i), " ".join(words)) for i, (words, _) in enumerate(drawn)]
    confidence = np.array([sure for _, sure in drawn])
    chosen = uncertain_documents(make_batch(documents, labelled=False), confidence, number)
    sets = [
        {word.lower().translate(dict.fromkeys(range(48, 58), "0")) for word in words}
        for words, _ in drawn
    ]
    expected: list[int] = []
    sure = sorted(value for words, value in drawn if words)
    if not sure or np.median(sure) == sure[0]:
        assert not len(chosen)
        return
    for place in sorted(range(len(drawn)), key=lambda i: (drawn[i][1], i)):
        alike = (
            len(sets[place] & sets[other]) / len(sets[place] | sets[other]) >= SIMILAR
            for other in expected
        )
        if sets[place] and len(expected) < number and not any(alike):
            expected.append(place)
    assert chosen.tolist() == expected


def test_near_duplicates_are_left_out() -> None:
    names = (
        "Nombre: Anna",
        "Nombre: Pere",
        "se cita a Anna en Vic",
        "se cita a Pere en Olot",
        "x y",
    )
    documents = [Document(str(i), text) for i, text in enumerate(names)]
    batch = make_batch(documents, labelled=False)
    chosen = uncertain_documents(batch, np.array([0.2, 0.1, 0.4, 0.3, 0.9]), 50)
    assert chosen.tolist() == [1, 3, 4]


def test_a_model_that_is_equally_sure_of_most_proposes_none() -> None:
    documents = [Document(str(i), f"x{chr(97 + i) * 3}") for i in range(6)]
    batch = make_batch(documents, labelled=False)
    assert uncertain_documents(batch, np.array([0, 0, 0, 0, 1, 1.0]), 50).tolist() == []
    assert uncertain_documents(batch, np.array([0, 0, 1, 1, 1, 1.0]), 2).tolist() == [0, 1]

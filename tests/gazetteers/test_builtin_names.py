"""The names to begin with: as the rule says, and as a census would know those of notes."""

from __future__ import annotations

import re
from pathlib import Path

from corpus.synthetic import synthetic_notes
from gazetteers.builtin import starter_names
from gazetteers.folding import fold
from gazetteers.gazetteer import Gazetteer

#: Scale, Catalan names, all bearers.
SCALES = {"given_name": (176_000, 54, 1_000_000), "surname": (345_000, 66, 2_000_000)}


def of_class(names: Gazetteer, name: str) -> list[tuple[str, int]]:
    rows = names.table().to_pylist()
    return [(row["term"], row["count"]) for row in rows if row["class"] == name]


def test_counts_are_those_of_the_rule() -> None:
    names = starter_names()
    assert {size.name: size.terms for size in names.sizes()} == {"given_name": 313, "surname": 313}
    for name, (scale, catalan, total) in SCALES.items():
        counts = [count for _, count in of_class(names, name)]
        ranks = [*range(1, 313 - catalan + 1), *range(1, catalan + 1)]
        assert counts == sorted((round(scale / (rank + 7)) for rank in ranks), reverse=True)
        assert abs(sum(counts) / total - 1) < 0.02


def test_terms_are_folded_and_distinct() -> None:
    names = starter_names()
    terms = names.terms.to_pylist()
    assert fold(terms) == terms
    assert [" ".join(term.split()) for term in terms] == terms
    for name in SCALES:
        found = [term for term, _ in of_class(names, name)]
        assert len(set(found)) == len(found)
    assert {"maria jose", "montserrat"} <= {term for term, _ in of_class(names, "given_name")}
    assert {"muñoz", "puig", "singh"} <= {term for term, _ in of_class(names, "surname")}


def test_most_names_of_the_synthetic_notes_are_known_and_not_all() -> None:
    known = {word for term in starter_names().terms.to_pylist() for word in term.split()}
    met: set[str] = set()
    for note in synthetic_notes(3000, random_state=5):
        for span in note.spans:
            if span.label == "PERSON":
                found = re.findall(r"[^\W\d_]{2,}", note.text[span.start : span.end])
                met.update(fold(found))
    share = len(met & known) / len(met)
    assert len(met) > 150
    assert 0.5 < share < 0.9


def test_the_list_says_where_it_is_from() -> None:
    folder = Path(__file__).parents[2] / "gazetteers" / "resources"
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "Source" in text
    assert "Licence" in text
    assert "round(scale / (rank + 7))" in text

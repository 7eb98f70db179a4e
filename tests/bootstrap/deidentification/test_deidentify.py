"""Notes are found, replaced and searched again, and come back in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from anonymizers.keys import Key
from anonymizers.policy import read_policy
from bootstrap.deidentification.deidentify import (
    Deidentified,
    DeidentifyOptions,
    deidentified_batches,
    deidentify_options,
)
from corpus.batch import Batch
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.formats.batches import batch_of, documents_of
from corpus.tags import TokenSpans, tags_of_entities
from gazetteers.phrases.matcher import BLOCKED
from taggers import Tagging
from taggers.annotators import Phrases
from taggers.patterns.labelled import LabelledPatterns

KEY = Key(bytes(range(32)))
LABELS = ("O", "B-PERSON", "I-PERSON")


class Words:
    """A tagger that knows some words, and is in doubt about others."""

    kind, labels, training = "words", LABELS, None

    def __init__(self, *names: str, doubtful: Sequence[str] = ()) -> None:
        self._names, self._doubtful = names, doubtful

    def tag(self, batch: Batch, **_: object) -> Tagging:
        words = np.array([*batch.vocabulary, ""], object)[batch.word_ids]
        places = np.flatnonzero(np.isin(words, self._names))
        spans = TokenSpans(places, places, np.zeros(len(places), np.int64))
        tags = tags_of_entities(spans, batch.n_tokens, LABELS)
        marginals = np.zeros((batch.n_tokens, 3))
        marginals[np.arange(batch.n_tokens), tags] = 1
        marginals[np.isin(words, self._doubtful)] = [0.6, 0.4, 0]
        return Tagging(tags, LABELS, np.ones(len(batch)), marginals=marginals)


def result_of(
    texts: Sequence[str], tagger: Words, policy: str = "placeholders", **options: object
) -> Deidentified:
    notes = batch_of([Document(str(n), text, (), str(n)) for n, text in enumerate(texts)])
    how = DeidentifyOptions(read_policy(policy), KEY, **options)  # type: ignore[arg-type]
    ((_, result),) = deidentified_batches([notes], tagger, how)  # type: ignore[arg-type]
    return result


def texts_of(result: Deidentified) -> list[str]:
    return result.notes.column("text").to_pylist()  # type: ignore[no-any-return]


def test_a_word_that_stands_alone_elsewhere_is_replaced() -> None:
    texts = ["Sr. Puig. Avisan a PUIG y a Puigcerdà.", "Puig no está", "nada"]
    result = result_of(texts, Words("Puig."[:-1]))
    assert texts_of(result) == [
        "Sr. <PERSON>. Avisan a <PERSON> y a Puigcerdà.",
        "<PERSON> no está",
        "nada",
    ]
    sources = {source: n for (_, source, _, _), n in result.counts.mentions.items()}
    assert sources == {"model": 2, "repeated word": 1}
    assert (result.counts.notes, result.counts.changed) == (3, 2)
    assert not result.second.mentions


def test_a_common_word_in_lower_case_stays() -> None:
    result = result_of(["Sr. Blanco, de blanco. BLANCO"], Words("Blanco"))
    assert texts_of(result) == ["Sr. <PERSON>, de blanco. <PERSON>"]


def test_a_name_that_is_also_a_word_beside_places_is_sought() -> None:
    result = result_of(["Sra. Plaza. PLAZA acude a la plaza"], Words("Plaza"))
    assert texts_of(result) == ["Sra. <PERSON>. <PERSON> acude a la plaza"]


def test_a_name_that_is_also_a_word_of_a_phrase_is_sought() -> None:
    result = result_of(["Sr. Romberg. Avisan a ROMBERG"], Words("Romberg"))
    assert texts_of(result) == ["Sr. <PERSON>. Avisan a <PERSON>"]


def test_patterns_find_what_the_model_does_not() -> None:
    result = result_of(["Puig, ana@x.es"], Words("Puig"), patterns=LabelledPatterns())
    assert texts_of(result) == ["<PERSON>, <EMAIL>"]


def test_phrases_are_replaced_with_their_class() -> None:
    phrases = Phrases({"hospital": ["hospital de olot"], BLOCKED: ["signo de puig"]})
    texts = ["Va al Hospital de Olot. Signo de Puig"]
    result = result_of(texts, Words(), phrases=phrases)
    assert texts_of(result) == ["Va al <hospital>. Signo de Puig"]


def test_a_threshold_replaces_doubtful_words_and_without_it_they_are_named() -> None:
    tagger = Words("Puig", doubtful=["Vila"])
    assert texts_of(result_of(["Puig y Vila"], tagger, threshold=0.7)) == ["<PERSON> y <PERSON>"]
    result = result_of(["nada", "Puig y Vila", "Vila"], tagger, doubts=True)
    assert texts_of(result) == ["nada", "<PERSON> y Vila", "Vila"]
    doubts = result.doubts
    places = zip(doubts.rows.tolist(), doubts.starts.tolist(), doubts.ends.tolist(), strict=True)
    assert [texts_of(result)[row][a:b] for row, a, b in places] == ["Vila", "Vila"]
    assert np.allclose(doubts.probabilities, 0.6)


class Second(Words):
    """A tagger that finds a name only after another one is gone."""

    def tag(self, batch: Batch, **_: object) -> Tagging:
        first = "Puig" in batch.vocabulary
        return Words(*(["Puig"] if first else ["Vila", "PERSON"]), doubtful=["Roca"]).tag(batch)


def test_the_second_pass_replaces_what_was_overlooked() -> None:
    texts = ["Vila", "Puig, Vila y Roca", "Roca Puig"]
    result = result_of(texts, Second(), doubts=True)
    # In the first note nothing was replaced, so that it is not searched again.
    assert texts_of(result) == ["Vila", "<PERSON>, <PERSON> y Roca", "Roca <PERSON>"]
    assert result.second.mentions.total() == 1
    old = [texts[row][a:b] for row, a, b in rows_of(result.originals)]
    new = [texts_of(result)[row][a:b] for row, a, b in rows_of(result.spans)]
    assert old == ["Puig", "Vila", "Puig"] and new == ["<PERSON>"] * 3
    places = zip(result.doubts.rows, result.doubts.starts, result.doubts.ends, strict=True)
    assert [texts_of(result)[row][a:b] for row, a, b in places] == ["Roca", "Roca"]
    spans = [document.spans for document in documents_of(result.notes)]
    assert list(map(len, spans)) == [0, 2, 1]


def rows_of(spans: object) -> list[tuple[int, int, int]]:
    columns = (getattr(spans, name).tolist() for name in ("rows", "starts", "ends"))
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("unit", ["document", "line", "sentence"])
def test_units_have_the_offsets_of_their_note(unit: str) -> None:
    texts = ["Nada.\r\nPuig aquí.\nOtra vez Puig", "", "Puig"]
    result = result_of(texts, Words("Puig"), unit=unit)
    assert texts_of(result) == ["Nada.\r\n<PERSON> aquí.\nOtra vez <PERSON>", "", "<PERSON>"]


def test_without_a_tagger_annotations_are_replaced_and_nothing_else() -> None:
    notes = batch_of([Document("1", "Puig y Puig, a@x.es", (Span(0, 4, "PERSON"),))])
    ((_, result),) = deidentified_batches(
        [notes], None, DeidentifyOptions(read_policy("strict"), KEY, patterns=LabelledPatterns())
    )
    assert texts_of(result) == [" y Puig, a@x.es"]
    assert isinstance(result.notes, pa.RecordBatch)


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ('{ operator = "placeholder", style = "numbered" }', "<PERSON-1>, <PERSON-2>"),
        ('"suppression"', ", "),
    ],
)
def test_both_passes_replace_as_one(operator: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(f"[operators]\nperson = {operator}\n")
    text = "Puig, Vila"
    result = result_of([text], Second(), policy=str(path))
    assert texts_of(result) == [expected] and result.second.mentions.total() == 1
    assert [text[a:b] for _, a, b in rows_of(result.originals)] == ["Puig", "Vila"]


def test_a_threshold_is_a_probability() -> None:
    for threshold in (float("nan"), 1.5):
        with pytest.raises(InputError, match="threshold"):
            deidentify_options("placeholders", None, "document", threshold=threshold)
    assert deidentify_options("placeholders", None, "document", threshold=1).threshold == 1.0

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.batch import make_batch
from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.formats import read
from corpus.synthetic import synthetic_notes
from corpus.synthetic.grammar import grammar_of

EPONYMS = ("parkinson", "crohn", "alzheimer")


@pytest.fixture(scope="module")
def notes() -> list[Document]:
    return list(synthetic_notes(20_000, random_state=5))


def mentions(notes: list[Document], label: str) -> list[str]:
    return [n.text[s.start : s.end] for n in notes for s in n.spans if s.label == label]


@settings(max_examples=15, deadline=None)
@given(
    state=st.integers(0, 1000),
    number=st.integers(0, 1100),
    part=st.sampled_from(["all", "seed"]),
)
def test_a_note_depends_on_its_place_alone(state, number, part):
    longer = list(synthetic_notes(number + 5, random_state=state, part=part))
    assert list(synthetic_notes(number, random_state=state, part=part)) == longer[:number]


def test_another_state_gives_other_notes_and_ids_are_unique(notes):
    other = list(synthetic_notes(500, random_state=6))
    assert not {note.text for note in other if len(note.text) > 60} & {n.text for n in notes}
    assert len({note.id for note in [*notes, *other]}) == len(notes) + len(other)


def test_spans_cover_text_without_outer_white_space(notes):
    seed = list(synthetic_notes(2000, part="seed"))
    for note in [*notes, *seed]:
        for span in note.spans:
            text = note.text[span.start : span.end]
            assert text and text == text.strip()
            assert span.label in ("PERSON", "LOCATION")


def test_proportions_are_those_of_the_thesis(notes):
    # Paper 003, tables 2.1 and B.1: 19 words a note, PERSON 0.3 % and LOCATION 1.1 % of tokens.
    batch = make_batch(notes, labelled=True)
    share = Counter(batch.labels[tag][2:] for tag in batch.tags.tolist())
    words = sum(len(note.text.split()) for note in notes) / len(notes)
    assert 18.5 < words < 19.5
    assert 0.0028 < share["PERSON"] / len(batch.tags) < 0.0032
    assert 0.0105 < share["LOCATION"] / len(batch.tags) < 0.0115
    assert 0.82 < sum(not note.spans for note in notes) / len(notes) < 0.92


@pytest.mark.slow
def test_the_seed_names_much_in_few_ways():
    seed = list(synthetic_notes(3000, part="seed"))
    everything, part = grammar_of("all"), grammar_of("seed")
    for symbol, lines in part.lines.items():
        assert set(lines) <= set(everything.lines[symbol])
    assert sum(map(len, part.lines.values())) < sum(map(len, everything.lines.values()))
    assert 0.7 < sum(bool(note.spans) for note in seed) / len(seed) < 0.9
    known = set(mentions(seed, "PERSON")) | set(mentions(seed, "LOCATION"))
    pool = list(synthetic_notes(5000, random_state=9))
    named = mentions(pool, "PERSON") + mentions(pool, "LOCATION")
    assert sum(name in known for name in named) < 0.6 * len(named)


def test_names_are_also_words_and_eponyms_are_never_persons(notes):
    inside, outside = Counter(), Counter()
    for note in notes:
        edge = 0
        for span in note.spans:
            outside.update(note.text[edge : span.start].lower().split())
            inside.update(note.text[span.start : span.end].lower().split())
            edge = span.end
        outside.update(note.text[edge:].lower().split())
    for word in ("clot", "rosa", "sol", "blanco", "flores"):
        assert inside[word] and outside[word], word
    persons = " ".join(mentions(notes, "PERSON")).lower()
    assert not any(eponym in persons for eponym in EPONYMS)
    assert any(outside[eponym] for eponym in EPONYMS)


def test_synthetic_notes_are_a_corpus_source():
    actual = list(read("synthetic:20?random_state=4&part=seed", problems=Problems()))
    assert actual == list(synthetic_notes(20, random_state=4, part="seed"))
    first = next(islice(read("synthetic:3", problems=Problems()), 1))
    assert first == next(synthetic_notes(1))


@pytest.mark.parametrize(
    "source",
    [
        "synthetic:",
        "synthetic:many",
        "synthetic:5?part=some",
        "synthetic:5?language=fr",
        "synthetic:5?seed=1",
    ],
)
def test_a_source_that_names_no_notes_is_an_error(source):
    with pytest.raises(InputError, match="synthetic:NUMBER"):
        list(read(source, problems=Problems()))


@pytest.mark.parametrize("options", [{"random_state": -1}, {"part": "some"}])
def test_bad_arguments_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        list(synthetic_notes(1, **options))


def test_notes_of_one_language_are_others_than_those_of_all() -> None:
    texts = {
        language: [note.text for note in synthetic_notes(50, language=language)]
        for language in ("all", "es", "ca", "mixed")
    }
    assert len({tuple(of_language) for of_language in texts.values()}) == 4
    source = read("synthetic:50?language=ca", problems=Problems())
    assert [note.text for note in source] == texts["ca"]
    with pytest.raises(ValueError, match="language must be"):
        synthetic_notes(1, language="fr")  # type: ignore[arg-type]

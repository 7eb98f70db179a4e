"""How far words are from being nothing but names: by hand, and in notes made of known names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from corpus.evaluation.scoring import score
from gazetteers.frequencies import Frequencies
from gazetteers.gazetteer import Gazetteer
from taggers.base import TrainingError
from taggers.dictionaries.dictionary_options import DivergenceOptions
from taggers.dictionaries.divergence import DivergenceTagger, WordDivergence
from taggers.dictionaries.word_usage import CASES, NoteWords, Uses, case_numbers, name_share
from taggers.features.words import Words, feature

MakeGazetteer = Callable[..., Gazetteer]
Counted = dict[str, int]


def compared(gazetteer: Gazetteer, notes: Counted, smoothing: float = 0.3) -> WordDivergence:
    names = Frequencies.from_gazetteer(gazetteer)
    return WordDivergence.from_uses(names, uses_of(names, notes), smoothing)


def uses_of(names: Frequencies, notes: Counted) -> Uses:
    counts = np.array(list(notes.values()), np.int64)
    return Uses.from_notes(names, NoteWords(list(notes), counts, np.zeros(len(notes), np.int32)))


def said_of(words: WordDivergence, *types: str) -> dict[str, float]:
    """Return the divergence of words, a token each."""
    batch = make_batch([Document("d", "\n".join(types))], labelled=False)
    assert set(batch.vocabulary) == set(types)
    return dict(zip(batch.vocabulary, words.judge(batch).divergence.tolist(), strict=True))


def case_of(word: str) -> str:
    return feature("capitalization")(Words([word]))[0]


def by_hand(gazetteer: Gazetteer, notes: Counted, smoothing: float) -> dict[str, float]:
    """Compute the divergence of the words of notes, word by word; all names are of one word."""
    bearers: Counter[str] = Counter()
    for term, count in zip(gazetteer.terms.to_pylist(), gazetteer.counts.tolist(), strict=True):
        bearers[term] += count
    bearers = Counter({term: count for term, count in bearers.items() if count})
    tokens, everyone = sum(notes.values()), bearers.total()
    shares = np.array([count / everyone for count in bearers.values()])
    scales, totals, all_names = (dict.fromkeys(CASES, 0.0) for _ in range(3))
    for case in CASES:
        written = [
            sum(n for word, n in notes.items() if word.lower() == term and case_of(word) == case)
            for term in bearers
        ]
        scales[case] = name_share(shares, np.array(written), tokens)
        totals[case] = sum(n for word, n in notes.items() if case_of(word) == case)
        all_names[case] = sum(written) / tokens
    scales = scales if any(scales.values()) else all_names
    usual = max(CASES, key=lambda case: scales[case])
    result = {}
    for word in notes:
        if word.lower() not in bearers:
            result[word] = math.inf
            continue
        n = sum(count for other, count in notes.items() if other.lower() == word.lower())
        m = bearers[word.lower()] / everyone * sum(scales.values()) * tokens
        result[word] = max(0.0, math.log((n + smoothing) / (m + smoothing)))
        case = case_of(word)
        part = scales[case] * tokens / max(totals[case], 1)
        most = scales[usual] * tokens / max(totals[usual], 1)
        result[word] += max(0.0, math.log(most) - math.log(max(part, np.finfo(float).tiny)))
    return result


_TERMS = ["anna", "puig", "rosa", "vila", "mas"]
_WRITTEN = [*_TERMS, "Anna", "ANNA", "Rosa", "VILA", "Vila", "casa", "Casa", "x", "X"]


@pytest.mark.filterwarnings("error")
@given(
    st.dictionaries(st.sampled_from(_TERMS), st.integers(0, 10**6), min_size=1),
    st.dictionaries(st.sampled_from(_WRITTEN), st.integers(1, 5000), min_size=1),
    st.sampled_from([0.001, 0.3, 5.0]),
)
def test_divergence_is_that_of_the_formula(make_gazetteer, names, notes, smoothing) -> None:
    gazetteer = make_gazetteer(*((term, "x", count) for term, count in names.items()))
    lowers = {word.lower() for word in notes}
    if not lowers & {term for term, count in names.items() if count}:
        with pytest.raises(TrainingError, match="none of the dictionary's words occurs"):
            compared(gazetteer, notes, smoothing)
        return
    actual = said_of(compared(gazetteer, notes, smoothing), *notes)
    assert actual == pytest.approx(by_hand(gazetteer, notes, smoothing), rel=1e-5, abs=1e-5)


def test_words_of_longer_names_only_join_them(make_gazetteer: MakeGazetteer) -> None:
    """So do signs; a word that a few bear alone is one of these all the same."""
    names = [("anna", "g", 500), ("de la torre", "s", 100), ("torre", "s", 30), ("la", "s", 4)]
    words = compared(make_gazetteer(*names), {"Anna": 50, "de": 900, "la": 900, "x": 9000})
    batch = make_batch([Document("d", "Anna de LA De torre - – x")], labelled=False)
    judged = words.judge(batch)
    assert [word for word, joins in zip(batch.vocabulary, judged.joins, strict=True) if joins] == [
        *("de", "LA", "De", "-", "–")
    ]
    assert np.isinf(judged.divergence[judged.joins]).all()
    assert not judged.doubtful.any()


@pytest.mark.filterwarnings("error")
def test_words_and_their_capitals_are_counted(make_gazetteer: MakeGazetteer) -> None:
    names = Frequencies.from_gazetteer(make_gazetteer(("jose", "x", 5), ("mas", "x", 1)))
    notes = {"José": 3, "JOSÉ": 4, "Jose\u0301": 5, "jose": 1, "mas": 7, "más": 2, "12": 9, "Y": 8}
    uses = uses_of(names, notes)
    assert CASES == ("lower", "first", "upper", "initial", "mixed")
    assert uses.counts.tolist() == [[1, 8, 4, 0, 0], [9, 0, 0, 0, 0]]
    assert uses.totals.tolist() == [10, 8, 4, 8, 0]
    assert uses.tokens == 39
    assert case_numbers(["a", "A", "Ab", "AB", "aB", "1", "", "A1b"]).tolist() == [
        *(0, 3, 1, 2, 4, -1, -1, 1)
    ]


# Notes made of names and of other words, some of which are names, too


def pronounced(number: int, letters: str) -> str:
    """Make a word of its own of each number."""
    parts = [
        letters[number // 7**place % 7] + "aeiou"[number // 5**place % 5] for place in range(4)
    ]
    return "".join(parts)


GIVEN = [pronounced(number, "bcdfglm") + "a" for number in range(0, 12_000, 80)]
SURNAMES = [pronounced(number, "nprstvz") + "ez" for number in range(0, 12_000, 40)]
#: Words of the notes that some people are called, too.
BOTH = ["rosa", "mayor", "blanco", "dolores", "calle"]
OTHERS = [*BOTH, *(f"o{pronounced(number, 'bdglmns')}" for number in range(0, 9000, 30))]
Write = Callable[[int, str], str]


def borne(words: list[str]) -> np.ndarray:
    shares = 1 / np.arange(2, len(words) + 2)
    return shares / shares.sum()


def census(make_gazetteer: MakeGazetteer) -> Gazetteer:
    rows = []
    for name, words in (("given", GIVEN), ("surname", [*SURNAMES, *BOTH])):
        for word, share in zip(words, borne(words), strict=True):
            rows.append((word, name, int(1e6 * share)))
    return make_gazetteer(*rows)


def simulated(number: int, write: Write) -> list[Document]:
    """Make notes of 15 words and, every second one, of a name; `write` writes its words."""
    rng = np.random.default_rng(5)
    documents = []
    for row in range(number):
        words = list(rng.choice(OTHERS, 15, p=borne(OTHERS)))
        text, spans = "", []
        for place, word in enumerate(words):
            text += f" {word}" if text else word
            if place == 7 and row % 2:
                name = [rng.choice(GIVEN, p=borne(GIVEN)), rng.choice(SURNAMES, p=borne(SURNAMES))]
                begin = len(text) + 1
                text += " " + " ".join(write(row, part) for part in name)
                spans.append(Span(begin, len(text), "PERSON"))
        documents.append(Document(str(row), text, tuple(spans)))
    return documents


@pytest.mark.parametrize(
    ("write", "least"),
    [
        pytest.param(lambda note, word: word.capitalize(), 0.97, id="Anna"),
        pytest.param(lambda note, word: word.upper(), 0.97, id="ANNA"),
        pytest.param(lambda note, word: word, 0.9, id="anna"),
        pytest.param(
            lambda note, word: word if note % 4 == 1 else word.capitalize(), 0.9, id="half of each"
        ),
    ],
)
def test_names_are_found_however_they_are_written(make_gazetteer, tmp_path, write, least) -> None:
    census(make_gazetteer).save(tmp_path / "names.parquet")
    notes = simulated(3000, write)
    bare = make_batch([replace(note, spans=()) for note in notes], labelled=False)
    tagger = DivergenceTagger(DivergenceOptions(names=(str(tmp_path / "names.parquet"),)))
    tagger.fit(bare, rng=np.random.default_rng(0))
    tagging = tagger.tag(bare)
    actual = bare.with_tags(tagging.tags, tagging.labels).to_documents()
    assert score(notes, actual).counts("ner").f1 > least
    assert not wrong_words(bare, tagging.tags) & set(BOTH[:3])


def wrong_words(batch: Batch, tags: np.ndarray) -> set[str]:
    return {batch.vocabulary[word] for word in batch.word_ids[tags > 0]} - {*GIVEN, *SURNAMES}

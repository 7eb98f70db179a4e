"""Copies hold other mentions of the same kinds, and are as if they had been read from a file."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.batch import Batch, Stream, make_batch
from corpus.document import Document, Span
from corpus.errors import InputError, Problems
from corpus.formats import read
from corpus.tags import UNKNOWN
from gazetteers.gazetteer import Gazetteer
from taggers.augmentation import AugmentOptions, MentionReplacement
from taggers.augmentation.classified import mixture_weights

ANNOTATED = re.compile(r"\[(.*?)\|(\w+)\]", re.DOTALL)


def document(name: str, annotated: str, group: str | None = None) -> Document:
    """Build a document from a text with mentions such as ``[Ana|PERSON]``."""
    text, spans, end = "", [], 0
    for match in ANNOTATED.finditer(annotated):
        text += annotated[end : match.start()]
        spans.append(Span(len(text), len(text) + len(match[1]), match[2]))
        text += match[1]
        end = match.end()
    return Document(name, text + annotated[end:], tuple(spans), group)


SEED = [
    document("a", "Sra. [Ana Puig|PERSON], de [Vic|PLACE] ([08500|PLACE])", "g"),
    document("b", "Sin cambios."),
    document("c", "[C/ Sol, 3|PLACE] el [12/03/2010|DATE] y [5 de mayo|DATE]"),
    document("d", "[ZXY|CODE] [ZXQ|CODE] l'[Olot|PLACE] 7[Pau|PERSON]"),
]


def seed(documents: list[Document] = SEED) -> Batch:
    return make_batch(documents, labelled=True)


def copies_of(
    gold: Batch, gazetteer: Gazetteer, state: int = 0, **options: float
) -> tuple[MentionReplacement, Batch]:
    replacement = MentionReplacement(gold, AugmentOptions(**options), [gazetteer])
    return replacement, replacement.copies(np.random.default_rng(state))


def test_documents_with_entities_are_copied(small_gazetteer: Gazetteer) -> None:
    gold = seed().with_weights(np.array([1, 1, 0.5, 2], np.float32))
    gold = gold.with_streams({"header": Stream((), np.full(gold.n_tokens, -1, np.int32))})
    _, copies = copies_of(gold, small_gazetteer, copies=3, weight=0.6)
    assert copies.ids.to_pylist() == [f"{name}+{n}" for name in "acd" for n in (1, 2, 3)]
    assert copies.groups.to_pylist() == ["g"] * 3 + [None] * 6
    assert copies.weights is not None and copies.weights.dtype == np.float32
    assert copies.weights.tolist() == pytest.approx([0.2] * 3 + [0.1] * 3 + [0.4] * 3)
    assert copies.streams == {} and copies.labels == gold.labels


@pytest.mark.parametrize(("most", "each"), [(10**6, 20), (3 * 31, 3), (2 * 31 - 1, 0)])
def test_many_tokens_have_fewer_copies(
    most: int, each: int, small_gazetteer: Gazetteer, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = seed()
    assert sum(int(gold.lengths[row]) for row in (0, 2, 3)) == 31
    monkeypatch.setattr("taggers.augmentation.replacement.MOST_TOKENS", most)
    _, copies = copies_of(gold, small_gazetteer)
    assert len(copies) == 3 * each
    assert copies.weights.sum() == pytest.approx(3 if each else 0)


def test_mentions_become_others_of_their_kind(small_gazetteer: Gazetteer) -> None:
    replacement, copies = copies_of(seed(), small_gazetteer, copies=60, replace=1.0, own=0.0)
    town, person = r"(Vic|Olot|Palma de Mallorca)", r"(Ana|Pau|Maria Carmen) (Puig|Soler|Vila)"
    street = rf"\S+ (de )?(Sol|Luna|Mar|Norte|Sur|{town}|{person}), [1-9]"
    patterns = {
        "a": rf"Sra\. {person}, de {town} \([0-9]{{5}}\)",
        "c": rf"{street} el [1-9]\d/\d\d/[1-9]\d{{3}} y [1-9] de mayo",
        "d": r"(ZXY|ZXQ) (ZXY|ZXQ) l'Olot 7Pau",
    }
    for name, text in zip(copies.ids.to_pylist(), copies.texts.to_pylist(), strict=True):
        assert re.fullmatch(patterns[name[0]], text)
    assert len(set(copies.texts.to_pylist())) > 100
    assert replacement.kinds == {
        "CODE": {"own": 1.0},
        "DATE": {"digits": 0.5, "own": 0.5},
        "PERSON": {"person": 1.0},
        "PLACE": {"municipality": 0.5, "digits": 0.25, "street": 0.25},
    }
    classes = [[span.label for span in spans] for spans in copies.spans()]
    assert classes[0] == ["PERSON", "PLACE", "PLACE"]
    assert classes[60] == ["PLACE", "DATE", "DATE"]


def test_places_named_like_people_do_not_become_people(small_gazetteer: Gazetteer) -> None:
    people = ["Ana Puig", "Pau Soler", "Maria Vila"]
    places = ["Casa Vila", "Mas Soler", "Puig de Sol", "Vic", "Olot", "C/ Sol, 3"]
    notes = [f"[{name}|PERSON]" for name in people] + [f"[{name}|PLACE]" for name in places]
    gold = seed([document(str(number), note) for number, note in enumerate(notes)])
    replacement, copies = copies_of(gold, small_gazetteer, copies=50, replace=1.0, own=0.0)
    assert replacement.kinds["PERSON"] == {"person": 1.0}
    assert replacement.kinds["PLACE"]["own"] == 0.5
    texts = copies.texts.to_pylist()[50 * len(people) :]
    assert not any(re.search("Ana|Pau|Maria", text) for text in texts)


def test_shares_of_replacements(small_gazetteer: Gazetteer) -> None:
    gold = seed([document("a", "[Ana|P]"), document("b", "[Quark|P]"), document("c", "[Pau|P]")])
    _, same = copies_of(gold, small_gazetteer, copies=5, replace=0.0)
    assert same.texts.to_pylist() == ["Ana"] * 5 + ["Quark"] * 5 + ["Pau"] * 5
    _, own = copies_of(gold, small_gazetteer, copies=200, replace=1.0, own=1.0)
    assert set(own.texts.to_pylist()[:200]) <= {"Ana", "Pau", "Quark"}
    _, half = copies_of(gold, small_gazetteer, copies=1000, replace=0.5, own=0.0)
    kept = half.texts.to_pylist()[:1000].count("Ana")
    assert kept / 1000 == pytest.approx(0.5 + 0.5 / 3, abs=0.06)


def test_draws_repeat_with_the_random_state(small_gazetteer: Gazetteer) -> None:
    for build in (lambda r, rng: r.copies(rng), lambda r, rng: r.joined(rng, 50, 1.0)):
        texts = []
        for state in (1, 1, 2):
            replacement = MentionReplacement(seed(), AugmentOptions(), [small_gazetteer])
            texts.append(build(replacement, np.random.default_rng(state)).texts.to_pylist())
        assert texts[0] == texts[1] != texts[2]


def test_copies_have_ids_of_their_own(small_gazetteer: Gazetteer) -> None:
    gold = seed([document(name, "[Ana|P]") for name in ("a", "a+1", "a+1+1")])
    _, copies = copies_of(gold, small_gazetteer, copies=2)
    ids = [*gold.ids.to_pylist(), *copies.ids.to_pylist()]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    "documents",
    [[], [document("a", "")], [document("a", "Sin nada")]],
    ids=["no documents", "no text", "no entities"],
)
@pytest.mark.parametrize("labelled", [True, False])
def test_gold_without_entities(documents, labelled, small_gazetteer) -> None:
    gold = make_batch(documents, labelled=labelled, classes=("P",) if labelled else ())
    replacement, copies = copies_of(gold, small_gazetteer)
    assert len(copies) == 0 and replacement.kinds == {}
    joined = replacement.joined(np.random.default_rng(0), 10, 1.0)
    assert len(joined) == 0 and joined.weights is not None


def test_no_copies_and_no_gazetteers(small_gazetteer: Gazetteer) -> None:
    assert len(copies_of(seed(), small_gazetteer, copies=0)[1]) == 0
    replacement = MentionReplacement(seed(), AugmentOptions(copies=40), [])
    copies = replacement.copies(np.random.default_rng(0))
    assert set(replacement.kinds["PERSON"]) == {"own"}
    assert len(copies) == 120


def test_elided_articles_stay_before_vowels(small_gazetteer: Gazetteer) -> None:
    _, copies = copies_of(seed(), small_gazetteer, copies=200, replace=1.0)
    assert all("l'Olot 7Pau" in text for text in copies.texts.to_pylist()[400:])


PIECES = ["[Ana Puig|P]", "[PAU|P]", "[Vic|L]", "[C/ Sol 3|L]", "[l'home|L]", "[12/3|D]", "[a@b|D]"]
annotated = st.lists(
    st.sampled_from([*PIECES, " ", "\n", ". ", "'", "l'", "7", "NHC", "·", "d’", "_", "e\u0301"]),
    max_size=7,
).map("".join)


@settings(max_examples=150, deadline=None)
@given(st.lists(annotated, max_size=4), st.integers(0, 10**6))
def test_copies_have_the_entities_of_the_documents(small_gazetteer, texts, state) -> None:
    documents = [document(str(number), text) for number, text in enumerate(texts)]
    gold = make_batch(documents, labelled=True, problems=Problems())
    _, copies = copies_of(gold, small_gazetteer, state, copies=3)
    classes = [[span.label for span in spans] for spans in gold.spans() if spans]
    for number in range(3):
        assert [[span.label for span in spans] for spans in copies.spans()[number::3]] == classes


def test_documents_with_unknown_tags_are_not_copied(small_gazetteer: Gazetteer) -> None:
    gold = seed()
    tags = gold.tags.copy()
    tags[0] = UNKNOWN
    _, copies = copies_of(gold.with_tags(tags, gold.labels), small_gazetteer, copies=1)
    assert copies.ids.to_pylist() == ["c+1", "d+1"]


def test_joined_documents_are_mentions_with_punctuation(small_gazetteer: Gazetteer) -> None:
    replacement = MentionReplacement(seed(), AugmentOptions(replace=0.5), [small_gazetteer])
    joined = replacement.joined(np.random.default_rng(0), 400, 8.0, longest=3)
    assert len(set(joined.ids.to_pylist())) == 400
    assert joined.weights is not None and joined.weights.sum() == pytest.approx(8)
    spans = joined.spans()
    assert {len(part) for part in spans} == {1, 2, 3}
    assert {span.label for part in spans for span in part} == {"CODE", "DATE", "PERSON", "PLACE"}
    between = []
    for text, of_text in zip(joined.texts.to_pylist(), spans, strict=True):
        rest = text
        for span in reversed(of_text):
            rest = f"{rest[: span.start]}|{rest[span.end :]}"
        between.append(rest)
    assert all(re.fullmatch(r"\|(( |\. |, | - | \(|; |: )\|)*\.?", rest) for rest in between)
    assert sum(rest.endswith(".") for rest in between) / 400 == pytest.approx(0.5, abs=0.1)


def test_a_grammar_of_the_user_recognizes_mentions(small_gazetteer, tmp_path) -> None:
    path = tmp_path / "grammar.toml"
    path.write_text('[kinds.street.heads]\n"calle" = ["kl."]\n', encoding="utf-8")
    gold = seed([document("a", "[Kl. Luna, 4|L]")])
    kinds = [
        MentionReplacement(gold, AugmentOptions(grammar=grammar), [small_gazetteer]).kinds
        for grammar in ("", str(path))
    ]
    assert kinds == [{"L": {"own": 1.0}}, {"L": {"street": 1.0}}]


def test_gazetteers_are_read_from_the_options(small_gazetteer: Gazetteer, tmp_path: Path) -> None:
    small_gazetteer.save(tmp_path / "small.parquet")
    options = AugmentOptions(gazetteers=(str(tmp_path / "small.parquet"),))
    read_from_file = MentionReplacement(seed(), options)
    given_directly = MentionReplacement(seed(), options, [small_gazetteer])
    assert read_from_file.kinds == given_directly.kinds
    with pytest.raises(InputError, match="does not exist"):
        MentionReplacement(seed(), AugmentOptions(gazetteers=(str(tmp_path / "none.parquet"),)))


def test_notes_of_all_classes(meddocan: Path) -> None:
    """Whole notes with 22 classes have consistent copies with the built-in lists."""
    notes = list(itertools.islice(read(meddocan / "dev", problems=Problems()), 30))
    gold = make_batch(notes, labelled=True, problems=Problems())
    replacement = MentionReplacement(gold, AugmentOptions(copies=2))
    copies = replacement.copies(np.random.default_rng(0))
    assert len(copies) == 60
    classes = [[span.label for span in spans] for spans in gold.spans()]
    assert [[span.label for span in spans] for spans in copies.spans()[::2]] == classes
    kinds = replacement.kinds
    assert kinds["NOMBRE_SUJETO_ASISTENCIA"]["person"] > 0.9
    assert kinds["CALLE"]["street"] > 0.7
    assert kinds["FECHAS"]["digits"] > 0.5
    assert kinds["HOSPITAL"]["hospital"] > 0.7
    assert kinds["PAIS"]["country"] > 0.7


# The mixture of kinds


def log_posterior(weights: np.ndarray, likelihoods: np.ndarray, counts: np.ndarray) -> float:
    prior = np.log(weights).sum() / len(weights)
    return float(counts @ np.log(likelihoods @ weights) + prior)


def test_ambiguous_mentions_follow_the_others() -> None:
    likelihoods = np.array([[1.0, 0.0], [0.3, 0.3]])
    weights = mixture_weights(likelihoods, np.array([9, 4]))
    assert weights[0] > 0.9


@settings(deadline=None)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 10**6))
def test_no_other_weights_are_much_better(components: int, mentions: int, state: int) -> None:
    rng = np.random.default_rng(state)
    likelihoods = rng.random((mentions, components)) + 0.05
    counts = rng.integers(1, 5, mentions)
    weights = mixture_weights(likelihoods, counts)
    assert weights.sum() == pytest.approx(1)
    start = np.full(components, 1 / components)
    best = log_posterior(weights, likelihoods, counts)
    assert best >= log_posterior(start, likelihoods, counts) - 1e-9
    others = rng.dirichlet(np.ones(components), 200)
    # Fifteen rounds end near the maximum.
    assert all(log_posterior(other, likelihoods, counts) < best + 0.3 for other in others)

"""The CRF against brute force over all paths, and what becomes of its training and its files.

What both engines do is tested with both.
"""

import itertools
import json
import math
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from corpus.batch import Batch, concatenate, make_batch
from corpus.document import Document, Span
from corpus.errors import InputError
from taggers import CRFOptions, CRFTagger, TrainingError, load_tagger
from taggers.crf.weights import Weights
from taggers.options import INSIDE_MODEL
from tests.taggers.conftest import plain
from tests.taggers.crf.conftest import contents, every_path, fitted, marked, notes

Trainer = Literal["wordtype", "crfsuite"]
TokenScores = Callable[[Weights, Sequence[str], Sequence[str]], np.ndarray]

TRAINERS: tuple[Trainer, ...] = ("wordtype", "crfsuite")


def of_words(**options: Any) -> CRFOptions:
    """Options of a CRF that looks at words alone."""
    return plain(CRFOptions, streams=(), conjunctions=(), **options)


SMALL = of_words(features=("form",), window=1)
TOY = [
    ("El Sr {Joan Puig} viu a [Clot] .", 20),
    ("La {Rosa} va a [Sant Pau] avui", 20),
    ("dolor de cap i febre", 20),
]


@pytest.fixture(scope="module")
def toy() -> Batch:
    return notes(*(text for text, _ in TOY))


@pytest.fixture(scope="module", params=TRAINERS)
def trainer(request: pytest.FixtureRequest) -> Trainer:
    return request.param


@pytest.fixture(scope="module")
def tagger(toy: Batch) -> CRFTagger:
    return fitted(toy, SMALL)


def random_notes(rng: np.random.Generator, number: int, longest: int) -> Batch:
    """Make documents of few words, whose tags depend on chance alone; some have no tokens."""
    texts = []
    for _ in range(number):
        words = rng.choice(list("abcdefg"), rng.integers(0, longest + 1))
        marks = rng.choice(["{}", "[]", ""], len(words), p=[0.3, 0.2, 0.5])
        texts.append(
            " ".join(f"{mark[:1]}{word}{mark[1:]}" for mark, word in zip(marks, words, strict=True))
        )
    return notes(*texts)


class BruteForce:
    """All paths of a document, scored with the weights of a model one by one."""

    def __init__(self, tagger: CRFTagger, token_scores: TokenScores) -> None:
        crf = tagger._crf
        self.weights = crf.weights
        self.features = [feature.name for feature in crf.templates.features]
        self.labels = crf.labels
        self._token_scores = token_scores

    def paths(self, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return paths as numbers of labels, and their scores."""
        state = self._token_scores(self.weights, self.features, words)
        return every_path(state, self.weights.transition)


def repaired(path: Sequence[str]) -> list[str]:
    """Begin every entity with B-, which is what the tagger promises of its tags."""
    names: list[str] = []
    for name in path:
        begun = bool(names) and names[-1][2:] == name[2:]
        names.append(f"B-{name[2:]}" if name.startswith("I-") and not begun else name)
    return names


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("precision", ["single", "double"])
def test_path_and_confidence_are_those_of_brute_force(seed, precision, token_scores) -> None:
    rng = np.random.default_rng(seed)
    c2 = float(rng.choice([0.01, 0.1, 1.0]))
    options = of_words(features=("form",), window=1, c2=c2, precision=precision)
    tagger = fitted(random_notes(rng, 12, 7), options)
    brute = BruteForce(tagger, token_scores)
    batch = random_notes(rng, 15, 5)
    taggings = {
        measure: tagger.tag(batch, measure=measure, detail="labels")
        for measure in ("probability", "normalised", "min_marginal")
    }
    tagging = taggings["probability"]
    close = 1e-5 if precision == "single" else 1e-10
    number = [tagger.labels.index(name) for name in brute.labels]
    for row, (start, stop) in enumerate(itertools.pairwise(batch.document_offsets.tolist())):
        confidence = {name: other.confidence[row] for name, other in taggings.items()}
        if start == stop:
            assert set(confidence.values()) == {1.0}
            continue
        paths, scores = brute.paths([batch.vocabulary[word] for word in batch.word_ids[start:stop]])
        probabilities = np.exp(scores - np.logaddexp.reduce(scores))
        best = paths[scores > scores.max() - close].tolist()
        actual = [tagger.labels[tag] for tag in tagging.tags[start:stop]]
        assert actual in [repaired([brute.labels[label] for label in path]) for path in best]
        probability = probabilities.max()
        assert confidence["probability"] == pytest.approx(probability, abs=close)
        normalised = probability ** (1 / (stop - start))
        assert confidence["normalised"] == pytest.approx(normalised, abs=close)
        marginals = np.zeros((stop - start, len(tagger.labels)))
        for place in range(stop - start):
            own = np.bincount(paths[:, place], probabilities, len(number))
            marginals[place, number] = own
        assert tagging.marginals[start:stop] == pytest.approx(marginals, abs=close)
        lowest = [marginals[np.arange(len(path)), np.array(number)[path]].min() for path in best]
        assert any(confidence["min_marginal"] == pytest.approx(low, abs=close) for low in lowest)
        for other in taggings.values():
            assert np.array_equal(other.tags, tagging.tags)


def test_classes_that_training_did_not_show_are_never_given() -> None:
    """Labels that the CRF does not have stand before, between and after those that it has."""
    document = marked("0", "El Sr {Joan Puig} viu a Clot")
    classes = ["AGE", "PERSON", "ZIP"]
    train = make_batch([document] * 3, labelled=True, classes=classes)
    tagger = fitted(train, SMALL)
    entities = tagger.tag(train, detail="entity").entity_probabilities
    assert entities.shape == (3, 3)
    assert entities[:, [0, 2]].tolist() == [[0, 0]] * 3
    assert (entities[:, 1] > 0.5).all()
    tagging = tagger.tag(notes("El Sr {Rosa} a [Clot]"), detail="labels")
    assert tagging.labels == tagger.labels == train.labels
    seen = np.isin(np.arange(len(train.labels)), train.tags)
    assert not tagging.marginals[:, ~seen].any()
    assert tagging.marginals[:, seen].all()


def test_an_entity_without_a_beginning_is_as_probable_as_its_continuation() -> None:
    """An I- after nothing of its class begins an entity, and the tags say so."""
    options = of_words(features=("form",), window=0)
    tagger = fitted(notes("{Joan Puig}", "res de res"), options)
    (label,) = tagger._crf.chain(notes("Puig")).decode().labels
    assert tagger._crf.labels[label] == "I-PERSON"
    actual = tagger.tag(notes("Puig"), detail="entity")
    marginals = tagger.tag(notes("Puig"), detail="labels").marginals
    assert actual.labels[actual.tags[0]] == "B-PERSON"
    own = [actual.labels.index(name) for name in ("B-PERSON", "I-PERSON")]
    expected = marginals[0, own].sum()
    assert actual.entity_probabilities[0, 1] == pytest.approx(expected, abs=1e-6)
    assert actual.entity_probabilities[0, 1] > marginals[0, own[1]]


def test_it_learns_a_toy_corpus(toy: Batch, tagger: CRFTagger) -> None:
    actual = tagger.tag(toy)
    assert tagger.labels == toy.labels == actual.labels
    assert actual.tags.tolist() == toy.tags.tolist()
    assert actual.tags.dtype == np.int16
    assert toy.tags.any()
    unlabelled = notes(*(text for text, _ in TOY), labelled=False)
    assert tagger.tag(unlabelled).tags.tolist() == toy.tags.tolist()


def test_labels_need_not_be_ascii(trainer: Trainer) -> None:
    small = replace(SMALL, trainer=trainer)
    text = "viu a Móra la Nova"
    document = Document("ñ", text, (Span(6, 18, "POBLACIÓ·昆"), Span(0, 3, "ÀREA")))
    train = make_batch([document], labelled=True)
    actual = fitted(train, small).tag(train)
    assert actual.labels == ("O", "B-POBLACIÓ·昆", "I-POBLACIÓ·昆", "B-ÀREA", "I-ÀREA")
    assert actual.tags.tolist() == train.tags.tolist() == [3, 0, 1, 2, 2]


def test_odd_words_are_words() -> None:
    train = notes("a\x00b {:} \\ {%s} \t {e\u0301} \u200b", "")
    assert fitted(train, of_words()).tag(train).tags.tolist() == train.tags.tolist()


# Training


def test_two_fits_are_equal_to_the_byte(toy: Batch, trainer: Trainer, tmp_path: Path) -> None:
    first = fitted(toy, of_words(trainer=trainer))
    first.tag(toy)
    second = fitted(toy, of_words(trainer=trainer))
    assert contents(first, tmp_path / "1") == contents(second, tmp_path / "2")
    first.fit(toy, rng=np.random.default_rng(5))  # again, and whatever the generator
    assert contents(first, tmp_path / "3") == contents(second, tmp_path / "2")


# Unknown tags and weights of documents

DOUBLE = replace(SMALL, precision="double")


def test_the_reference_refuses_what_it_cannot_learn_from(toy: Batch) -> None:
    options = replace(SMALL, trainer="crfsuite")
    tags = toy.tags.copy()
    tags[3] = -1
    with pytest.raises(ValueError, match="every tag"):
        fitted(toy.with_tags(tags, toy.labels), options)
    with pytest.raises(ValueError, match="weights"):
        fitted(toy.with_weights(np.array([1, 2, 1], np.float32)), options)


def test_without_one_known_tag_there_is_nothing_to_learn(toy: Batch) -> None:
    with pytest.raises(TrainingError, match="no training token has a known tag"):
        fitted(notes("La Rosa", labelled=False), SMALL)
    with pytest.raises(TrainingError, match="no training token has a known tag"):
        fitted(toy.with_tags(np.full_like(toy.tags, -1), toy.labels), SMALL)


def assert_alike(left: CRFTagger, right: CRFTagger, batch: Batch, close: float = 1e-6) -> None:
    """Compare the losses and what is tagged."""
    assert left.training.loss == pytest.approx(right.training.loss, rel=close)
    first, second = (model.tag(batch, detail="labels") for model in (left, right))
    assert first.tags.tolist() == second.tags.tolist()
    assert first.marginals == pytest.approx(second.marginals, abs=close)


# Beginning with another model


def test_from_its_own_weights_nothing_is_left_to_do(toy: Batch) -> None:
    options = replace(DOUBLE, max_iterations=500)
    first = fitted(toy, options)
    second = CRFTagger(options).fit(toy, warm_start=first, rng=np.random.default_rng(0))
    assert second.training.iterations < first.training.iterations / 2
    assert second.training.loss <= first.training.loss
    assert_alike(first, second, toy, 1e-3)


@pytest.mark.parametrize("options", [DOUBLE, replace(DOUBLE, window=2, features=("form", "lower"))])
@pytest.mark.parametrize(
    "started", [SMALL, of_words(trainer="crfsuite", window=1), of_words(window=0)]
)
def test_wherever_it_begins_it_ends_alike(toy, options, started) -> None:
    """With other features, another window, other labels in another order."""
    options = replace(options, max_iterations=2000, c2=1.0)
    other = make_batch(
        [marked("a", "a [Clot] i {Rosa}"), Document("b", "l' HCP", ())], labelled=True
    )
    start = fitted(other, started)
    warm = CRFTagger(options).fit(toy, warm_start=start, rng=np.random.default_rng(0))
    assert_alike(fitted(toy, options), warm, toy, 2e-3)


# How training ends


@pytest.mark.parametrize("texts", [(), ("",), ("", " \n")])
def test_nothing_to_train_on_is_an_error(trainer: Trainer, texts: tuple[str, ...]) -> None:
    small = replace(SMALL, trainer=trainer)
    with pytest.raises(TrainingError, match="contain no tokens"):
        fitted(notes(*texts), small)


def test_convergence_is_reported(toy: Batch, trainer: Trainer) -> None:
    steps: list[tuple[int, int]] = []
    options = of_words(trainer=trainer, features=("form",), window=1, max_iterations=150)
    tagger = CRFTagger(options)
    assert tagger.training is None
    tagger.fit(toy, rng=np.random.default_rng(0), progress=lambda *step: steps.append(step))
    assert tagger.training.converged
    assert not tagger.training.failed
    outcome = "no longer falls" if trainer == "wordtype" else "L-BFGS resulted in convergence"
    assert outcome in tagger.training.outcome
    assert 1 < tagger.training.iterations < 150
    assert math.isfinite(tagger.training.loss)
    assert steps == [(number + 1, 150) for number in range(tagger.training.iterations)]


def test_with_an_l1_norm_both_trainers_end_alike(toy: Batch) -> None:
    options = of_words(c1=0.3, c2=0.01, max_iterations=500, precision="double")
    left, right = (fitted(toy, replace(options, trainer=trainer)) for trainer in TRAINERS)
    assert_alike(left, right, toy, 1e-2)
    sizes = [len(model._crf.weights.state) for model in (left, right)]
    assert sizes[0] < len(fitted(toy, replace(options, c1=0.0))._crf.weights.state) / 2
    assert sizes[0] == pytest.approx(sizes[1], rel=0.1)


def test_a_lower_loss_comes_with_more_steps(toy: Batch, trainer: Trainer) -> None:
    losses = []
    for most in (1, 3, 6):
        training = fitted(toy, of_words(trainer=trainer, max_iterations=most)).training
        assert not training.converged
        assert not training.failed
        assert "maximum number of iterations" in training.outcome
        assert training.iterations == most
        losses.append(training.loss)
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > losses[2]


def test_a_higher_tolerance_ends_training_earlier(toy: Batch, trainer: Trainer) -> None:
    runs = [
        fitted(toy, of_words(trainer=trainer, max_iterations=300, tolerance=tolerance)).training
        for tolerance in (1e-5, 1e-2, 0.5)
    ]
    iterations = [training.iterations for training in runs if training]
    assert iterations[0] > iterations[1] > iterations[2] >= 10
    assert all(training and training.converged for training in runs)


ERRORS = {"wordtype": "not trained", "crfsuite": r"not trained: L-BFGS .*error code \(-\d+\)"}


@pytest.mark.filterwarnings("error")
def test_an_error_of_lbfgs_before_its_first_step_is_an_error(toy: Batch, trainer: Trainer) -> None:
    with pytest.raises(TrainingError, match=ERRORS[trainer]):
        fitted(toy, of_words(trainer=trainer, c2=1e308))


@pytest.mark.parametrize(
    ("texts", "c1"),
    [
        (("dolor de cap", "febre"), 0.0),
        (("{Rosa}", "{Mercedes}"), 0.0),
        (tuple(text for text, _ in TOY), 1e6),
    ],
    ids=["no entities", "nothing else", "regularization"],
)
def test_where_nothing_can_be_told_apart_the_error_says_so(texts, c1, trainer) -> None:
    with pytest.raises(TrainingError, match=r"all have the same tag, or .*c1"):
        fitted(notes(*texts), of_words(trainer=trainer, c1=c1))


def test_a_failed_fit_leaves_the_tagger_as_it_was(trainer, toy, tmp_path) -> None:
    small = replace(SMALL, trainer=trainer)
    tagger = fitted(toy, small)
    before = contents(tagger, tmp_path / "before")
    unlike = make_batch([Document("a", "dolor de cap", ())], labelled=True)
    with pytest.raises(TrainingError):
        tagger.fit(unlike, rng=np.random.default_rng(0))
    assert contents(tagger, tmp_path / "after") == before
    assert tagger.tag(toy).tags.tolist() == toy.tags.tolist()


def interrupt(step: int, most: int) -> None:
    if step == 2:
        raise KeyboardInterrupt


def send_sigint(step: int, most: int) -> None:
    if step == 2:
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("progress", [interrupt, send_sigint])
def test_an_interrupt_comes_out_of_training(trainer, toy, progress) -> None:
    small = replace(SMALL, trainer=trainer)
    tagger = CRFTagger(small)
    with pytest.raises(KeyboardInterrupt):
        tagger.fit(toy, rng=np.random.default_rng(0), progress=progress)
    assert tagger.training is None
    with pytest.raises(ValueError, match="not been trained"):
        tagger.tag(toy)
    tagger.fit(toy, rng=np.random.default_rng(0))  # and it can be trained after all
    assert tagger.tag(toy).tags.tolist() == toy.tags.tolist()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make an empty folder that is the working and the temporary folder of the test."""
    for name in ("TMPDIR", "TMP", "TEMP"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_training_leaves_no_file(trainer: Trainer, toy: Batch, temporary: Path) -> None:
    small = replace(SMALL, trainer=trainer)
    CRFTagger(small).fit(toy, rng=np.random.default_rng(0))
    with pytest.raises(KeyboardInterrupt):
        CRFTagger(small).fit(toy, rng=np.random.default_rng(0), progress=interrupt)
    assert list(temporary.iterdir()) == []


# Files


def test_saved_and_loaded_it_tags_alike(toy: Batch, tagger: CRFTagger, tmp_path: Path) -> None:
    batch = concatenate([toy, notes("Joan de Clot", "", "mai vist")])
    folder = tmp_path / "a" / "model"
    tagger.save(folder)
    assert {path.name for path in folder.iterdir()} == FILES
    for loaded in (CRFTagger.load(folder), load_tagger(folder)):
        assert isinstance(loaded, CRFTagger)
        assert loaded.labels == tagger.labels
        assert loaded.options == replace(tagger.options, patterns=(INSIDE_MODEL,))
        assert loaded.training == tagger.training
        for measure in ("probability", "min_marginal"):
            expected, actual = (model.tag(batch, measure=measure) for model in (tagger, loaded))
            assert actual.tags.tolist() == expected.tags.tolist()
            assert actual.confidence.tolist() == expected.confidence.tolist()
        assert contents(loaded, tmp_path / "again") == contents(tagger, folder)


FILES = {
    *("begins.npy", "hashes.npy", "model.json", "name_ends.npy", "names.npy", "patients.npy"),
    *("state.npy", "state_labels.npy", "transition.npy"),
}


def test_a_model_of_no_state_weights_is_saved_and_loaded(tmp_path: Path) -> None:
    train = notes(*["{a} [a] {a} [a]"] * 3)
    tagger = fitted(train, of_words(features=("form",), window=0, c1=0.2))
    assert len(tagger._crf.weights.state) == 0
    assert tagger._crf.weights.transition.any()
    tagger.save(tmp_path)
    expected = tagger.tag(train)
    actual = CRFTagger.load(tmp_path).tag(train)
    assert actual.tags.tolist() == expected.tags.tolist()
    assert actual.confidence.tolist() == expected.confidence.tolist()


def test_a_loaded_model_is_not_changed_by_what_is_saved_over_it(toy, tagger, tmp_path) -> None:
    batch = notes("Joan de Clot", "mai vist")
    expected = tagger.tag(batch).confidence.tolist()
    tagger.save(tmp_path)
    loaded = CRFTagger.load(tmp_path)
    fitted(notes("{Anna}", "res"), SMALL).save(tmp_path)
    assert loaded.tag(batch).confidence.tolist() == expected
    loaded.save(tmp_path)  # and where it was loaded from
    assert loaded.tag(toy).tags.tolist() == toy.tags.tolist()
    assert CRFTagger.load(tmp_path).tag(batch).confidence.tolist() == expected


@pytest.fixture
def saved(tagger: CRFTagger, tmp_path: Path) -> Path:
    tagger.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_model_of_another_format_is_to_be_trained_again(saved: Path) -> None:
    file = saved / "model.json"
    description = json.loads(file.read_bytes())
    file.write_text(json.dumps({**description, "format": 3}))
    with pytest.raises(InputError, match=r"another format; this version reads format \d+: train"):
        load_tagger(saved)


@pytest.mark.parametrize("text", [None, "", "[]", '"crf"', '{"kind": "crf"}', "\ufeff{}"])
def test_a_folder_without_the_description_of_a_model_is_an_input_error(tmp_path, text) -> None:
    if text is not None:
        (tmp_path / "model.json").write_text(text)
    for load in (load_tagger, CRFTagger.load):
        for folder in (tmp_path, tmp_path / "none", tmp_path / "model.json"):
            with pytest.raises(InputError, match="is not the folder of a model"):
                load(folder)

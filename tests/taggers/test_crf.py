"""The CRF against brute force over all paths, and what becomes of its training and its files."""

import itertools
import json
import math
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
import pytest

from corpus.batch import Batch, concatenate, make_batch
from corpus.document import Document, Span
from corpus.errors import InputError
from taggers import CRFOptions, CRFTagger, TrainingError, load_tagger

SMALL = CRFOptions(features=("form",), window=1)
TOY = [
    ("El Sr {Joan Puig} viu a [Clot] .", 20),
    ("La {Rosa} va a [Sant Pau] avui", 20),
    ("dolor de cap i febre", 20),
]


def marked(name: str, text: str) -> Document:
    """Make a document of a text in which braces mark a PERSON and brackets a LOCATION."""
    plain, spans, start = "", [], 0
    for character in text:
        if character in "{[":
            start = len(plain)
        elif character in "}]":
            spans.append(Span(start, len(plain), "PERSON" if character == "}" else "LOCATION"))
        else:
            plain += character
    return Document(name, plain, tuple(spans))


def notes(*texts: str, labelled: bool = True) -> Batch:
    documents = [marked(str(number), text) for number, text in enumerate(texts)]
    return make_batch(documents, labelled=labelled, classes=["PERSON", "LOCATION"])


def fitted(train: Batch, options: CRFOptions = SMALL) -> CRFTagger:
    return CRFTagger(options).fit(train, rng=np.random.default_rng(0))


@pytest.fixture(scope="module")
def toy() -> Batch:
    return notes(*(text for text, _ in TOY))


@pytest.fixture(scope="module")
def tagger(toy: Batch) -> CRFTagger:
    return fitted(toy)


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
    """All paths of a document, scored with the weights that the model file lists."""

    def __init__(self, folder: Path) -> None:
        crfsuite = pycrfsuite.Tagger()
        crfsuite.open(str(folder / "crf.crfsuite"))
        info = crfsuite.info()
        self.labels = sorted(info.labels, key=int)
        self.transitions = info.transitions
        self.states = info.state_features

    def paths(self, words: list[str]) -> tuple[list[tuple[str, ...]], np.ndarray]:
        padded = ["-1:BOS", *words, "1:EOS"]
        state = []
        for place in range(1, len(words) + 1):
            before, after = padded[place - 1], padded[place + 1]
            attributes = [
                before if place == 1 else f"-1:form={before}",
                f"0:form={padded[place]}",
                after if place == len(words) else f"1:form={after}",
            ]
            state.append(
                {
                    label: sum(self.states.get((each, label), 0.0) for each in attributes)
                    for label in self.labels
                }
            )
        paths = list(itertools.product(self.labels, repeat=len(words)))
        scores = [
            sum(weights[label] for weights, label in zip(state, path, strict=True))
            + sum(self.transitions.get(pair, 0.0) for pair in itertools.pairwise(path))
            for path in paths
        ]
        return paths, np.array(scores)


def repaired(path: tuple[str, ...], labels: tuple[str, ...]) -> list[str]:
    """Begin every entity with B-, which is what the tagger promises of its tags."""
    names: list[str] = []
    for number in path:
        name = labels[int(number)]
        if name.startswith("I-") and not (names and names[-1][2:] == name[2:]):
            name = "B-" + name[2:]
        names.append(name)
    return names


@pytest.mark.parametrize("seed", range(8))
def test_path_and_confidence_are_those_of_brute_force(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    options = CRFOptions(features=("form",), window=1, c2=float(rng.choice([0.01, 0.1, 1.0])))
    tagger = fitted(random_notes(rng, 12, 7), options)
    tagger.save(tmp_path)
    brute = BruteForce(tmp_path)
    batch = random_notes(rng, 15, 5)
    taggings = {
        measure: tagger.tag(batch, measure=measure)
        for measure in ("probability", "normalised", "lowest")
    }
    close = 2e-4  # the weights are listed with six digits
    for row, (start, stop) in enumerate(itertools.pairwise(batch.documents.tolist())):
        confidence = {name: tagging.confidence[row] for name, tagging in taggings.items()}
        if start == stop:
            assert set(confidence.values()) == {1.0}
            continue
        words = [batch.types[word] for word in batch.words[start:stop]]
        paths, scores = brute.paths(words)
        probabilities = np.exp(scores - scores.max())
        probabilities /= probabilities.sum()
        best = np.flatnonzero(scores > scores.max() - close).tolist()
        found = [tagger.labels[tag] for tag in taggings["probability"].tags[start:stop]]
        assert found in [repaired(paths[index], tagger.labels) for index in best]
        probability = probabilities[best[0]]
        assert confidence["probability"] == pytest.approx(probability, abs=close)
        assert confidence["normalised"] == pytest.approx(probability ** (1 / len(words)), abs=close)
        marginals = [
            sum(p for p, path in zip(probabilities, paths, strict=True) if path[place] == label)
            for place, label in enumerate(paths[best[0]])
        ]
        assert confidence["lowest"] == pytest.approx(min(marginals), abs=close)
    for tagging in taggings.values():
        assert np.array_equal(tagging.tags, taggings["probability"].tags)


def test_it_learns_a_toy_corpus(toy: Batch, tagger: CRFTagger) -> None:
    found = tagger.tag(toy)
    assert tagger.labels == toy.labels == found.labels
    assert found.tags.tolist() == toy.tags.tolist()
    assert found.tags.dtype == np.int16
    assert toy.tags.any()


def test_an_entity_that_a_path_only_goes_on_with_is_begun(tmp_path: Path) -> None:
    tagger = fitted(notes("{Joan Puig}", "res de res"), CRFOptions(features=("form",), window=0))
    tagger.save(tmp_path)
    crfsuite = pycrfsuite.Tagger()
    crfsuite.open(str(tmp_path / "crf.crfsuite"))
    (number,) = crfsuite.tag([[b"0:form=Puig"]])
    assert tagger.labels[int(number)] == "I-PERSON"
    found = tagger.tag(notes("Puig", "Joan Puig"))
    assert [found.labels[tag] for tag in found.tags] == ["B-PERSON", "B-PERSON", "I-PERSON"]


def test_its_own_tags_are_not_looked_at(toy: Batch, tagger: CRFTagger) -> None:
    unlabelled = notes(*(text for text, _ in TOY), labelled=False)
    assert (unlabelled.tags < 0).all()
    assert tagger.tag(unlabelled).tags.tolist() == toy.tags.tolist()


def test_labels_need_not_be_ascii() -> None:
    text = "viu a Móra la Nova"
    document = Document("ñ", text, (Span(6, 18, "POBLACIÓ·昆"), Span(0, 3, "ÀREA")))
    train = make_batch([document], labelled=True)
    found = fitted(train).tag(train)
    assert found.labels == ("O", "B-POBLACIÓ·昆", "I-POBLACIÓ·昆", "B-ÀREA", "I-ÀREA")
    assert found.tags.tolist() == train.tags.tolist() == [3, 0, 1, 2, 2]


def test_odd_words_are_words() -> None:
    train = notes("a\x00b {:} \\ {%s} \t {e\u0301} \u200b", "")
    assert fitted(train, CRFOptions()).tag(train).tags.tolist() == train.tags.tolist()


def test_documents_without_tokens_are_sure_and_have_no_tags(tagger: CRFTagger) -> None:
    found = tagger.tag(notes("", "La {Rosa}", " \n", ""), measure="lowest")
    assert len(found.tags) == 2
    assert found.confidence[[0, 2, 3]].tolist() == [1, 1, 1]
    assert 0 < found.confidence[1] < 1
    nothing = tagger.tag(notes("", ""))
    assert nothing.tags.tolist() == []
    assert nothing.confidence.tolist() == [1, 1]
    assert len(tagger.tag(notes()).confidence) == 0


@pytest.mark.parametrize("measure", ["probability", "normalised", "lowest"])
def test_a_document_of_one_token_is_measured_alike_by_all(tagger: CRFTagger, measure: str) -> None:
    batch = notes("Rosa", "Clot", "mai", "de")
    found = tagger.tag(batch, measure=measure)
    assert found.confidence == pytest.approx(tagger.tag(batch).confidence)
    assert (found.confidence < 1).all()


def test_a_document_is_tagged_alike_alone_and_in_company(toy: Batch, tagger: CRFTagger) -> None:
    many = concatenate([toy, notes("", "Joan Clot , Rosa", "Sant"), toy])
    together = tagger.tag(many)
    alone = [tagger.tag(many.slice(row, row + 1)) for row in range(len(many))]
    assert together.tags.tolist() == np.concatenate([each.tags for each in alone]).tolist()
    assert together.confidence.tolist() == [each.confidence[0] for each in alone]


def test_confidence_of_a_very_long_document_stays_a_number(tagger: CRFTagger) -> None:
    text = "Puig de la Clot i Rosa " * 2000
    for measure in ("probability", "normalised", "lowest"):
        (confidence,) = tagger.tag(notes(text), measure=measure).confidence
        assert 0 <= confidence <= 1


def test_an_unknown_measure_is_an_error_that_lists_the_known_ones(
    toy: Batch, tagger: CRFTagger
) -> None:
    with pytest.raises(InputError, match='"luck"; there are probability, normalised, lowest'):
        tagger.tag(toy, measure="luck")


def test_an_untrained_tagger_does_not_tag(toy: Batch) -> None:
    with pytest.raises(ValueError, match="not been trained"):
        CRFTagger().tag(toy)


# Training


def contents(tagger: CRFTagger, folder: Path) -> dict[str, bytes]:
    tagger.save(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_two_fits_are_equal_to_the_byte(toy: Batch, tmp_path: Path) -> None:
    first = fitted(toy, CRFOptions())
    first.tag(toy)
    second = fitted(toy, CRFOptions())
    assert contents(first, tmp_path / "1") == contents(second, tmp_path / "2")
    first.fit(toy, rng=np.random.default_rng(5))  # again, and whatever the generator
    assert contents(first, tmp_path / "3") == contents(second, tmp_path / "2")


def test_options_change_the_model(toy: Batch, tmp_path: Path) -> None:
    model = contents(fitted(toy), tmp_path / "plain")["crf.crfsuite"]
    for number, options in enumerate(
        [
            CRFOptions(features=("lower",), window=1),
            CRFOptions(features=("form",), window=2),
            CRFOptions(features=("form",), window=1, c2=0.5),
            CRFOptions(features=("form",), window=1, c1=0.5),
            CRFOptions(features=("form",), window=1, min_frequency=2),
            CRFOptions(features=("form",), window=1, max_iterations=2),
        ]
    ):
        assert contents(fitted(toy, options), tmp_path / str(number))["crf.crfsuite"] != model


def test_documents_without_tokens_teach_nothing(toy: Batch, tmp_path: Path) -> None:
    padded = concatenate([notes(""), toy, notes(" ", "")])
    plain = contents(fitted(toy), tmp_path / "plain")
    assert contents(fitted(padded), tmp_path / "padded") == plain


def test_fitting_again_forgets(toy: Batch, tmp_path: Path) -> None:
    other = notes("avui {Joan} i {Rosa}", "demà no")
    tagger = fitted(toy)
    tagger.tag(toy)
    tagger.fit(other, rng=np.random.default_rng(0))
    assert tagger.tag(other).tags.tolist() == other.tags.tolist()
    assert contents(tagger, tmp_path / "a") == contents(fitted(other), tmp_path / "b")


def test_unknown_tags_are_an_error(toy: Batch) -> None:
    tags = toy.tags.copy()
    tags[3] = -1
    with pytest.raises(ValueError, match="every tag"):
        fitted(toy.with_tags(tags, toy.labels))
    with pytest.raises(ValueError, match="every tag"):
        fitted(notes("La Rosa", labelled=False))


@pytest.mark.parametrize("texts", [(), ("",), ("", " \n")])
def test_nothing_to_train_on_is_an_error(texts: tuple[str, ...]) -> None:
    with pytest.raises(TrainingError, match="not one token"):
        fitted(notes(*texts))


def test_features_must_be_named_and_known() -> None:
    with pytest.raises(InputError, match="features is empty"):
        CRFOptions(features=())
    with pytest.raises(InputError, match='no feature "colour"'):
        CRFOptions(features=("form", "colour"))


@pytest.mark.parametrize("name", ["c1", "c2"])
@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf, -math.inf])
def test_weights_of_the_norms_are_finite_and_not_negative(name: str, weight: float) -> None:
    with pytest.raises(InputError, match=f"{name} = {weight}: expected a finite number of 0 or"):
        CRFOptions(**{name: weight})
    CRFOptions(**{name: 0.0})


def test_convergence_is_reported(toy: Batch) -> None:
    steps: list[tuple[int, int]] = []
    options = CRFOptions(features=("form",), window=1, max_iterations=150)
    tagger = CRFTagger(options)
    assert tagger.training is None
    tagger.fit(toy, rng=np.random.default_rng(0), progress=lambda *step: steps.append(step))
    assert tagger.training is not None
    assert tagger.training.converged
    assert "convergence" in tagger.training.outcome
    assert 1 < tagger.training.iterations < 150
    assert math.isfinite(tagger.training.loss)
    assert steps == [(number + 1, 150) for number in range(tagger.training.iterations)]


def test_the_stopping_criterion_is_convergence_too(toy: Batch) -> None:
    training = fitted(toy, CRFOptions(features=("form",), c1=0.5, c2=0.0)).training
    assert training is not None
    assert "stopping criteria" in training.outcome
    assert training.converged


def test_a_lower_loss_comes_with_more_steps(toy: Batch) -> None:
    losses = []
    for most in (1, 3, 6):
        training = fitted(toy, CRFOptions(max_iterations=most)).training
        assert training is not None
        assert not training.converged
        assert "maximum number of iterations" in training.outcome
        assert training.iterations == most
        losses.append(training.loss)
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > losses[2]


def test_an_error_of_lbfgs_after_some_steps_is_reported() -> None:
    """Enormous regularization of contradictory tags: L-BFGS ends in rounding errors at times."""
    options = CRFOptions(features=("form",), window=1, c2=1e16)
    outcomes = []
    for seed in range(30):
        train = random_notes(np.random.default_rng(seed), 6, 6)
        training = fitted(train, options).training
        assert training is not None
        assert math.isfinite(training.loss)
        assert training.converged != ("error code" in training.outcome)
        assert training.iterations >= 1
        outcomes.append(training.converged)
    assert False in outcomes
    assert True in outcomes


def test_an_error_of_lbfgs_before_its_first_step_is_an_error(toy: Batch) -> None:
    with pytest.raises(TrainingError, match=r"not trained: L-BFGS .*error code \(-\d+\)"):
        fitted(toy, CRFOptions(c2=1e308))


@pytest.mark.parametrize(
    ("texts", "options"),
    [
        (("dolor de cap", "febre"), CRFOptions()),
        (("{Rosa}", "{Mercedes}"), CRFOptions()),
        (tuple(text for text, _ in TOY), CRFOptions(c1=1e6)),
    ],
    ids=["no entities", "nothing else", "regularization"],
)
def test_where_nothing_can_be_told_apart_the_error_says_so(
    texts: tuple[str, ...], options: CRFOptions
) -> None:
    with pytest.raises(TrainingError, match=r"all have the same tag, or .*c1"):
        fitted(notes(*texts), options)


def test_a_failed_fit_leaves_the_tagger_as_it_was(toy: Batch, tmp_path: Path) -> None:
    tagger = fitted(toy)
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
def test_an_interrupt_comes_out_of_training(
    toy: Batch, progress: Callable[[int, int], None]
) -> None:
    tagger = CRFTagger(SMALL)
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


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="only Linux has files in memory")
def test_training_writes_no_file(toy: Batch, temporary: Path) -> None:
    seen: list[list[Path]] = []
    files = len(list(Path("/proc/self/fd").iterdir()))

    def look(step: int, most: int) -> None:
        seen.append(list(temporary.rglob("*")))

    CRFTagger(SMALL).fit(toy, rng=np.random.default_rng(0), progress=look)
    with pytest.raises(KeyboardInterrupt):
        CRFTagger(SMALL).fit(toy, rng=np.random.default_rng(0), progress=interrupt)
    assert len(seen) > 2
    assert not any(seen)
    assert list(temporary.iterdir()) == []
    assert len(list(Path("/proc/self/fd").iterdir())) == files


def test_without_files_in_memory_none_is_left(
    toy: Batch, tagger: CRFTagger, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = tagger.tag(toy).confidence.tolist()
    monkeypatch.delattr(os, "memfd_create", raising=False)
    assert fitted(toy).tag(toy).confidence.tolist() == expected
    with pytest.raises(KeyboardInterrupt):
        CRFTagger(SMALL).fit(toy, rng=np.random.default_rng(0), progress=interrupt)
    assert list(temporary.iterdir()) == []


def test_progress_of_tagging_is_told(tagger: CRFTagger) -> None:
    batch = notes(*["La Rosa"] * 600)
    steps: list[tuple[int, int]] = []
    tagger.tag(batch, progress=lambda *step: steps.append(step))
    assert steps == sorted(steps)
    assert len(steps) > 1
    assert steps[-1] == (600, 600)
    assert {most for _, most in steps} == {600}


# Files


def test_saved_and_loaded_it_tags_alike(toy: Batch, tagger: CRFTagger, tmp_path: Path) -> None:
    batch = concatenate([toy, notes("Joan de Clot", "", "mai vist")])
    folder = tmp_path / "a" / "model"
    tagger.save(folder)
    assert {path.name for path in folder.iterdir()} == {"crf.crfsuite", "model.json"}
    for loaded in (CRFTagger.load(folder), load_tagger(folder)):
        assert isinstance(loaded, CRFTagger)
        assert loaded.labels == tagger.labels
        assert loaded.options == tagger.options
        assert loaded.training == tagger.training
        for measure in ("probability", "lowest"):
            expected, found = (each.tag(batch, measure=measure) for each in (tagger, loaded))
            assert found.tags.tolist() == expected.tags.tolist()
            assert found.confidence.tolist() == expected.confidence.tolist()
        assert contents(loaded, tmp_path / "again") == contents(tagger, folder)


@pytest.fixture
def saved(tagger: CRFTagger, tmp_path: Path) -> Path:
    tagger.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_truncated_model_file_is_an_input_error(saved: Path) -> None:
    file = saved / "crf.crfsuite"
    whole = file.read_bytes()
    for length in {0, 1, 47, 48, *range(0, len(whole), len(whole) // 17), len(whole) - 1}:
        file.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"crf\.crfsuite is damaged"):
            load_tagger(saved)
    file.write_bytes(whole + b"\0")
    with pytest.raises(InputError, match=r"crf\.crfsuite is damaged"):
        load_tagger(saved)
    file.unlink()
    with pytest.raises(InputError, match="not the folder of a CRF model"):
        load_tagger(saved)


def test_a_model_file_with_a_changed_byte_is_an_input_error(saved: Path) -> None:
    file = saved / "crf.crfsuite"
    whole = file.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(whole), 40).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= 0x41
        file.write_bytes(damaged)
        with pytest.raises(InputError, match=r"crf\.crfsuite is damaged"):
            load_tagger(saved)
    file.write_bytes(whole)
    load_tagger(saved)


def test_a_truncated_description_is_an_input_error(saved: Path) -> None:
    file = saved / "model.json"
    whole = file.read_bytes()
    for length in {*range(0, len(whole), 7), len(whole) - 1}:
        file.write_bytes(whole[:length])
        with pytest.raises(InputError, match="is not the folder of a"):
            load_tagger(saved)


@pytest.mark.parametrize(
    "key", ["kind", "format", "labels", "options", "training", "blake2b", "digest"]
)
def test_a_description_that_lacks_a_key_is_an_input_error(saved: Path, key: str) -> None:
    file = saved / "model.json"
    description = json.loads(file.read_bytes())
    del description[key]
    file.write_text(json.dumps(description))
    with pytest.raises(InputError):
        load_tagger(saved)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", None),
        ("kind", ["crf"]),
        ("kind", "gru"),
        ("format", 1),
        ("format", 3),
        ("format", "1"),
        ("labels", None),
        ("labels", 5),
        ("options", {}),
        ("options", {"features": ["form"], "colour": 1}),
        ("options", {"features": ["colour"]}),
        ("options", {"features": ["form"], "window": "wide"}),
        ("training", "fine"),
        ("training", {"converged": True}),
        ("blake2b", None),
        ("digest", None),
        ("digest", "0"),
    ],
)
def test_a_description_with_another_value_is_an_input_error(
    saved: Path, key: str, value: object
) -> None:
    file = saved / "model.json"
    description = json.loads(file.read_bytes())
    file.write_text(json.dumps({**description, key: value}))
    with pytest.raises(InputError):
        load_tagger(saved)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("labels", lambda labels: ["O", "B-CITY", "I-CITY", *labels[3:]]),
        ("options", lambda options: {**options, "window": options["window"] + 1}),
        ("options", lambda options: {**options, "features": ["lower"]}),
        ("training", lambda training: {**training, "converged": not training["converged"]}),
        ("blake2b", lambda digest: digest[::-1]),
    ],
)
def test_a_changed_description_is_an_input_error(
    saved: Path, key: str, change: Callable[[Any], Any]
) -> None:
    """The model would be opened, and tag in another way than it learned."""
    file = saved / "model.json"
    description = json.loads(file.read_bytes())
    file.write_text(json.dumps({**description, key: change(description[key])}))
    with pytest.raises(InputError, match=r"model\.json is damaged: it is not the file that was"):
        load_tagger(saved)
    file.write_text(json.dumps(description))  # in other white space
    load_tagger(saved)


@pytest.mark.parametrize("text", ["", "[]", "5", '"crf"', "null", '{"kind": "crf"}', "\ufeff{}"])
def test_another_file_of_that_name_is_an_input_error(saved: Path, text: str) -> None:
    (saved / "model.json").write_text(text)
    with pytest.raises(InputError, match="is not the folder of a"):
        load_tagger(saved)


def test_a_folder_that_is_no_model_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path, tmp_path / "none", tmp_path / "file"):
        with pytest.raises(InputError, match="is not the folder of a model"):
            load_tagger(folder)
        with pytest.raises(InputError, match="is not the folder of a CRF model"):
            CRFTagger.load(folder)

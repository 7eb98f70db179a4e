"""A model that is exported holds less of its training notes, and says what that costs."""

import os
from pathlib import Path

import numpy as np
import pytest

from bootstrap.export import export_model
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.errors import InputError
from taggers import CRFOptions, CRFTagger
from taggers.privacy.pruning import Pruning
from tests.taggers.conftest import plain

NOTES = [
    *(Document(f"a{i}", "El Sr Joan viu aqui", (Span(6, 10, "PERSON"),)) for i in range(5)),
    Document("rare", "El Sr Zoilo viu aqui", (Span(6, 11, "PERSON"),)),
    *(Document(f"o{i}", "dolor de cap") for i in range(5)),
]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    tagger = CRFTagger(plain(CRFOptions, features=("form", "suffix3"), window=1))
    tagger.fit(make_batch(NOTES, labelled=True), rng=np.random.default_rng(0))
    tagger.save(tmp_path / "model")
    return tmp_path / "model"


def words_in(folder: Path) -> str:
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in folder.iterdir())


def test_rare_words_are_gone_and_the_others_stay(model: Path, tmp_path: Path) -> None:
    assert "Zoilo" in words_in(model)
    found = export_model(
        model, tmp_path / "out", pruning=Pruning.of(2, hash_names=False), gold=NOTES
    )
    text = words_in(tmp_path / "out")
    assert "Zoilo" not in text
    assert "Joan" in text
    assert found.contents[1]["feature values"] < found.contents[0]["feature values"]
    assert found.f1 is not None
    assert found.f1[0] == 1.0
    assert found.documents == len(NOTES)


def test_without_names_no_word_can_be_read_and_it_tags_alike(model: Path, tmp_path: Path) -> None:
    export_model(model, tmp_path / "out", pruning=Pruning.of(1, hash_names=True), gold=None)
    text = words_in(tmp_path / "out")
    assert "Joan" not in text
    assert "joan" not in text
    batch = make_batch(NOTES, labelled=False)
    before, after = (CRFTagger.load(path).tag(batch) for path in (model, tmp_path / "out"))
    assert after.tags.tolist() == before.tags.tolist()
    assert after.confidence.tolist() == before.confidence.tolist()
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700


def modes(folder: Path) -> set[int]:
    return {path.stat().st_mode & 0o777 for path in folder.iterdir()}


def test_only_its_owner_can_enter_it_from_its_beginning(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "new" / "out"
    found = []
    save = CRFTagger.save

    def noted(self: CRFTagger, folder: Path) -> None:
        found.append(folder.stat().st_mode & 0o777)
        save(self, folder)

    monkeypatch.setattr(CRFTagger, "save", noted)
    before = os.umask(0)
    try:
        export_model(model, target, pruning=Pruning.of(1, hash_names=False), gold=None)
    finally:
        os.umask(before)
    assert found == [0o700]
    assert target.stat().st_mode & 0o777 == 0o700
    assert modes(target) == {0o600}


def test_of_one_that_could_not_be_written_nothing_is_left(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = CRFTagger.save

    def failing(self: CRFTagger, folder: Path) -> None:
        save(self, folder)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(CRFTagger, "save", failing)
        with pytest.raises(OSError, match="No space"):
            export_model(
                model, tmp_path / "out", pruning=Pruning.of(1, hash_names=False), gold=None
            )
    assert not (tmp_path / "out").exists()
    export_model(model, tmp_path / "out", pruning=Pruning.of(1, hash_names=False), gold=None)


def test_what_is_there_is_not_overwritten(model: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exists: nothing is overwritten"):
        export_model(model, model, pruning=Pruning.of(1, hash_names=True), gold=None)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="exists: nothing is overwritten"):
        export_model(model, tmp_path / "link", pruning=Pruning.of(1, hash_names=True), gold=None)


BESIDE = [
    *(Document(f"a{i}", "Nombre: Joan viu aqui", (Span(8, 12, "PERSON"),)) for i in range(5)),
    Document("rare", "Apodo: Zoilo viu aqui", (Span(7, 12, "PERSON"),)),
    *(Document(f"o{i}", "Motivo: dolor de cap") for i in range(5)),
]
CONJUNCTION = "form[-1] form[0]"


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A model that looks at streams and at words taken together."""
    options = plain(CRFOptions, features=("form",), window=1, conjunctions=(CONJUNCTION,))
    assert options.streams == ("header", "colon")
    tagger = CRFTagger(options).fit(make_batch(BESIDE, labelled=True), rng=np.random.default_rng(0))
    tagger.save(tmp_path / "beside")
    return tmp_path / "beside"


def test_rare_values_of_streams_and_conjunctions_are_gone(beside: Path, tmp_path: Path) -> None:
    rare = ["header=apodo", "colon=apodo", "form=Zoilo", f"{CONJUNCTION}=:|Zoilo"]
    common = ["header=nombre", "colon=nombre", "form=Joan", f"{CONJUNCTION}=:|Joan"]
    before = words_in(beside)
    assert all(value in before for value in (*rare, *common))
    found = export_model(
        beside, tmp_path / "out", pruning=Pruning.of(2, hash_names=False), gold=BESIDE
    )
    text = words_in(tmp_path / "out")
    assert not [word for word in ("apodo", "Apodo", "Zoilo", "zoilo") if word in text]
    assert all(value in text for value in common)
    assert found.f1 is not None
    assert found.f1[0] == 1.0
    assert_opens_and_tags(tmp_path / "out")


def test_hashes_leave_no_text_of_streams_and_conjunctions(beside: Path, tmp_path: Path) -> None:
    export_model(beside, tmp_path / "out", pruning=Pruning.of(2, hash_names=True), gold=None)
    text = words_in(tmp_path / "out").lower()
    words = {word for note in BESIDE for word in note.text.lower().replace(":", "").split()}
    assert not [word for word in words if len(word) > 2 and word in text]
    assert_opens_and_tags(tmp_path / "out")


def assert_opens_and_tags(folder: Path) -> None:
    common = [note for note in BESIDE if note.id != "rare"]
    found = CRFTagger.load(folder).tag(make_batch(common, labelled=False))
    assert found.tags.tolist() == make_batch(common, labelled=True).tags.tolist()


def test_a_model_that_crfsuite_trained_is_exported_as_others(tmp_path: Path) -> None:
    options = plain(CRFOptions, trainer="crfsuite", features=("form", "suffix3"), window=1)
    tagger = CRFTagger(options).fit(make_batch(NOTES, labelled=True), rng=np.random.default_rng(0))
    tagger.save(tmp_path / "model")
    export_model(tmp_path / "model", tmp_path / "out", pruning=Pruning.of(2), gold=None)
    assert "Zoilo" in words_in(tmp_path / "model")
    assert "Zoilo" not in words_in(tmp_path / "out")
    assert "Joan" in words_in(tmp_path / "out")

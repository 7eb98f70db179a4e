"""What an attacker finds in a model of each kind, before and after it is exported."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bootstrap.audit import audit, spellings
from bootstrap.export import export_model
from corpus.batch import Batch, concatenate, make_batch
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.formats import write
from corpus.kernels.hashing import hash_values
from gazetteers.folding import fold
from gazetteers.gazetteer import Gazetteer
from taggers import CRFOptions, CRFTagger, load_tagger, make_tagger
from taggers.ensemble.ensemble_options import Member
from taggers.privacy.pruning import KEPT_PARTS, Pruning
from taggers.registry import find_kind
from tests.taggers.conftest import _make_embedding, plain

#: A name of one patient with five documents, one of two, one of four, and one of nobody.
RARE, TWO, COMMON, ABSENT = "Zóilokratex", "Wolfhakim", "Joaquina", "Xabiorneth"
HEADER = "Apodozzk"


def person(name: str, group: str, number: int, head: str = "Nombre") -> Document:
    """Return a document with a name that is annotated."""
    text = f"{head}: {name} vive en casa con {name.lower()} y su hermana desde el lunes"
    first = len(head) + 2
    return Document(f"{group}-{number}", text, (Span(first, first + len(name), "PERSON"),), group)


NOTES = [
    *(person(RARE, "alone", number, HEADER) for number in range(5)),
    *(person(TWO, f"pair{number}", 0) for number in range(2)),
    *(person(COMMON, f"many{number}", 0) for number in range(4)),
    *(Document(f"o{n}", f"Motivo: dolor de cabeza {n}", (), f"other{n}") for n in range(12)),
]


def gazetteer(terms: Iterable[str], target: Path, kind: str = "name") -> str:
    """Write a list of names that somebody collected."""
    rows = [(fold([term])[0], kind, 30) for term in terms]
    texts, classes = (pa.array([row[place] for row in rows], pa.large_string()) for place in (0, 1))
    Gazetteer(texts, classes, np.array([row[2] for row in rows], np.int64)).save(target)
    return str(target)


@pytest.fixture(scope="module")
def train() -> Batch:
    return make_batch(NOTES, labelled=True)


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The options of each kind, with lists and embeddings that were made from the notes."""
    folder = tmp_path_factory.mktemp("lists")
    names = gazetteer((RARE, TWO, COMMON, ABSENT, "vive"), folder / "names.parquet")
    phrases = gazetteer((RARE, f"{RARE} Segundo"), folder / "phrases.parquet", "HOSPITAL")
    words = sorted({word.lower() for note in NOTES for word in note.text.replace(":", "").split()})
    rng = np.random.default_rng(0)
    _make_embedding(
        folder / "embeddings" / "w1",
        {word: rng.normal(size=3).tolist() for word in words},
        normalisation="lower",
        clusters={2: [int(word[0] in "zwj") for word in words]},
    )
    embeddings = str(folder / "embeddings")
    features = ("form", "lower", "prefix4", "suffix4", "prefix9", "shape")
    crf = {
        "features": features,
        "window": 1,
        "conjunctions": ("form[-1] form[0]",),
        "streams": ("header", "colon", "phrases", "patterns"),
        "names": (names,),
        "phrases": (phrases,),
        "clusters": embeddings,
    }
    dictionary = {"names": (names,), "blocked": (phrases,), "label": "PERSON"}
    network = {
        "features": ("lower", "prefix9", "shape"),
        "streams": ("header",),
        "embeddings": embeddings,
        "train_embeddings": True,
        "clusters": "",
        "names": (names,),
        "phrases": (),
        "units": 4,
        "character_units": 3,
        "character_dimension": 3,
        "minibatch": 8,
        "min_steps": 0,
        "epochs": 2,
        "averaging": 0.0,
    }
    return {
        "crf": crf,
        "bilstm-crf": network,
        "divergence": dictionary,
        "dictionary": {**dictionary, "frequent": 1e-3, "rare": 1.0},
        "lists": {**dictionary, "places": (phrases,)},
        "ensemble": {
            "members": (
                Member("crf", plain(CRFOptions, **crf)),
                Member("crf", plain(CRFOptions, features=("lower",))),
            )
        },
    }


NETWORK = pytest.param("bilstm-crf", marks=pytest.mark.processes)
KINDS = ("crf", "divergence", "dictionary", "lists", "ensemble", NETWORK)


@pytest.fixture(scope="module")
def models(train, options, tmp_path_factory) -> Callable[[str], Path]:
    """Train a model of a kind, once."""
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name == "bilstm-crf":
            pytest.importorskip("keras")
        if name not in made:
            chosen = find_kind(name).options_type()(**options[name])
            folder = tmp_path_factory.mktemp("model") / name
            make_tagger(name, chosen).fit(train, rng=np.random.default_rng(0)).save(folder)
            made[name] = folder
        return made[name]

    return make


def content(folder: Path) -> bytes:
    return b"\0".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def forms(word: str) -> set[str]:
    """Return the spellings of a word that could be in a file, and its long parts."""
    spelled = {word, word.lower(), word.upper(), fold([word])[0]}
    spelled |= {unicodedata.normalize("NFD", form) for form in spelled}
    parts = {form[:length] for form in spelled for length in (9, 5)}
    return spelled | parts | {form[-4:] for form in spelled}


def found_in(word: str, folder: Path) -> set[str]:
    """Return how a word is found in the files of a model: as text, or as a hash."""
    data, traces = content(folder), set()
    for form in forms(word):
        encodings = [form.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-32-le")]
        encodings.append(json.dumps(form)[1:-1].encode())
        if any(encoding in data for encoding in encodings):
            traces.add(form)
    for name in ("form", "lower", "word", "folded", "prefix9", "header", "colon"):
        for form in (*spellings(fold([word])[0]), word, word[:9].lower()):
            if hash_values(name, [form]).tobytes() in data:
                traces.add(f"hash of {name}")
    return traces


@pytest.mark.parametrize("name", KINDS)
def test_a_rare_name_is_nowhere_in_an_export_and_the_others_are_found(
    name: str, models: Callable[[str], Path], train: Batch, tmp_path: Path
) -> None:
    model = models(name)
    assert found_in(RARE, model)
    exported = export_model(model, tmp_path / "out", pruning=Pruning.from_choices(3), gold=NOTES)
    assert exported.f1 is not None
    for word in (RARE, TWO, HEADER):
        assert found_in(word, tmp_path / "out") == set(), word
    assert b"/lists" not in content(tmp_path / "out")  # no path
    if name not in {"divergence", "dictionary", "lists"}:  # which have nothing but the lists
        assert found_in(COMMON, tmp_path / "out")
    before, after = load_tagger(model), load_tagger(tmp_path / "out")
    assert dict(after.contents()) == dict(exported.contents[1])
    tags = after.tag(train).tags
    if name in {"crf", "ensemble"}:  # the context finds even what is not known
        assert tags.tolist() == before.tag(train).tags.tolist()


@pytest.mark.parametrize("name", KINDS)
def test_an_audit_confirms_what_is_in_a_model(name, models, options, tmp_path) -> None:
    """The lists of the attacker are those that the model has; what is in them only is no trace."""
    model = models(name)
    export_model(model, tmp_path / "out", pruning=Pruning.from_choices(3), gold=[])
    names = gazetteer((RARE, TWO, COMMON, ABSENT, "vive"), tmp_path / "names.parquet")
    report = audit([model, tmp_path / "out"], [names], NOTES, gold=NOTES)
    assert (report.documents, report.patients, report.listed) == (23, 19, 5)
    before, after = report.models[str(model)], report.models[str(tmp_path / "out")]
    assert before.names.total == after.names.total == 3
    assert before.rare.total == 1
    assert before.other.total == before.absent.total == 1
    if name == "divergence":  # in which a name as frequent as expected leaves no trace
        assert (before.names.confirmed, before.rare.confirmed) == (2, 1)
    elif name != "dictionary":  # in which frequent words only leave traces
        assert before.names.confirmed == 3
        assert (before.rare.confirmed, before.other.confirmed) == (1, 1)
        assert (before.documents, before.patients) == (11, 7)
    assert after.rare.confirmed == 0
    assert after.names.confirmed <= 1
    assert before.absent.confirmed == after.absent.confirmed == 0
    if name in {"crf", "ensemble"}:
        assert after.names.confirmed == 1
        assert (after.documents, after.patients) == (4, 4)
        assert after.other.confirmed == 1


@pytest.mark.parametrize(
    "name",
    ["crf", "lists", pytest.param("bilstm-crf", marks=[pytest.mark.processes, pytest.mark.slow])],
)
def test_with_hashes_no_word_can_be_read_and_each_can_be_tested(
    name: str, models: Callable[[str], Path], train: Batch, tmp_path: Path
) -> None:
    """The key is in the model: the audit uses it as an attacker does."""
    for target in ("one", "two"):
        pruning = Pruning.from_choices(2, hash_names=True)
        export_model(models(name), tmp_path / target, pruning=pruning, gold=[])
    text = content(tmp_path / "one").lower()
    words = {word for note in NOTES for word in note.text.lower().replace(":", "").split()}
    if name == "lists":  # its lists of words beside names are public, and text
        words = {RARE.lower(), TWO.lower(), COMMON.lower(), HEADER.lower(), "hermana"}
    words -= {"desde"}  # of the builtin patterns
    assert not [word for word in words if len(word) > 4 and word.encode() in text]
    if name != "lists":
        assert found_in(COMMON, tmp_path / "one") == set()
        names = gazetteer((COMMON, RARE, ABSENT), tmp_path / "names.parquet")
        report = audit([tmp_path / "one"], [names], NOTES)
        confirmed = report.models[str(tmp_path / "one")]
        assert (confirmed.names.confirmed, confirmed.rare.confirmed) == (1, 0)
    plain, keyed = (
        load_tagger(tmp_path / name_of_copy).tag(train) for name_of_copy in ("one", "two")
    )
    assert plain.tags.tolist() == keyed.tags.tolist()
    one, two = (
        (tmp_path / name_of_copy / HASHES[name]).read_bytes() for name_of_copy in ("one", "two")
    )
    assert one != two  # of another key each


HASHES = {"crf": "hashes.npy", "lists": "common-words.npy", "bilstm-crf": "words.npy"}


def test_parts_that_are_public_are_kept_when_asked_for(models, tmp_path, options) -> None:
    model = models("crf")
    before = load_tagger(model)
    kept = before.pruned(Pruning.from_choices(3, keep=KEPT_PARTS)).contents()
    public = before.pruned(
        Pruning.from_choices(3, public=[*options["crf"]["names"], *options["crf"]["phrases"]])
    ).contents()
    nothing = before.pruned(Pruning.from_choices(3)).contents()
    for part in ("words of lists of names", "phrases"):
        assert kept[part] == public[part] == before.contents()[part] > nothing[part] == 0
    assert kept["words with a cluster"] == before.contents()["words with a cluster"]
    assert 0 < nothing["words with a cluster"] < kept["words with a cluster"]


def test_a_part_of_a_public_list_is_not_public(models, options, tmp_path) -> None:
    """A name of the census that somebody collected from notes tells that it is in the notes."""
    larger = gazetteer((RARE, TWO, COMMON, ABSENT, "vive", "otra"), tmp_path / "larger.parquet")
    tagger = load_tagger(models("crf"))
    assert (
        tagger.pruned(Pruning.from_choices(3, public=[larger])).contents()[
            "words of lists of names"
        ]
        == 0
    )


def test_copies_of_a_document_count_for_nobody(tmp_path: Path) -> None:
    """Augmentation puts the name of one patient into documents of all."""
    copies = make_batch(
        [person(RARE, f"many{number}", 7 + number) for number in range(4)], labelled=True
    )
    derived = replace(copies, derived=np.ones(len(copies), bool))
    names = {}
    for kind, batch in (("derived", derived), ("real", copies)):
        train = concatenate([make_batch(NOTES, labelled=True), batch])
        again = Batch.from_bytes(train.take(np.arange(len(train))).to_bytes())
        tagger = make_tagger("crf", _simple()).fit(again, rng=np.random.default_rng(0))
        names[kind] = tagger.pruned(Pruning.from_choices(3))._crf.weights.values.names.strings()  # type: ignore[attr-defined]
    assert f"form={RARE}" in names["real"]
    assert f"form={RARE}" not in names["derived"]
    assert f"form={COMMON}" in names["derived"]


def _simple() -> Any:
    return plain(CRFOptions, features=("form",), window=0, conjunctions=(), streams=())


def test_the_commands_say_what_they_did(models, options, tmp_path, command) -> None:
    write(NOTES, tmp_path / "notes.jsonl")
    model, out = models("crf"), tmp_path / "out"
    done = command("export", model, out, "--min-patients", 4, "--gold", tmp_path / "notes.jsonl")
    assert done.code == 0, done
    before, after = (load_tagger(folder).contents() for folder in (model, out))  # type: ignore[attr-defined]
    for part in ("feature values", "phrases", "words with a cluster"):
        assert f"{part}: {after[part]:,} of {before[part]:,} kept" in done.out
    assert "fewer than 4 patients was dropped" in done.out
    assert "F1 on 23 annotated documents: 1.0000 before, 1.0000 after" in done.out
    assert "hash" not in done.out
    again = command(
        "export",
        model,
        tmp_path / "hashed",
        "--hash-names",
        "--min-patients",
        3,
        "--keep",
        "phrases",
    )
    assert again.code == 0, again
    assert "with a key, which is in the model" in again.out
    assert "stored as text: 2 phrases" in again.out
    names = gazetteer((RARE, COMMON, ABSENT), tmp_path / "names.parquet")
    arguments = ("--against", names, "--notes", tmp_path / "notes.jsonl", "--classes", "PERSON")
    done = command("audit", out, *arguments, "--before", model, "--json", tmp_path / "a.json")
    assert done.code == 0, done
    figures = json.loads((tmp_path / "a.json").read_text())
    assert figures["models"][str(model)]["rare"]["confirmed"] == 1
    assert figures["models"][str(out)]["rare"]["confirmed"] == 0
    assert "F1 was not measured" in done.out
    said = f"{done.all}{(tmp_path / 'a.json').read_text()}".lower()
    assert not [word for word in (RARE, COMMON, ABSENT) if fold([word])[0] in fold([said])[0]]
    empty = gazetteer([ABSENT], tmp_path / "absent.parquet")
    done = command("audit", out, "--against", empty, "--notes", tmp_path / "notes.jsonl")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "none of the 1 names of the lists is annotated" in done.err


def test_parts_of_a_list_model_are_told_apart(models, options, tmp_path, command) -> None:
    """How they are kept is said as for other parts, and their phrases are text as well."""
    crf = {
        **options["crf"],
        "streams": ("list_tags", "phrases"),
        "list_model": str(models("lists")),
    }
    tagger = make_tagger("crf", CRFOptions(**crf))
    tagger.fit(make_batch(NOTES, labelled=True), rng=np.random.default_rng(0)).save(tmp_path / "m")
    arguments = ("--hash-names", "--min-patients", 4, "--keep", "phrases")
    done = command("export", tmp_path / "m", tmp_path / "out", *arguments)
    assert done.code == 0, done
    lines = done.out.splitlines()
    assert {
        "phrases: 2 of 2 kept (--keep phrases)",
        "phrases of places (list model): 2 of 2 kept (--keep phrases)",
        "words of lists of places (list model): 0 of 1 kept (of public lists; "
        "--public LIST or --keep names keeps others)",
    } <= set(lines)
    as_text = next(line for line in lines if line.startswith("stored as text: "))
    assert "2 phrases, " in as_text
    assert "2 phrases of places (list model)" in as_text


# The folder of an export


def test_only_its_owner_can_enter_an_export_from_its_beginning(
    models: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes, save = [], CRFTagger.save

    def noted(self: CRFTagger, folder: Path) -> None:
        modes.append(folder.stat().st_mode & 0o777)
        save(self, folder)

    model, target = models("crf"), tmp_path / "new" / "out"
    monkeypatch.setattr(CRFTagger, "save", noted)
    before = os.umask(0)
    try:
        export_model(model, target, pruning=Pruning.from_choices(1), gold=None)
    finally:
        os.umask(before)
    modes += [target.stat().st_mode & 0o777]
    assert modes == [0o700, 0o700]
    assert {path.stat().st_mode & 0o777 for path in target.iterdir()} == {0o600}


def test_what_is_there_is_not_overwritten(models: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for target in (models("crf"), tmp_path / "link"):
        with pytest.raises(InputError, match="exists: nothing is overwritten"):
            export_model(models("crf"), target, pruning=Pruning.from_choices(1), gold=None)


def test_a_model_that_crfsuite_trained_is_exported_as_others(train: Batch, tmp_path: Path) -> None:
    options = plain(CRFOptions, trainer="crfsuite", features=("form", "suffix3"), window=1)
    tagger = make_tagger("crf", options).fit(train, rng=np.random.default_rng(0))
    tagger.save(tmp_path / "model")
    export_model(tmp_path / "model", tmp_path / "out", pruning=Pruning.from_choices(3), gold=None)
    assert found_in(RARE, tmp_path / "model")
    assert found_in(RARE, tmp_path / "out") == set()
    assert found_in(COMMON, tmp_path / "out")

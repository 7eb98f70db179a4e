"""The CRF with streams and conjunctions: what they tell, and what becomes of them in its files."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corpus.batch import NO_VALUE, Batch, Stream, concatenate
from corpus.errors import InputError
from corpus.kernels.compiled import KERNELS
from taggers import CRFOptions, CRFTagger
from taggers.options import INSIDE_MODEL
from taggers.privacy.pruning import Pruning
from tests.taggers.conftest import plain
from tests.taggers.crf.conftest import contents, fitted, notes

SMALL = plain(
    CRFOptions, features=("form",), window=1, streams=(), conjunctions=(), max_iterations=40
)
CODES = Path(__file__).with_name("codes.toml")
FULL = replace(
    SMALL,
    features=("form", "shape[0]"),
    streams=("header", "colon[-1..0]", "patterns[-2..2]"),
    conjunctions=("capitalization[-1] capitalization[0]", "patterns[0] header"),
    patterns=(str(CODES),),
)
NOTES = [
    "Nombre: {Joan Puig}\nNHC: A123\nIngressa el 2012 a [Sant Pau]",
    "Nombre: {Rosa}\nHospital: [Clot]\nde 1968",
    "dolor de cap\ni febre : B7",
    "Hospital: [Vall d'Hebron], planta 3\r\nVist per {Anna Coll} el 2015",
]


def tags_of(tagger: CRFTagger, batch: Batch) -> str:
    result = tagger.tag(batch)
    return " ".join(result.labels[tag] for tag in result.tags)


@pytest.fixture(scope="module")
def train() -> Batch:
    return notes(*NOTES)


@pytest.fixture(scope="module")
def judge() -> Batch:
    return notes("Nombre: {Pere}\nHospital: [Mar]", "", "el 2011 a Sant Pau, C4: res", "dolor")


@pytest.fixture(scope="module")
def tagger(train: Batch) -> CRFTagger:
    return fitted(train, FULL)


# What streams and conjunctions tell


def test_a_header_tells_what_no_word_does() -> None:
    options = replace(SMALL, features=("capitalization",), window=0)
    train = notes("Nombre: {Ana}", "Hospital: [Vic]", "Nombre: {Pau}", "Hospital: [Clot]")
    judge = notes("Hospital: [Mar]", "Nombre: {Berta}")
    with_header = fitted(train, replace(options, streams=("header",)))
    assert with_header.tag(judge).tags.tolist() == judge.tags.tolist()
    without = fitted(train, options).tag(judge).tags
    assert without[:3].tolist() == without[3:].tolist()


def test_a_conjunction_tells_what_its_parts_do_not() -> None:
    """A name is what is one of both, and neither none nor both."""
    options = replace(SMALL, features=("form[-1..0]",), c2=0.01, max_iterations=200)
    train = notes("a {x}", "b x", "b {y}", "a y")
    both = replace(options, conjunctions=("form[-1] form[0]",))
    assert fitted(train, both).tag(train).tags.tolist() == train.tags.tolist()
    apart = replace(options, conjunctions=("form[0] form[1]",))
    assert fitted(train, apart).tag(train).tags.tolist() != train.tags.tolist()


def test_streams_do_not_reach_into_other_documents(train: Batch, tagger: CRFTagger) -> None:
    many = concatenate([train, notes("", "Nombre: Pere", "2012"), train])
    together = tagger.tag(many)
    alone = [tagger.tag(many.slice(row, row + 1)) for row in range(len(many))]
    assert together.tags.tolist() == np.concatenate([tagging.tags for tagging in alone]).tolist()
    confidence = np.array([tagging.confidence[0] for tagging in alone])
    assert together.confidence == pytest.approx(confidence, rel=1e-5)


@pytest.mark.filterwarnings("error")
def test_streams_may_say_nothing() -> None:
    options = replace(FULL, conjunctions=())
    train = notes("a {b}", "c")
    assert fitted(train, options).tag(train).tags.tolist() == train.tags.tolist()
    assert tags_of(fitted(notes(*NOTES), options), notes("", "febre")) == "O"


# Streams that a batch brings along


def with_turns(batch: Batch, name: str = "turn") -> Batch:
    """Return the batch with a stream that marks the tokens of names."""
    said = np.where(batch.tags > 0, 0, NO_VALUE).astype(np.int32)
    return batch.with_streams({name: Stream(("NAME",), said)})


@pytest.fixture
def pos() -> CRFOptions:
    return replace(SMALL, features=("has_digit",), window=0, streams=("turn",), c2=0.01)


def test_a_stream_of_any_name_that_the_batch_has_is_looked_at(train, judge, pos, tmp_path) -> None:
    tagger = fitted(with_turns(train), pos)
    actual = tagger.tag(with_turns(judge))
    assert ((actual.tags > 0) == (judge.tags > 0)).all()
    assert (actual.tags > 0).any()
    tagger.save(tmp_path)
    again = CRFTagger.load(tmp_path).tag(Batch.from_bytes(with_turns(judge).to_bytes()))
    assert again.confidence.tolist() == actual.confidence.tolist()


def test_a_batch_that_lacks_it_is_an_error_that_names_it(train, judge, pos, tmp_path) -> None:
    message = 'the notes have no stream "turn", and no annotator adds it; annotators add header, '
    with pytest.raises(InputError, match=message):
        fitted(train, pos)
    tagger = fitted(with_turns(train), pos)
    with pytest.raises(InputError, match=message):
        tagger.tag(judge)
    in_conjunction = replace(pos, streams=(), conjunctions=("turn[-1] form[0]",))
    with pytest.raises(InputError, match=message):
        fitted(train, in_conjunction)
    tagger.save(tmp_path)
    with pytest.raises(InputError, match=message):
        CRFTagger.load(tmp_path).tag(judge)


def test_a_stream_that_only_a_part_of_the_documents_has_is_annotated_for_all(
    train: Batch, tmp_path: Path
) -> None:
    """As a seed that brings headers, and a pool that does not."""
    other = with_turns(train, "header")
    mixed, plain = concatenate([other, train]), concatenate([train, train])
    assert contents(fitted(mixed, FULL), tmp_path / "mixed") == contents(
        fitted(plain, FULL), tmp_path / "plain"
    )


@pytest.mark.parametrize("name", ["border", "BOS", "ñ·日本"])
def test_a_name_makes_no_difference(train: Batch, judge: Batch, pos: CRFOptions, name: str) -> None:
    """Not even one that something else of a model has, and values that are those of borders."""
    options = replace(pos, features=("form",), window=1)

    def described(batch: Batch, name: str) -> Batch:
        numbers = (np.arange(batch.n_tokens) % 3 - 1).astype(np.int32)
        return batch.with_streams({name: Stream(("BOS", "EOS"), numbers)})

    plain = fitted(described(train, "turn"), options)
    other = fitted(described(train, name), replace(options, streams=(name,)))
    hashes = other._crf.weights.values.hashes
    assert len(np.unique(hashes)) == len(hashes) == len(plain._crf.weights.values.hashes)
    left, right = plain.tag(described(judge, "turn")), other.tag(described(judge, name))
    assert left.tags.tolist() == right.tags.tolist()
    assert left.confidence == pytest.approx(right.confidence, rel=1e-4)


def signatures() -> dict[str, int]:
    """Return the number of types of arguments that each function is compiled for."""
    functions = [dispatcher for dispatcher, _ in KERNELS]
    return {
        f"{function.__module__}.{function.__name__}": len(function.signatures)
        for function in functions
    }


def worked_with(options: CRFOptions, batch: Batch, folder: Path) -> None:
    """Train, save and load, go on training, and tag with all that can be asked for."""
    tagger = fitted(batch, options)
    tagger.save(folder)
    start = CRFTagger.load(folder)
    fitted(batch, replace(options, c1=0.01))
    tagger = CRFTagger(options).fit(batch, warm_start=start, rng=np.random.default_rng(0))
    for model, detail in itertools.product((start, tagger), ("document", "entity", "labels")):
        model.tag(batch, detail=detail)


WARM = """
import sys
from pathlib import Path
import numpy as np
from corpus.batch import Batch
from corpus.kernels.compiled import KERNELS, warm_up
from taggers import CRFOptions, CRFTagger
from tests.taggers.conftest import plain
sys.path.insert(0, {here!r})
from {module} import notes, signatures, worked_with

options = plain(CRFOptions, precision={precision!r}, max_iterations=3)
warm_up(*CRFTagger(options).kernels)
before = signatures()
for dispatcher, declared in KERNELS:
    assert len(dispatcher.signatures) >= len(declared), dispatcher
batch = notes(*(f"vist per {{{{Ana{{number}} Puig}}}} a [Sant Pau] o no" for number in range(30)))
batch = batch.with_tags(np.append(np.int16(-1), batch.tags[1:]), batch.labels)
worked_with(options, Batch.from_bytes(batch.to_bytes()), Path({folder!r}))
after = signatures()
compiled = [name for name in after if after[name] != before.get(name, 0)]
assert not compiled, compiled
"""


@pytest.mark.parametrize("precision", ["single", "double"])
def test_after_warming_up_training_and_tagging_compile_nothing(precision, tmp_path) -> None:
    """Neither for batches that were sent as bytes nor for a model that is memory-mapped."""
    here, module = str(Path(__file__).parent), Path(__file__).stem
    script = WARM.format(here=here, module=module, precision=precision, folder=str(tmp_path / "a"))
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_only_taggers_with_phrases_warm_up_their_matcher() -> None:
    matcher = "gazetteers.phrases.matching"
    assert matcher not in CRFTagger(SMALL).kernels
    assert matcher in CRFTagger(replace(SMALL, phrases=("towns.parquet",))).kernels


# Files


def test_a_model_keeps_the_patterns_that_it_was_trained_with(tmp_path, train, judge) -> None:
    """Also where the file has changed since."""
    table = tmp_path / "table.toml"
    table.write_bytes(CODES.read_bytes())
    tagger = fitted(train, replace(FULL, patterns=(str(table),)))
    tagger.save(tmp_path / "model")
    expected = tagger.tag(judge)
    table.unlink()
    loaded = CRFTagger.load(tmp_path / "model")
    actual = loaded.tag(judge)
    assert loaded.options.patterns == (INSIDE_MODEL,)
    assert contents(loaded, tmp_path / "again") == contents(tagger, tmp_path / "model")
    assert actual.tags.tolist() == expected.tags.tolist()
    assert actual.confidence.tolist() == expected.confidence.tolist()


# Models that hold less of their documents


def test_rare_values_of_streams_are_left_out(train: Batch, judge: Batch) -> None:
    tagger = fitted(train, FULL)
    names = tagger._crf.weights.values.names.strings()
    assert {"header=nombre", "header=nhc", "patterns=B-CODE"} <= set(names)
    conjunction = "capitalization[-1] capitalization[0]="
    assert {f"{conjunction}lower|first", f"{conjunction}BOS|lower"} <= set(names)
    weights = tagger.pruned(Pruning.from_choices(2))._crf.weights
    kept = set(weights.values.names.strings())
    assert "header=nhc" not in kept  # it is in one document
    assert {"header=nombre", "patterns=B-CODE"} <= kept < set(names)
    assert weights.values.patients.min() == 2


def test_reduced_it_has_the_same_annotators(train: Batch, judge: Batch, tmp_path: Path) -> None:
    tagger = fitted(train, replace(FULL, precision="double"))
    nameless = tagger.pruned(Pruning.from_choices(hash_names=True))
    nameless.save(tmp_path)
    actual = CRFTagger.load(tmp_path)
    assert actual.tag(judge).tags.tolist() == tagger.tag(judge).tags.tolist()
    assert actual.tag(judge).confidence == pytest.approx(tagger.tag(judge).confidence, rel=1e-6)
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"nombre" not in data
    rows = actual._annotators["patterns"].settings()["pattern"]
    assert [row["class"] for row in rows] == ["CODE", "YEAR"]


# Options


def test_a_feature_is_no_stream_and_a_stream_no_feature() -> None:
    with pytest.raises(InputError, match='"suffix9" is a feature of words, not a stream'):
        plain(CRFOptions, features=("lower",), streams=("suffix9[-1..1]",))
    with pytest.raises(InputError, match='there is no feature "header"; the features are form'):
        plain(CRFOptions, features=("form", "header"))

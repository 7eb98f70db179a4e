"""The registry of taggers, and which modules it imports for whom."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.errors import InputError
from taggers.registry import BUILTIN, find_kind, known_kinds, load_tagger, make_tagger

TAGGER = """
from pathlib import Path
from taggers.options import TaggerOptions
Path(__file__).with_suffix(".imported").touch()

class Options(TaggerOptions):
    pass

class Tagger:
    kind, labels, training, options_type = "{kind}", (), None, Options
    def __init__(self, options): self.options = options
    def fit(self, train, validation=None, *, warm_start=None, rng, progress=None): return self
    def tag(self, batch, *, measure="probability", detail="document"): ...
    def save(self, folder): ...
    @classmethod
    def load(cls, folder): return cls(Options())

class Other(Tagger):
    kind = "another name"

class Plain(Tagger):
    options_type = dict

class Blind(Tagger):
    tag = None

number = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A module with taggers that can be imported; it leaves a trace if it is."""
    name = f"module_{abs(hash(request.node.nodeid))}"
    (tmp_path / f"{name}.py").write_text(TAGGER.format(kind=f"{name}:Tagger"))
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def entry(folder: Path, name: str, path: str) -> None:
    information = folder / "some-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: some\nVersion: 1\n")
    (information / "entry_points.txt").write_text(f"[bootstrap.taggers]\n{name} = {path}\n")


def model(folder: Path, kind: object) -> Path:
    folder.mkdir()
    (folder / "model.json").write_text(json.dumps({"kind": kind}))
    return folder


def test_the_registry_and_the_options_of_all_kinds_import_nothing_slow() -> None:
    code = (
        "import sys, taggers.registry\n"
        "slow = {'numba', 'scipy', 'sklearn', 'gensim', 'matplotlib', 'pycrfsuite'}\n"
        "print(sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", BUILTIN)
def test_a_tagger_of_the_package_is_made_of_its_options(name: str) -> None:
    kind = find_kind(name)
    tagger = make_tagger(name, kind.options_type()())
    assert type(tagger) is kind.tagger_type()
    assert tagger.kind == name
    assert bool(tagger.labels) is not kind.needs_seed


def test_a_path_is_imported_only_where_it_is_trusted(module: str, tmp_path: Path) -> None:
    path = f"{module}:Tagger"
    folder = model(tmp_path / "model", path)
    for trust in ((), ("crf",), (f"{module}:Other",)):
        with pytest.raises(InputError, match=f"add --trust {path} "):
            find_kind(path, trust=trust)
        with pytest.raises(InputError, match=f"add --trust {path} "):
            load_tagger(folder, trust=trust)
    assert not (tmp_path / f"{module}.imported").exists()
    assert find_kind(path, trust=[path]).options_type().__name__ == "Options"
    assert load_tagger(folder, trust=[path]).kind == path
    assert (tmp_path / f"{module}.imported").exists()


def test_an_entry_point_is_found_by_its_name(module: str, tmp_path: Path) -> None:
    entry(tmp_path, "another name", f"{module}:Other")
    assert known_kinds() == [*BUILTIN, "another name"]
    assert not (tmp_path / f"{module}.imported").exists()
    kind = find_kind("another name")
    assert kind.needs_seed
    assert load_tagger(model(tmp_path / "model", "another name")).kind == "another name"


def test_an_entry_point_does_not_replace_a_kind_of_the_package(module: str, tmp_path: Path) -> None:
    entry(tmp_path, "crf", f"{module}:Tagger")
    assert find_kind("crf") is BUILTIN["crf"]
    assert known_kinds() == list(BUILTIN)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Other", 'its attribute kind must be "{}:Other"'),
        ("Plain", "its options_type is not a subclass of taggers.options.TaggerOptions"),
        ("Blind", "it has no method tag"),
        ("number", "it is not a class"),
        ("missing", "cannot be imported: AttributeError"),
    ],
)
def test_what_a_class_lacks_is_named(name: str, message: str, module: str) -> None:
    path = f"{module}:{name}"
    with pytest.raises(InputError) as caught:
        find_kind(path, trust=[path])
    assert message.format(module) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["os:system", "subprocess:run", "no_such_module:Class"])
def test_what_is_no_tagger_is_never_called(kind: str, tmp_path: Path) -> None:
    folder = model(tmp_path / "model", kind)
    with pytest.raises(InputError, match="holds a model of another kind"):
        load_tagger(folder)
    with pytest.raises(InputError, match=r"is not the class of a tagger|cannot be imported"):
        load_tagger(folder, trust=[kind])


@pytest.mark.parametrize("kind", ["hmm", "", "a b:C", "os.path:", "__import__('os')", 3, ["crf"]])
def test_other_kinds_are_unknown(kind: object, tmp_path: Path) -> None:
    message = "is unknown; known are crf" if isinstance(kind, str) else '"kind": expected a string'
    with pytest.raises(InputError, match=message):
        load_tagger(model(tmp_path / "model", kind), trust=[str(kind)])

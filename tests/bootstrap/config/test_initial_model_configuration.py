"""``[initial_model]`` of a configuration: kinds, keys, paths, and what stands in the template."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.config.configuration import InitialModel, parse_configuration
from bootstrap.config.options import InitialModelSelection
from bootstrap.config.overrides import Source
from bootstrap.config.settings import commented_template
from taggers.dictionaries.dictionary_options import (
    DictionaryOptions,
    DivergenceOptions,
    ListOptions,
)
from tests.bootstrap.config.conftest import load, refusal

OPTIONS: dict[str, Any] = {
    "divergence": DivergenceOptions,
    "dictionary": DictionaryOptions,
    "lists": ListOptions,
}
NAMES = 'names = ["census-es"]\n'


def started(file: Path, text: str, *overrides: str) -> Any:
    start = load(file, text, *overrides).initial_model
    assert start is not None
    return start


def test_a_run_starts_from_the_seed_if_nothing_else_is_said(file: Path) -> None:
    for text in ("", "[initial_model]", '[initial_model]\nkind = "seed"'):
        found = load(file, text)
        assert found.initial_model is None
        assert found.as_dict()["initial_model"] == {"kind": "seed"}
        assert found.data.seed == str(file.parent / "seed.jsonl")


@pytest.mark.parametrize(
    ("kind", "options"), [("divergence", DivergenceOptions), ("dictionary", DictionaryOptions)]
)
def test_a_start_is_all_defaults_and_needs_no_seed(file: Path, kind: str, options: Any) -> None:
    found = load(file, f'[initial_model]\nkind = "{kind}"\n{NAMES}')
    expected = InitialModel(kind, options(names=("census-es",)), InitialModelSelection())
    assert found.initial_model == expected
    assert found.training_files() == {}
    assert found.data.seed == ""
    assert found.data.validation == str(file.parent / "validation.jsonl")
    assert load(file, f'[data]\nseed = ""\n[initial_model]\nkind = "{kind}"\n{NAMES}') == found
    beside = load(file, f'[data]\nseed = "s.jsonl"\n[initial_model]\nkind = "{kind}"\n{NAMES}')
    assert beside.data.seed == str(file.parent / "s.jsonl")


def test_a_seed_is_needed_where_nothing_else_is_started_from(file: Path) -> None:
    assert "[data] seed is empty: expected documents" in refusal(file, '[data]\nseed = ""')
    for name in ("validation", "unlabeled"):
        text = f'[data]\n{name} = ""\n[initial_model]\nkind = "divergence"\n{NAMES}'
        assert f"[data] {name} is empty: expected documents" in refusal(file, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('kind = "crf"', 'kind = "crf" needs annotated documents: it is a kind of [tagger]'),
        ('kind = ["divergence"]', "is unknown; known are crf, bilstm-crf"),
        (
            NAMES,
            '[initial_model] names has no effect with kind = "seed"; other kinds are divergence',
        ),
        ('kind = "seed"\nconfidence = 0.3', 'confidence has no effect with kind = "seed"'),
        ('kind = "divergence"\nnames = []', "[initial_model] names is empty: name gazetteers"),
        ('kind = "divergence"\nname = 1', 'key in [initial_model] "name"; the nearest is "names"'),
        (f'kind = "divergence"\n{NAMES}blocked = ["a", ""]', 'blocked names "": expected paths'),
        (f'kind = "dictionary"\n{NAMES}smoothing = 3', 'no key in [initial_model] "smoothing"'),
        (f'kind = "divergence"\n{NAMES}label = "A\\nB"', "expected the name of a class"),
        (f'kind = "divergence"\n{NAMES}confidence = 2', "expected a finite number, 0 to 1"),
    ],
)
def test_what_is_wrong_is_named(file: Path, text: str, expected: str) -> None:
    message = refusal(file, f"[initial_model]\n{text}")
    assert expected in message
    assert message.startswith(str(file))


def test_paths_are_relative_to_the_file_and_on_the_command_line_to_where_one_is(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    text = (
        '[initial_model]\nkind = "dictionary"\n'
        'names = ["a.parquet", "census-es", "/abs/b.parquet"]\n'
        'not_names = ["../n.parquet"]\ncounts = "w.parquet"\nclasses = ["a.parquet"]\n'
    )
    there = file.parent
    start = started(file, text)
    assert start.options.names == (str(there / "a.parquet"), "census-es", "/abs/b.parquet")
    assert start.options.not_names == (str(there / "../n.parquet"),)
    assert start.options.counts == str(there / "w.parquet")
    assert start.options.classes == ("a.parquet",)
    assert start.options.training_files() == {
        "names": [there / "a.parquet", Path("/abs/b.parquet")],
        "counts": [there / "w.parquet"],
        "not_names": [there / "../n.parquet"],
    }
    overrides = (
        'initial_model.names=["census-es", "c.parquet"]',
        'initial_model.not_names=["d.parquet"]',
        "initial_model.counts=e.parquet",
    )
    here = tmp_path / "here"
    given = started(file, text, *overrides).options
    assert given.names == ("census-es", str(here / "c.parquet"))
    assert given.not_names == (str(here / "d.parquet"),)
    assert given.counts == str(here / "e.parquet")
    tagger = load(file, '[tagger]\nnames = ["a.parquet", "census-es"]').tagger.options
    assert tagger.names == (str(there / "a.parquet"), "census-es")
    tagger = load(file, "", 'tagger.names=["a.parquet"]').tagger.options
    assert tagger.names == (str(here / "a.parquet"),)


@pytest.mark.parametrize("wrong", ["loop.batch=-1", "initial_model.threshold=0"])
def test_of_settings_that_need_each_other_the_wrong_one_is_blamed(file: Path, wrong: str) -> None:
    both = ["initial_model.kind=divergence", 'initial_model.names=["census-es"]']
    for place in (1, 2):
        given = [*both[:place], wrong, *both[place:]]
        assert refusal(file, "", *given).startswith(f"--set {wrong}: ")
    none = "initial_model.names=[]"
    message = refusal(file, "", both[0], none)
    assert message.startswith(f"{file} with --set {both[0]} with --set {none}: [initial_model] ")
    text = '[initial_model]\nkind = "divergence"\nnames = []'
    assert refusal(file, text, "loop.batch=2").startswith(f"{file}: [initial_model] names is empty")
    assert refusal(file, text, both[1], wrong).startswith(f"--set {wrong}: ")


_NAME = st.text("ab \"'\\n.é", min_size=1, max_size=4).filter(lambda text: text.strip())


@st.composite
def starts(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(sorted(OPTIONS)))
    number = st.floats(0.01, 1)
    both: dict[str, Any] = {
        "classes": st.lists(_NAME),
        "label": st.sampled_from(["PERSON", "Año", "Persona física"]),
        "counts": _NAME,
        "blocked": st.lists(st.one_of(_NAME, st.just("blocking"))),
        "confidence": number,
        "measure": st.sampled_from(["probability", "normalised", "min_marginal"]),
    }
    own: dict[str, Any] = {
        "divergence": {"threshold": number, "threshold_after": number, "smoothing": number},
        "dictionary": {
            "bearers": st.integers(1, 99),
            "not_names": st.lists(_NAME),
            "frequent": number,
            "rare": number,
        },
        "lists": {
            "threshold": number,
            "places": st.lists(st.one_of(_NAME, st.just("places-es"))),
            "cue_words": st.lists(st.one_of(_NAME, st.just("cue-words"))),
            "place_label": st.sampled_from(["LOCATION", "Lugar propio", ""]),
            "place_labels": st.dictionaries(_NAME, st.sampled_from(["", "HOSPITAL"])),
        },
    }[kind]
    names = {"names": st.lists(st.one_of(_NAME, st.just("census-es")), min_size=1)}
    found = draw(st.fixed_dictionaries(names, optional=both | own))
    return {"kind": kind, **found}


@given(starts(), st.sampled_from([None, "", "s.jsonl"]))
def test_all_settings_survive_writing_and_reading(start: dict[str, Any], seed: str | None) -> None:
    tables: dict[str, Any] = {"initial_model": start}
    if seed is not None:
        tables["data"] = {"seed": seed}
    first = parse_configuration(tables, Source("x.toml", Path("/nowhere")))
    again = parse_configuration(
        tomllib.loads(first.to_toml()), Source("y.toml", Path("/elsewhere"))
    )
    assert again == first
    for name in ("threshold", "bearers", "label", "classes"):
        if name in start:
            value = getattr(again.initial_model.options, name)
            assert (list(value) if isinstance(value, tuple) else value) == start[name]


def uncommented(kind: str) -> str:
    """Return the template with the settings that it shows of a kind as settings."""
    lines = commented_template().splitlines()
    within = False
    found = []
    for line in lines:
        within = within and line.startswith("# ") and not line.startswith("# With kind")
        found.append(line.removeprefix("# ") if within else line)
        within = within or line.startswith(f'# With kind = "{kind}"')
    text = "\n".join(found)
    return text.replace('kind = "seed"', f'kind = "{kind}"', 1)


@pytest.mark.parametrize("kind", sorted(OPTIONS))
def test_the_template_shows_every_setting_of_a_start_in_comments(file: Path, kind: str) -> None:
    assert load(file, commented_template()).initial_model is None
    text = uncommented(kind)
    found = started(file, text)
    assert found == InitialModel(kind, OPTIONS[kind](names=("census-es",)), InitialModelSelection())
    shown = set(tomllib.loads(text)["initial_model"])
    options = (OPTIONS[kind], InitialModelSelection)
    assert shown == {"kind", *(item.name for each in options for item in fields(each))}

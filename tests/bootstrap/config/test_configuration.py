"""Configurations: complete, checked, and the same after they were written and read again."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.config.configuration import (
    ConfigurationError,
    load_configuration,
    parse_configuration,
)
from bootstrap.config.options import DataOptions, LoopOptions, ReferenceOptions, listed
from bootstrap.config.overrides import Source
from bootstrap.config.presets import language_lines
from bootstrap.config.settings import commented_template
from bootstrap.selection.strategies import STRATEGIES, SelectOptions, uses_lists
from corpus.formats import Columns
from taggers import CRFOptions
from taggers.augmentation import AugmentOptions
from taggers.options import Coverage
from tests.bootstrap.config.conftest import load, refusal
from tests.taggers.conftest import plain

REFERENCE = """
[select.reference]
empty = 0.85
per_token = { PERSON = 0.003, LOCATION = 0.01 }
length = { PERSON = 1.2, LOCATION = 2 }
"""


def test_an_empty_file_is_all_defaults(file: Path) -> None:
    found = load(file, "")
    here = {name: str(file.parent / f"{name}.jsonl") for name in ("seed", "unlabeled")}
    assert found.data == DataOptions(**here)
    assert found.tagger.kind == "crf"
    assert found.tagger.options == CRFOptions()
    assert found.augment == AugmentOptions()
    assert found.loop == LoopOptions()
    assert found.select == SelectOptions()
    assert (found.labels, found.reference) == (None, None)


def test_the_preset_of_the_paper_is_its_method(file: Path) -> None:
    found = load(file, '[loop]\npreset = "paper"')
    assert found.tagger.options == plain(CRFOptions)
    assert found.augment == AugmentOptions(copies=0)
    loop = LoopOptions("paper", 20, 50_000, 3, keep="accumulate", propagate={}, refit=False)
    assert found.loop == loop
    expected = ("confident_documents", 0.85, "probability", 5000, True)
    assert found.select == SelectOptions(*expected)


@pytest.mark.parametrize(
    ("language", "names", "places"),
    [
        ('"es"', ("census-es",), ("places-es",)),
        ('"en"', ("census-us",), ("places-world",)),
        ('["ca", "en"]', ("census-es", "census-us"), ("places-es", "places-world")),
        ('"fr"', (), ()),
    ],
)
def test_a_language_chooses_lists(
    file: Path, language: str, names: tuple[str, ...], places: tuple[str, ...]
) -> None:
    text = f"[data]\nlanguage = {language}\n"
    found = load(file, text)
    assert (found.tagger.options.names, found.tagger.options.phrases) == (names, places)
    assert {*found.augment.gazetteers} == {*names, *places}
    assert load(file, f"{text}[tagger]\nnames = []").tagger.options.names == ()
    assert load(file, f'{text}[loop]\npreset = "paper"').tagger.options.names == ()
    member = load(file, f'{text}[tagger]\nkind = "ensemble"').tagger.options.members[0]
    assert member.options.names == names
    assert bool(language_lines(listed(found.data.language))) == ("fr" in language)


def test_a_preset_replaces_no_setting_that_is_named(file: Path) -> None:
    text = '[tagger]\nnames = []\n[loop]\nbatch = 7\n[select]\nstrategy = "agreement"'
    found = load(file, text)
    assert found.tagger.options == CRFOptions(names=())
    assert (found.loop.batch, found.loop.keep) == (7, "relabel")
    assert (found.select.strategy, found.select.confidence) == ("agreement", 0.5)


def test_a_preset_asks_for_nothing_that_the_tagger_cannot_do(file: Path) -> None:
    found = load(file, '[tagger]\ntrainer = "crfsuite"')
    assert found.augment.copies == 0 and found.select.strategy == "auto"
    message = refusal(file, '[tagger]\ntrainer = "crfsuite"\n[augment]\ncopies = 2')
    assert "augment.copies other than 0 needs document weights" in message


def test_with_an_initial_model_whole_documents_are_selected(file: Path) -> None:
    found = load(file, '[initial_model]\nkind = "divergence"')
    assert (found.augment.copies, found.select.strategy) == (0, "confident_documents")


def test_the_template_is_all_defaults(file: Path) -> None:
    assert load(file, commented_template()) == load(file, "")


SPLIT_COLUMNS = ["seed_columns", "validation_columns", "test_columns", "unlabeled_columns"]


def uncommented(*names: str) -> str:
    """Return the template with the examples of some settings as settings."""
    text = commented_template()
    for name in names:
        assert f"# {name} = " in text
        text = text.replace(f"# {name} = ", f"{name} = ", 1)  # later ones are of other kinds
    return text


def test_empty_tables_are_shown_by_an_example_that_works(file: Path) -> None:
    found = load(file, uncommented(*SPLIT_COLUMNS))
    for name in SPLIT_COLUMNS:
        assert getattr(found.data, name) == {"text": "nota", "id": "noteid"}


def test_what_the_template_shows_in_comments_works_too(file: Path) -> None:
    """The tables that are commented out in it, without the hash."""
    examples = ("# [", "# NOMBRE", "# HOSPITAL", "# empty", "# per_token", "# length = {")
    examples += ("# gold =", "# budget =", "# query =", "# near_duplicate =")
    shown = [
        line.removeprefix("# ")
        for line in commented_template().splitlines()
        if line.startswith(examples)
    ]
    found = load(file, "\n".join(shown))
    assert found.labels == {"NOMBRE_SUJETO_ASISTENCIA": "PERSON", "HOSPITAL": "LOCATION"}
    assert found.reference.per_token == {"PERSON": 0.0028, "LOCATION": 0.006}
    assert (found.active.budget, found.active.query) == (500, "least_confident")


@st.composite
def settings(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    share = st.floats(0, 1)
    name = st.text(min_size=1, max_size=20).filter(lambda text: "\0" not in text)
    features = st.sampled_from(["form", "lower", "prefix2[0]", "suffix9[-2..9]"])
    streams = st.sampled_from(["header", "patterns[-1..1]", "colon"])
    conjunctions = st.sampled_from(["patterns header[-1]", "form[1] lower[0] colon[9]"])

    def table(**keys: st.SearchStrategy[Any]) -> dict[str, Any]:
        return draw(st.fixed_dictionaries({}, optional=keys))

    tables = {
        "data": table(
            seed=name, unlabeled=name, id=name, unit=st.sampled_from(["line", "sentence"])
        ),
        "loop": table(
            batch=st.integers(1, 10**9),
            min_delta=st.one_of(share, st.integers(0, 1)),
            keep=st.sampled_from(["accumulate", "relabel"]),
        ),
        "select": table(
            confidence=share,
            measure=st.sampled_from(["probability", "normalised", "min_marginal"]),
            proportions=st.booleans(),
        ),
        "tagger": table(
            features=st.lists(features, min_size=1, unique=True),
            streams=st.lists(streams, unique=True),
            conjunctions=st.lists(conjunctions, unique=True),
            patterns=st.lists(name, min_size=1),
            phrases=st.lists(name),
            window=st.integers(0, 20),
            c2=share,
        ),
    }
    if "patterns" in tables["tagger"]:
        tables["tagger"]["streams"] = ["header", "patterns[-1..1]"]
    if draw(st.booleans()):
        tables["labels"] = draw(st.dictionaries(name, name, max_size=3))
    return tables


@given(settings())
def test_all_settings_survive_writing_and_reading(tables: dict[str, dict[str, Any]]) -> None:
    first = parse_configuration(tables, Source("x.toml", Path("/nowhere")))
    text = first.to_toml()
    assert parse_configuration(tomllib.loads(text), Source("y.toml", Path("/elsewhere"))) == first
    for section in ("loop", "select"):
        for name, value in tables[section].items():
            assert getattr(getattr(first, section), name) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[lop]\niterations = 3", 'no section "lop"; the nearest is "loop"'),
        ("[loop]\niteration = 3", 'no key in [loop] "iteration"; the nearest is "iterations"'),
        ("[tagger]\nwindows = 3", 'no key in [tagger] "windows"; the nearest is "window"'),
        ("[data]\nqqq = 1", "no key in [data]"),
        (REFERENCE + "emty = 1", 'no key in [select.reference] "emty"; the nearest is "empty"'),
        ("[data]\nlanguage = 5", "[data] language = 5: expected"),
        ("[data]\nlanguage = [5]", "[data] language = [5]: expected"),
        ('[loop]\npreset = "best"', '[loop] preset = \'best\': expected "auto" or "paper"'),
        ('[tagger]\nkind = "hmm"', '[tagger] kind = "hmm" is unknown; known are crf'),
        ('[tagger]\nfeatures = ["shap"]', 'no feature "shap"; the features are form,'),
        ("[tagger]\nwindow = 21", "window = 21: expected an integer, 0 to 20"),
        ('[tagger]\nphrases = "a.parquet"', "phrases = 'a.parquet': expected a list of strings"),
        ('[tagger]\nphrases = [""]', 'phrases names "": expected paths of gazetteers'),
        ('[tagger]\npatterns = ["a.toml"]', "patterns have no effect, because streams does not"),
        ("[loop]\niterations = 2.5", "iterations = 2.5: expected an integer, at least 0"),
        ("[tagger]\nc1 = inf", "c1 = inf: expected a finite number, at least 0"),
        ('[loop]\nkeep = "all"', 'keep = \'all\': expected "accumulate" or "relabel"'),
        ("[select]\nconfidence = 1.01", "confidence = 1.01: expected a finite number, 0 to 1"),
        ("[select]\nproportions = 1", "proportions = 1: expected true or false"),
        ("[data]\nseed = 3", "seed = 3: expected a string"),
        ("loop = 3", "loop must be a section"),
        ("[labels]\nNAME = 3", "[labels] must hold lines such as"),
        ("[labels]\nNAME = ''", "[labels] must hold lines such as"),
        ("[select]\nreference = 3", "[select.reference] must be a section"),
        ("[select.reference]\nempty = 0.5", "[select.reference] lacks per_token, length"),
        (REFERENCE.replace("0.003", "-1"), "expected a table of finite numbers, at least 0"),
        (REFERENCE.replace("length = { PERSON", "length = { AGE"), "must name the same classes"),
        ("[loop", "is not TOML"),
        (f"x = {'[' * 3000}{']' * 3000}", "is nested too deeply"),
        (f"[tagger]\nc2 = {'9' * 5000}", "has a key or a number of more than 1,000 characters"),
        (
            '[second_tagger]\nkind = "crf"\n[select]\nstrategy = "confident_spans"',
            "[second_tagger] has no effect with select.strategy",
        ),
        (
            '[loop]\niterations = 4\n[later_tagger]\nkind = "crf"\niteration = 5',
            "later_tagger.iteration = 5 is after the last iteration",
        ),
    ],
)
def test_what_is_wrong_is_named(file: Path, text: str, expected: str) -> None:
    message = refusal(file, text)
    assert expected in message
    assert str(file) in message


def test_a_file_that_is_not_there_or_not_text_is_named(file: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"run\.toml: No such file"):
        load_configuration(file)
    with pytest.raises(ConfigurationError, match="directory"):
        load_configuration(file.parent)
    file.write_bytes(b"[data]\nseed = '\xff'")
    with pytest.raises(ConfigurationError, match="is not TOML"):
        load_configuration(file)


def test_settings_on_the_command_line_replace_those_of_the_file(file: Path) -> None:
    found = load(
        file,
        "[loop]\niterations = 3\nbatch = 7",
        "loop.iterations=5",
        "select.confidence = 0.9",
        "select.confidence=0.95",
        "select.proportions=false",
        "loop.keep=relabel",
        'select.measure="min_marginal"',
        'tagger.features=["form", "prefix2"]',
        "loop.min_delta=0",
        "labels.NAME=PERSON",
        "data.text=note text",
        "select.reference.empty=0.5",
        "select.reference.per_token={PERSON = 0.01}",
        "select.reference.length={PERSON = 1}",
    )
    assert found.loop == LoopOptions(iterations=5, batch=7)
    assert type(found.loop.min_delta) is float
    assert found.select == SelectOptions(confidence=0.95, measure="min_marginal", proportions=False)
    assert found.tagger.options.features == ("form", "prefix2")
    assert found.labels == {"NAME": "PERSON"}
    assert found.data.text == "note text"
    assert found.reference == ReferenceOptions(0.5, {"PERSON": 0.01}, {"PERSON": 1})


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("loop.iterations", "expected SECTION.KEY=VALUE"),
        ("iterations=3", "expected SECTION.KEY=VALUE"),
        ("loop.iteration=3", 'the nearest is "iterations"'),
        ("loop.iterations.deep=3", "iterations is not a section"),
        ("select.confidence=0,9", "expected a finite number"),
    ],
)
def test_what_is_wrong_on_the_command_line_is_named(file, override, expected) -> None:
    assert expected in refusal(file, "[loop]\niterations = 3", override)


def test_paths_are_from_the_folder_of_the_file(tmp_path, monkeypatch) -> None:
    beside, here = tmp_path / "beside", tmp_path / "here"
    for folder in (beside, here):
        folder.mkdir()
    (here / "only_here").write_text("")
    monkeypatch.chdir(here)
    file = beside / "run.toml"

    def located(source: str, *overrides: str) -> str:
        return load(file, f"[data]\nseed = '{source}'", *overrides).data.seed

    assert located("a.jsonl") == str(beside / "a.jsonl")
    assert located("~0") == str(beside / "~0")
    # Whatever else has that name: a run of other notes than those meant would go unnoticed.
    assert located("only_here") == str(beside / "only_here")
    assert located("part*") == str(beside / "part*")
    assert located(str(here / "only_here")) == str(here / "only_here")
    # What is typed on the command line is relative to where it is typed.
    assert located("a.jsonl", "data.seed=b.jsonl") == str(here / "b.jsonl")
    assert located("a.jsonl", "data.seed=synthetic:9") == "synthetic:9"
    # A configuration named by a relative path is no different.
    monkeypatch.chdir(beside)
    assert load(Path("run.toml"), "").data.seed == str(beside / "seed.jsonl")


def test_each_source_may_have_column_names_of_its_own(file: Path) -> None:
    text = '[data]\ntext = "note"\nunlabeled_columns = { id = "noteid", text = "nota" }'
    data = load(file, text, "data.seed_columns.label=spans").data
    assert data.columns_of("seed") == Columns(text="note", label="spans")
    assert data.columns_of("validation") == Columns(text="note")
    assert data.columns_of("unlabeled") == Columns(id="noteid", text="nota")
    found = load(file, text)
    assert load(file, found.to_toml()) == found
    for wrong, message in (
        ('{ txt = "nota" }', '[data] seed_columns names a "txt"; expected id, text, label, group'),
        ("{ text = 3 }", 'expected a table of strings, such as { text = "nota", id = "noteid" }'),
        ('"nota"', 'expected a table of strings, such as { text = "nota", id = "noteid" }'),
    ):
        assert message in refusal(file, f"[data]\nseed_columns = {wrong}")


@pytest.mark.parametrize(
    "setting", ['[select]\nstrategy = "confident_spans"', "[loop]\npseudo_weight = 0.5"]
)
def test_what_only_one_engine_can_is_refused_with_the_other(file: Path, setting: str) -> None:
    assert load(file, setting)
    message = refusal(file, f'{setting}\n[tagger]\ntrainer = "crfsuite"')
    assert message.startswith(f"{file}: ")
    assert message.endswith('[tagger] kind = "crf" does not support with these options')


@pytest.mark.parametrize("measure", ["normalised", "min_marginal"])
def test_a_measure_of_documents_is_refused_where_spans_are_selected(file, measure) -> None:
    assert load(file, f'[select]\nmeasure = "{measure}"')
    assert load(file, '[select]\nstrategy = "confident_spans"\nmeasure = "probability"')
    message = refusal(file, '[select]\nstrategy = "confident_spans"', f"select.measure={measure}")
    assert message == (
        f'{file} with --set select.measure={measure}: select.measure = "{measure}" applies to '
        'whole documents and has no effect with select.strategy = "confident_spans"; remove it'
    )


def test_lists_are_checked_for_copies_and_for_strategies_that_use_them(file: Path) -> None:
    """A view of lists reads the files of [augment] without any copies."""
    own = file.parent / "own.parquet"
    for strategy in ("auto", *STRATEGIES):
        for copies in (0, 1):
            text = f'[augment]\ncopies = {copies}\ngazetteers = ["own.parquet"]\n'
            found = load(file, f'{text}[select]\nstrategy = "{strategy}"')
            if copies or uses_lists(strategy):
                assert found.training_files()["augment.gazetteers"] == [own]
                with pytest.raises(ConfigurationError, match=r"\[augment\] .*own\.parquet"):
                    found.check()
            else:
                assert "augment.gazetteers" not in found.training_files()
                found.check()


def test_the_tagger_of_each_iteration(file: Path) -> None:
    found = load(
        file,
        '[initial_model]\nkind = "divergence"\n[second_tagger]\nkind = "bilstm-crf"\n'
        'streams = []\n[later_tagger]\nkind = "ensemble"\niteration = 3\n'
        '[select]\nstrategy = "agreement"',
    )
    assert [found.tagger_of(number).kind for number in range(5)] == [
        "divergence",
        *("crf", "crf"),
        *("ensemble", "ensemble"),
    ]
    assert found.tagger_of(0) is found.initial_model
    assert found.tagger_of(1) is found.tagger
    assert found.kinds == ("crf", "divergence", "bilstm-crf", "ensemble")
    for number in range(5):
        second = found.second_tagger_of(number)
        assert second.kind == "bilstm-crf" and second.options.as_table()["streams"] == ()


def test_the_second_view_is_that_of_the_tagger_of_the_iteration(file: Path) -> None:
    found = load(file, '[later_tagger]\nkind = "bilstm-crf"\niteration = 2')
    assert found.second is None and found.later is not None
    first, later = found.second_tagger_of(1), found.second_tagger_of(2)
    assert (first.kind, first.options) == ("crf", found.tagger.options.second_view())
    assert (later.kind, later.options) == ("bilstm-crf", found.later.options.second_view())


@pytest.mark.parametrize("section", ["second_tagger", "later_tagger"])
def test_other_taggers_have_the_preset_of_the_tagger(file: Path, section: str) -> None:
    found = load(file, f'[{section}]\nkind = "crf"\nwindow = 1').as_dict()
    assert found[section]["clusters"] == "auto" and found[section]["window"] == 1
    again = load(file, load(file, f'[{section}]\nkind = "crf"\nwindow = 1').to_toml())
    assert again.as_dict() == found


@pytest.mark.parametrize("section", ["second_tagger", "later_tagger"])
def test_other_taggers_are_checked_as_the_tagger_is(file: Path, section: str) -> None:
    assert "window" in refusal(file, f"[{section}]\nwindow = 1")
    assert 'has no effect with kind = "tagger"' in refusal(file, f"[{section}]\nwindow = 1")
    assert "kind of [initial_model]" in refusal(file, f'[{section}]\nkind = "divergence"')
    assert f'no key in [{section}] "unknown"' in refusal(
        file, f'[{section}]\nkind = "crf"\nunknown = 1'
    )
    found = load(file, f'[{section}]\nkind = "crf"\nclusters = "nowhere"')
    with pytest.raises(ConfigurationError, match=rf"\[{section}\] .*nowhere"):
        found.check()
    assert f"{section}.clusters" in found.training_files()


def test_a_resource_of_two_taggers_is_reported_once(file, monkeypatch) -> None:
    found = load(file, '[later_tagger]\nkind = "crf"\nwindow = 1')
    monkeypatch.setattr(CRFOptions, "check", lambda self: [Coverage("a cluster", len)])
    assert [each.of for each in found.check()] == ["a cluster"]

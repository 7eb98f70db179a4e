"""The members of an ensemble in a configuration."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from bootstrap.config.configuration import ConfigurationError, parse_configuration
from bootstrap.config.overrides import Source
from bootstrap.config.settings import commented_template, setting_rows
from gazetteers.builtin import CENSUS
from taggers import CRFOptions
from taggers.ensemble.ensemble_options import DEFAULT_MEMBERS, EnsembleOptions, Member
from tests.bootstrap.config.conftest import load, refusal
from tests.taggers.conftest import plain

TWO = """
[tagger]
kind = "ensemble"
members = [{ kind = "crf" }, { kind = "crf", window = 1, features = ["lower", "shape"] }]
"""


def of(*options: CRFOptions) -> EnsembleOptions:
    return EnsembleOptions(tuple(Member("crf", member) for member in options))


def test_members_receive_the_values_of_the_preset(file: Path) -> None:
    small = {"window": 1, "features": ("lower", "shape")}
    found = load(file, TWO)
    assert found.tagger.kind == "ensemble"
    assert found.tagger.options == of(CRFOptions(), CRFOptions(**small))
    for section in ("tagger", "second_tagger", "later_tagger"):
        text = TWO.replace("[tagger]", f"[{section}]") + '[select]\nstrategy = "agreement"\n'
        found = load(file, text + '[loop]\npreset = "paper"')
        members = of(plain(CRFOptions), plain(CRFOptions, **small))
        assert found.taggers()[section].options == members


def test_a_member_keeps_the_values_that_it_names(file: Path) -> None:
    text = '[tagger]\nkind = "ensemble"\nmembers = [{ kind = "crf", names = [], clusters = "" }]'
    assert load(file, text).tagger.options == of(CRFOptions(names=(), clusters=""))


def test_members_can_be_sections(file: Path) -> None:
    text = (
        '[tagger]\nkind = "ensemble"\n[[tagger.members]]\nkind = "crf"\nstreams = ["colon"]\n'
        '[[tagger.members]]\nkind = "crf"\n'
    )
    assert load(file, text).tagger.options == of(CRFOptions(streams=("colon",)), CRFOptions())


def test_written_and_read_again_it_is_the_same(file: Path, tmp_path: Path) -> None:
    text = TWO.replace("window = 1", "window = 1, phrases = ['a.parquet'], patterns = ['a.toml']")
    text = text.replace('"shape"]', '"shape"], streams = ["patterns"]')
    for preset in ("auto", "paper"):
        first = load(file, f'{text}[loop]\npreset = "{preset}"')
        tables = tomllib.loads(first.to_toml())
        assert tables == first.as_dict()
        assert len(tables["tagger"]["members"][1]) == len(plain(CRFOptions).as_table()) + 1
        assert parse_configuration(tables, Source("other.toml", Path("/elsewhere"))) == first


def test_paths_of_members_are_relative_to_the_file_or_for_overrides_to_the_current_folder(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = '{ kind = "crf", clusters = "emb", names = ["census-es", "n.parquet"] }'

    def paths(*overrides: str) -> dict[str, list[str]]:
        found = load(file, f'[tagger]\nkind = "ensemble"\nmembers = [{table}]', *overrides)
        (member,) = found.tagger.options.members  # type: ignore[attr-defined]
        return {"clusters": member.options.clusters, "names": member.options.names}

    folder = file.parent
    expected = {"clusters": str(folder / "emb"), "names": (CENSUS, str(folder / "n.parquet"))}
    assert paths() == expected
    expected = {"clusters": str(tmp_path / "emb"), "names": (CENSUS, str(tmp_path / "n.parquet"))}
    assert paths(f"tagger.members=[{table}]") == expected


def test_files_of_members_are_fingerprinted(file: Path) -> None:
    text = TWO.replace("window = 1", "window = 1, phrases = ['a.parquet']")
    found = load(file, text).training_files()
    assert found["tagger.members[2].phrases"] == [file.parent / "a.parquet"]
    assert "tagger.members[1].phrases" not in found  # which has a builtin list


def test_what_a_run_needs_is_asked_of_the_members(file: Path) -> None:
    found = load(file, TWO)
    assert found.augment.copies > 0
    found = load(file, TWO.replace("window = 1", 'trainer = "crfsuite"'))
    assert found.augment.copies == 0
    text = TWO.replace("window = 1", 'trainer = "crfsuite"') + "[augment]\ncopies = 1"
    needed = 'copies other than 0 needs document weights, which [tagger] kind = "ensemble"'
    assert needed in refusal(file, text)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ("3", "members = 3: expected a list of tables, such as [{ kind ="),
        ("['crf']", "members = ['crf']: expected a list of tables"),
        ("[]", "members is empty: expected at least one"),
        ("[{ window = 1 }]", "members[1]: kind is missing; expected a kind of tagger"),
        ("[{ kind = 'a.b:C' }]", 'members[1]: kind = "a.b:C" is an import path'),
        ("[{ kind = 'crf' }, { kind = 'crf', window = -1 }]", "members[2]: window = -1: expected"),
        (
            "[{ kind = 'crf' }, { kind = 'crf', featurs = ['form'] }]",
            'there is no key in [tagger] members[2] "featurs"; the nearest is "features"',
        ),
    ],
)
def test_a_mistake_in_a_member_is_one_line_that_names_it(file, members, expected) -> None:
    for text, overrides, origin in (
        (f'[tagger]\nkind = "ensemble"\nmembers = {members}', (), str(file)),
        ('[tagger]\nkind = "ensemble"', (f"tagger.members={members}",), "--set tagger.members="),
    ):
        message = refusal(file, text, *overrides)
        assert expected in message and "[tagger]" in message and origin in message


def test_members_are_no_setting_of_other_kinds(file: Path) -> None:
    with pytest.raises(ConfigurationError, match=r'no key in \[tagger\] "members"'):
        load(file, "[tagger]\nmembers = []")
    with pytest.raises(ConfigurationError, match=r'no key in \[tagger\] "window"'):
        load(file, TWO + "window = 2")
    with pytest.raises(ConfigurationError, match="needs annotated documents: it is a kind of"):
        load(file, '[initial_model]\nkind = "ensemble"')


def test_the_template_and_the_reference_show_the_default_members() -> None:
    (row,) = (row for row in setting_rows() if row.kind == "ensemble")
    assert (row.section, row.key, row.type) == ("tagger", "members", "list of tables")
    expected = [member.as_table() for member in DEFAULT_MEMBERS]
    assert tomllib.loads(f"x = {row.default}")["x"] == expected
    assert f"# members = {row.default}\n" in commented_template()
    assert '# With kind = "ensemble" (bootstrap help ensembles):' in commented_template()

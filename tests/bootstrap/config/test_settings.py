"""The list of all settings, of which the template and the documentation are made."""

from __future__ import annotations

import tomllib
from pathlib import Path

from bootstrap.config.configuration import load_configuration
from bootstrap.config.settings import setting_rows
from bootstrap.config.tagger_sections import SEED


def test_every_setting_of_a_run_is_listed_with_its_default(tmp_path: Path) -> None:
    required = {"gold", "budget"}  # of the section [active], if there is one
    (tmp_path / "run.toml").write_text('[active]\ngold = "gold.jsonl"\nbudget = 500')
    configuration = load_configuration(tmp_path / "run.toml").as_dict()
    rows = {(row.section, row.key): row for row in setting_rows() if row.kind in ("", "crf")}
    paths = {("data", split) for split in ("seed", "validation", "unlabeled")}
    for section, table in configuration.items():
        for key, value in table.items():
            row = rows.pop((section, key))
            if section == "active" and key in required:
                assert row.default == ""
                continue
            default = tomllib.loads(f"x = {row.default}")["x"]
            if (section, key) in paths:
                assert value == str(tmp_path / default)
            else:
                assert value == default
    assert {section for section, _ in rows} == {"select.reference"}


def test_settings_of_initial_models_are_listed_by_their_kind(tmp_path: Path) -> None:
    for kind in ("divergence", "dictionary"):
        rows = [row for row in setting_rows() if row.kind == kind]
        assert {row.section for row in rows} == {"initial_model"}
        lines = [f"{row.key} = {row.example or row.default}" for row in rows]
        text = f'[initial_model]\nkind = "{kind}"\n' + "\n".join(lines)
        (tmp_path / "run.toml").write_text(text)
        found = load_configuration(tmp_path / "run.toml").as_dict()["initial_model"]
        assert found.keys() == {"kind", *(row.key for row in rows)}
        assert found["kind"] == kind != SEED


def test_every_setting_has_a_type_and_a_help_of_one_line() -> None:
    for row in setting_rows():
        assert row.type and row.help, row
        assert "\n" not in row.help
        assert row.default or row.example, row
    types = {(row.section, row.key): row.type for row in setting_rows()}
    assert types["loop", "keep"] == '"accumulate" or "relabel"'
    assert types["data", "unit"] == '"document", "line" or "sentence"'
    assert types["tagger", "rules"] == "table of strings"
    assert types["loop", "propagate"] == "list of strings"
    assert types["loop", "min_delta"] == "number, at least 0"
    assert types["select", "confidence"] == "number, 0 to 1"

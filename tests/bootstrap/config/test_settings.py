"""The list of all settings, of which the template and the documentation are made."""

from __future__ import annotations

import tomllib
from pathlib import Path

from bootstrap.config.configuration import load_configuration
from bootstrap.config.settings import setting_rows


def test_every_setting_of_a_run_is_listed_with_its_default(tmp_path: Path) -> None:
    required = {"gold", "budget"}  # of the section [active], if there is one
    (tmp_path / "run.toml").write_text('[active]\ngold = "gold.jsonl"\nbudget = 500')
    configuration = load_configuration(tmp_path / "run.toml").as_dict()
    rows = {(row.section, row.key): row for row in setting_rows() if row.kind in ("", "crf")}
    paths = {("data", split) for split in ("seed", "unlabeled")}
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

"""The code in the documentation is code that works: commands, settings and Python."""

import json
import re
import sys
import tomllib
from types import ModuleType

import pytest

from anonymizers.policy import read_policy
from gazetteers.grammar import Grammar
from taggers.patterns.tables import read_patterns
from tests.docs.conftest import BLOCKS, PAGES, ROOT

_SETTING = re.compile(
    r"\b(?P<section>data|initial_model|tagger|loop|select(?:\.reference)?)\.(?P<key>[a-z_0-9]+)="
)
_SECTION_KEY = re.compile(r"`\[(?P<section>[a-z_.]+)\] (?P<key>[a-z_0-9]+)")
_INLINE_COMMAND = re.compile(r"`bootstrap (?P<name>[a-z]+)(?: (?P<nested>[a-z]+))?")


def test_python_compiles():
    for block in BLOCKS:
        if block.language == "python":
            compile(block.code, block.place, "exec")


def test_runnable_python_runs(runnable_block, tmp_path, monkeypatch):
    if "import keras" in runnable_block.code:
        pytest.importorskip("keras", exc_type=ImportError)
    module = ModuleType("documentation_example")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.chdir(tmp_path)
    exec(compile(runnable_block.code, runnable_block.place, "exec"), module.__dict__)


def test_toml_is_what_its_page_says(toml_block, hooks, tmp_path):
    tables = tomllib.loads(toml_block.code)
    if "kinds" in tables:
        (tmp_path / "grammar.toml").write_text(toml_block.code, encoding="utf-8")
        Grammar.read(tmp_path / "grammar.toml")
        return
    if "pattern" in tables:
        (tmp_path / "patterns.toml").write_text(toml_block.code, encoding="utf-8")
        read_patterns([str(tmp_path / "patterns.toml")])
        return
    if "operators" in tables:
        (tmp_path / "policy.toml").write_text(toml_block.code, encoding="utf-8")
        read_policy(str(tmp_path / "policy.toml"))
        return
    if "project" in tables or ":" in tables.get("tagger", {}).get("kind", ""):
        return  # of a package, or with a tagger that is not installed here
    hooks.check_configuration(tables)


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "experiments").glob("*.toml")))
def test_experiment_files_are_valid_and_name_their_command(path, hooks):
    text = path.read_text(encoding="utf-8")
    hooks.check_configuration(tomllib.loads(text))
    assert f"#     bootstrap experiment docs/experiments/{path.name}\n" in text


def test_commands_parse(command, hooks):
    if command[0] == "bootstrap" and "--version" not in command and "--help" not in command:
        hooks.parse_command(command[1:])
    elif command[0] == "python":
        assert (ROOT / command[1]).is_file()
    elif command[0] == "make":
        assert f"\n{command[1]}:" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_settings_and_commands_named_in_prose_exist(hooks, setting_keys):
    known = hooks.command_parser().commands
    unknown = []
    for page in PAGES:
        text, past = page.read_text(encoding="utf-8"), page.name == "CHANGELOG.md"
        # The changelog names keys and commands of earlier versions.
        settings = _SETTING.findall(text) + ([] if past else _SECTION_KEY.findall(text))
        unknown += [key for key in settings if key[1] not in setting_keys.get(key[0], ())]
        for name, nested in [] if past else _INLINE_COMMAND.findall(text):
            nested_commands = known[name].commands if name in known else {}
            if name not in known or (nested and nested_commands and nested not in nested_commands):
                unknown.append((name, nested))
    assert unknown == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")))
def test_a_notebook_is_executed_without_an_error(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    for cell in code:
        compile("".join(cell["source"]), path.name, "exec")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    kinds = {output["output_type"] for cell in code for output in cell["outputs"]}
    assert "error" not in kinds

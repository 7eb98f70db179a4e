"""The code in the documentation is code that works: commands, settings and Python."""

import argparse
import json
import re
import sys
import tomllib
from types import ModuleType

import pytest

from taggers.augmentation.grammar import Grammar
from tests.docs.conftest import ROOT

_SETTING = re.compile(
    r"\b(?P<section>data|initial_model|tagger|loop|select(?:\.reference)?)\.(?P<key>[a-z_0-9]+)="
)
_SECTION_KEY = re.compile(r"`\[(?P<section>[a-z_.]+)\] (?P<key>[a-z_0-9]+)")
_INLINE_COMMAND = re.compile(r"`bootstrap (?P<name>[a-z]+)(?: (?P<nested>[a-z]+))?")


def test_python_compiles(python_block):
    compile(python_block.code, python_block.place, "exec")


def test_runnable_python_runs(runnable_block, tmp_path, monkeypatch):
    if "import keras" in runnable_block.code:
        pytest.importorskip("keras", exc_type=ImportError)
    module = ModuleType("documentation_example")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.chdir(tmp_path)
    exec(compile(runnable_block.code, runnable_block.place, "exec"), module.__dict__)


def test_toml_is_a_configuration_or_a_grammar(toml_block, hooks, tmp_path):
    tables = tomllib.loads(toml_block.code)
    if "kinds" in tables:
        (tmp_path / "grammar.toml").write_text(toml_block.code, encoding="utf-8")
        Grammar.read(tmp_path / "grammar.toml")
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


def test_settings_named_by_their_full_names_exist(page, setting_keys):
    named = _SETTING.findall(page.read_text(encoding="utf-8"))
    unknown = [key for key in named if key[1] not in setting_keys.get(key[0], ())]
    assert [".".join(key) for key in unknown] == []


def test_settings_named_with_their_section_exist(page, setting_keys):
    if page.name == "CHANGELOG.md":
        return  # it names the keys of earlier versions
    named = _SECTION_KEY.findall(page.read_text(encoding="utf-8"))
    assert [key for key in named if key[1] not in setting_keys.get(key[0], ())] == []


def test_commands_named_in_prose_exist(page, hooks):
    known = command_names(hooks.command_parser())
    if page.name == "CHANGELOG.md":
        return  # it names the commands of earlier versions
    for name, nested in _INLINE_COMMAND.findall(page.read_text(encoding="utf-8")):
        assert name in known, name
        if nested and known[name]:
            assert nested in known[name], f"{name} {nested}"


def command_names(parser: argparse.ArgumentParser) -> dict[str, set[str]]:
    """Return the commands by name, each with its subcommands."""
    return {name: set(subcommands(child).keys()) for name, child in subcommands(parser).items()}


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    nested = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    return {name: child for action in nested for name, child in action.choices.items()}


def notebooks():
    return sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.name)
def test_a_notebook_is_executed_without_an_error(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    for cell in code:
        compile("".join(cell["source"]), path.name, "exec")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    kinds = {output["output_type"] for cell in code for output in cell["outputs"]}
    assert "error" not in kinds

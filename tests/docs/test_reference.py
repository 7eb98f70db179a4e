"""The generated reference is complete, and what help texts point to exists."""

import re
import tomllib

import msgspec
import pytest

from bootstrap.active_learning.queries import QUERIES
from bootstrap.cli.commands.help import documentation_folder, find_topics, read_topic, title_of
from bootstrap.config.settings import commented_template
from bootstrap.selection.strategies import STRATEGIES
from corpus.errors import InputError
from taggers.patterns.pattern import CHECKS, FRAGMENTS, Pattern
from taggers.patterns.tables import IDENTIFIERS, read_patterns
from tests.docs.conftest import ROOT


def test_every_setting_is_in_the_reference_with_help(hooks):
    page = hooks.settings_page()
    for row in hooks.setting_rows():
        assert f"## [{row.section}]" in page
        assert f"| `{row.key}` |" in page
        assert row.type and row.help


def test_strategies_and_queries_are_in_the_reference_and_on_their_pages(hooks):
    """Nothing else lists them, so that one more is three files."""
    rows = {(row.section, row.key): row for row in hooks.setting_rows()}
    tables = {
        "self-training": (rows["select", "strategy"], STRATEGIES),
        "active-learning": (rows["active", "query"], QUERIES),
    }
    for page, (row, table) in tables.items():
        text = (ROOT / f"docs/explanation/{page}.md").read_text(encoding="utf-8")
        for name in table:
            assert f'"{name}"' in row.type and f'"{name}"' in row.help
            assert f"| `{name}` |" in text


def test_the_page_of_strategies_names_those_that_auto_compares():
    page = (ROOT / "docs/explanation/self-training.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| `auto` \|([^|]+)\|", page, re.MULTILINE)
    compared = [name for name, kind in STRATEGIES.items() if kind.compared is not None]
    assert re.findall(r"`(\w+)`", row) == compared


def test_pages_name_the_defaults_that_settings_have(hooks):
    rows = {(row.section, row.key): row.default for row in hooks.setting_rows()}
    page = (ROOT / "docs/howto/large-corpora.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `\[(\w+)\] (\w+)` \| `([^`]+)` \|", page, re.MULTILINE)
    assert len(named) == 3
    for section, key, default in named:
        assert rows[section, key] == default


def test_every_argument_of_every_command_is_in_the_reference_with_help(hooks):
    page = hooks.commands_page()
    for parser in all_parsers(hooks.command_parser()):
        assert f"## {parser.prog}\n" in page
        for action in parser.arguments:
            assert action.help, f"{parser.prog}: {action.dest}"
            assert all(f"`{name}`" in page for name in action.option_strings)


def all_parsers(parser):
    yield parser
    for command in parser.commands.values():
        yield from all_parsers(command)


def test_help_texts_name_topics_that_exist(hooks):
    texts = [row.help for row in hooks.setting_rows()]
    texts.append(commented_template())
    for parser in all_parsers(hooks.command_parser()):
        texts += [parser.description or "", *(str(action.help) for action in parser.arguments)]
    together = "\n".join(texts)
    assert re.findall(r"docs/\w+", together) == []  # an installed package has no such folder
    assert set(re.findall(r"bootstrap help ([\w-]+)", together)) <= set(find_topics())


def test_topics_are_pages_with_titles():
    topics = find_topics()
    assert {"gazetteers", "embeddings", "patterns", "features", "glossary"} <= set(topics)
    assert all(title_of(page) for page in topics.values())
    assert read_topic("glossary").startswith("# Glossary")


def test_generated_pages_are_no_topics():
    assert not {"settings", "commands", "python-api", "quickstart"} & set(find_topics())


def test_an_unknown_topic_is_an_error_that_names_the_topics():
    with pytest.raises(InputError, match=r'no topic "taggers".*glossary'):
        read_topic("taggers")


def test_a_wheel_holds_the_documentation_where_it_is_looked_for():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert "docs" in wheel["only-include"]
    assert wheel["sources"] == {"docs": "bootstrap/docs"}
    assert documentation_folder() == ROOT / "docs"


def test_checks_fragments_and_classes_of_patterns_are_on_their_page():
    page = (ROOT / "docs/reference/patterns.md").read_text(encoding="utf-8")
    fragments = [f"{{{name}}}" for name in FRAGMENTS]
    classes = [pattern.label for pattern in read_patterns((IDENTIFIERS,))]
    keys = [field.encode_name for field in msgspec.structs.fields(Pattern)]
    names = [*CHECKS, *fragments, *classes, *keys]
    assert [name for name in names if f"`{name}`" not in page] == []

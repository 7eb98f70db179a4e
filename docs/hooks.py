"""Reference pages built from the code when the site is built.

MkDocs calls `on_page_markdown` for each page. A page holds a marker such as ``<!-- settings -->``
where the reference of the settings, of the commands or the content of a notebook is inserted. The
tests of the documentation take the parser and the settings from here, too.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

_DOCS = Path(__file__).resolve().parent
_NOTEBOOK = re.compile(r"<!-- notebook: (?P<name>[\w-]+\.ipynb) -->")


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting of the configuration file, as texts.

    Parameters
    ----------
    section, key : str
        ``[section] key``.
    kind : str
        The kind of tagger that has the setting; empty if every run has it.
    type, default, help : str
        In plain English, as TOML, and its meaning.
    """

    section: str
    key: str
    kind: str
    type: str
    default: str
    help: str


def command_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    from bootstrap.cli.main import build_parser

    return build_parser()


def parse_command(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse a command line as the program does; a usage error raises SystemExit."""
    from bootstrap.cli.main import _joined, build_parser

    return build_parser().parse_args(_joined(arguments))


def setting_rows() -> list[SettingRow]:
    """Return every setting in the order of the configuration file."""
    from bootstrap.config.configuration import DataOptions, ReferenceOptions
    from bootstrap.config.options import LoopOptions, SelectOptions, StartOptions
    from taggers import OPTIONS, START_OPTIONS

    return [
        *_rows("data", DataOptions),
        *(row for kind, each in START_OPTIONS.items() for row in _rows("start", each, kind)),
        *_rows("start", StartOptions),
        *(row for kind, each in OPTIONS.items() for row in _rows("tagger", each, kind)),
        *_rows("loop", LoopOptions),
        *_rows("select", SelectOptions),
        *_rows("select.reference", ReferenceOptions),
    ]


def check_configuration(tables: Mapping[str, Any]) -> None:
    """Raise an error if tables read from TOML are not a valid configuration."""
    from bootstrap.config.configuration import parse_configuration

    parse_configuration(tables, Path(), "the example")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the markers of a page by what is generated from the code."""
    generated: dict[str, Callable[[], str]] = {
        "<!-- commands -->": commands_page,
        "<!-- settings -->": settings_page,
    }
    for marker, generate in generated.items():
        if marker in markdown:
            markdown = markdown.replace(marker, generate())
    return _NOTEBOOK.sub(lambda found: notebook_page(found["name"]), markdown)


def commands_page() -> str:
    """Return the reference of all commands as Markdown."""
    return "\n".join(_command_lines(command_parser()))


def _command_lines(parser: argparse.ArgumentParser, depth: int = 0) -> Iterator[str]:
    """Yield the reference of a command, then those of its subcommands."""
    yield from (f"## {parser.prog}", "", parser.description or "", "")
    yield from ("```text", parser.format_usage().strip(), "```", "")
    # The options that all commands have stand with the program alone.
    shown = [each for each in parser._actions if not depth or each not in _general(parser)]
    rows = [_argument_row(each, parser) for each in shown if _is_documented(each)]
    if rows:
        yield from ("| argument | meaning |", "|---|---|", *rows, "")
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in dict.fromkeys(action.choices.values()):
                yield from _command_lines(child, depth + 1)


def _general(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the options of a parser that every command has."""
    groups = (each for each in parser._action_groups if each.title == "general options")
    return [action for group in groups for action in group._group_actions]


def _is_documented(action: argparse.Action) -> bool:
    special = (argparse._SubParsersAction, argparse._HelpAction)
    return not isinstance(action, special) and action.help is not argparse.SUPPRESS


def _argument_row(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    """Return the row of an argument in the table of its command."""
    value = str(action.metavar or action.dest.upper())
    if action.choices is not None:
        value = ", ".join(map(str, action.choices))
    names = ", ".join(f"`{name}`" for name in action.option_strings) or f"`{value}`"
    if action.option_strings and action.nargs != 0:
        names = f"{names} {value}"
    meaning = parser._get_formatter()._expand_help(action) if action.help else ""
    if action.option_strings and action.required:
        meaning = f"{meaning} (required)"
    return f"| {_cell(names)} | {_cell(meaning)} |"


def settings_page() -> str:
    """Return the reference of all settings as Markdown."""
    return "\n".join(_setting_lines())


def _setting_lines() -> Iterator[str]:
    heading = ""
    for row in setting_rows():
        title = f'[{row.section}], kind = "{row.kind}"' if row.kind else f"[{row.section}]"
        if title != heading:
            heading = title
            yield from (
                "",
                f"## {title}",
                "",
                "| key | type | default | meaning |",
                "|---|---|---|---|",
            )
        default = f"`{row.default}`" if row.default else "required"
        yield f"| `{row.key}` | {_cell(row.type)} | {_cell(default)} | {_cell(row.help)} |"
    yield ""


def _rows(section: str, options: type[Any], kind: str = "") -> list[SettingRow]:
    hints = get_type_hints(options)
    return [
        SettingRow(
            section,
            item.name,
            kind,
            f"{_type_name(hints[item.name])}{_limits(item.metadata)}",
            _setting_default(item),
            item.metadata.get("help", ""),
        )
        for item in fields(options)
    ]


def _type_name(kind: Any) -> str:
    """Return the name of a setting's type in the words of TOML."""
    if get_origin(kind) is Literal:
        return " or ".join(f'"{choice}"' for choice in get_args(kind))
    if get_origin(kind) is tuple:
        return "list of strings"
    if get_origin(kind) is not None and issubclass(get_origin(kind), Mapping):
        values = "strings" if get_args(kind)[1] is str else "numbers"
        return f"table of {values}"
    names = {str: "string", int: "integer", float: "number", bool: "boolean"}
    return names.get(kind, str(kind))


def _limits(metadata: Mapping[str, Any]) -> str:
    least, most = metadata.get("least"), metadata.get("most")
    if least is not None and most is not None:
        return f", {least} to {most}"
    if least is not None:
        return f", at least {least}"
    return f", at most {most}" if most is not None else ""


def _setting_default(item: Any) -> str:
    """Return the default of a setting as TOML; an empty text if it has none."""
    if item.default is MISSING and item.default_factory is MISSING:
        return ""
    value = item.default if item.default is not MISSING else item.default_factory()
    if isinstance(value, Mapping):
        return "{}"
    shown = list(value) if isinstance(value, tuple) else value
    return json.dumps(shown, ensure_ascii=False)  # as in TOML, for these types


def _cell(text: str) -> str:
    """Return a text that can stand in a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def notebook_page(name: str) -> str:
    """Return the cells of a notebook and their outputs as Markdown."""
    notebook = json.loads((_DOCS / "notebooks" / name).read_text(encoding="utf-8"))
    return "\n\n".join(text for cell in notebook["cells"] for text in _cell_texts(cell))


def _cell_texts(cell: Mapping[str, Any]) -> Iterator[str]:
    """Yield the source of a cell, then each of its outputs."""
    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        yield from _output_texts(output)


def _output_texts(output: Mapping[str, Any]) -> Iterator[str]:
    data = output.get("data", {})
    if "image/png" in data:
        yield f"![output](data:image/png;base64,{''.join(data['image/png']).strip()})"
    else:
        text = "".join(output.get("text", data.get("text/plain", "")))
        yield f"```text\n{text.rstrip()}\n```"

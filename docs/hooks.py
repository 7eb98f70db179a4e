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
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bootstrap.cli.arguments import CommandParser
    from bootstrap.config.settings import SettingRow

_DOCS = Path(__file__).resolve().parent
_NOTEBOOK = re.compile(r"<!-- notebook: (?P<name>[\w-]+\.ipynb) -->")


def command_parser() -> CommandParser:
    """Return the parser of the command line."""
    from bootstrap.cli.parser import build_parser

    return build_parser()


def parse_command(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse a command line as the program does; a usage error raises SystemExit."""
    return command_parser().parse_args(arguments)


def setting_rows() -> list[SettingRow]:
    """Return the settings in the order of the configuration file, then of experiments."""
    from bootstrap.config import settings

    return [*settings.setting_rows(), *settings.experiment_rows()]


def check_configuration(tables: Mapping[str, Any]) -> None:
    """Raise an error if tables read from TOML are not a configuration or an experiment."""
    from bootstrap.config.configuration import parse_configuration
    from bootstrap.config.overrides import Source
    from bootstrap.experiments.configurations import check_variants
    from bootstrap.experiments.plan import OWN_SECTIONS, parse_plan

    source = Source("the example", Path())
    if any(section in tables for section in OWN_SECTIONS):
        check_variants(parse_plan(tables, source))
    else:
        parse_configuration(tables, source)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the markers of a page by what is generated from the code."""
    generated: dict[str, Callable[[], str]] = {
        "<!-- commands -->": commands_page,
        "<!-- settings -->": settings_page,
    }
    for marker, generate in generated.items():
        if marker in markdown:
            markdown = markdown.replace(marker, generate())
    return _NOTEBOOK.sub(lambda marker: notebook_page(marker["name"]), markdown)


def commands_page() -> str:
    """Return the reference of all commands as Markdown."""
    return "\n".join(_command_lines(command_parser()))


def _command_lines(parser: CommandParser) -> Iterator[str]:
    """Yield the reference of a command, then the references of its subcommands."""
    yield from (f"## {parser.prog}", "", parser.description or "", "")
    yield from ("```text", parser.format_usage().strip(), "```", "")
    # The options that all commands have stand with the program alone.
    general = parser.general if parser.prog == "bootstrap" else []
    if rows := [_argument_row(action) for action in (*general, *parser.arguments)]:
        yield from ("| argument | meaning |", "|---|---|", *rows, "")
    for command in parser.commands.values():
        yield from _command_lines(command)


def _argument_row(action: argparse.Action) -> str:
    """Return the row of an argument in the table of its command."""
    value = str(action.metavar or action.dest.upper())
    if action.choices is not None:
        value = ", ".join(map(str, action.choices))
    names = ", ".join(f"`{name}`" for name in action.option_strings) or f"`{value}`"
    if action.option_strings and action.nargs != 0:
        names = f"{names} {value}"
    required = " (required)" if action.option_strings and action.required else ""
    return f"| {_cell(names)} | {_cell(f'{action.help}{required}')} |"


def settings_page() -> str:
    """Return the reference of all settings as Markdown."""
    return "\n".join(_setting_lines())


def _setting_lines() -> Iterator[str]:
    heading = ""
    for row in setting_rows():
        title = f"[{row.section}]{_of_kind(row.kind)}"
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


def _of_kind(kind: str) -> str:
    """Return the part of a heading that names the kind of a setting."""
    from bootstrap.config.settings import OTHER_KINDS

    if not kind:
        return ""
    return f", {kind}" if kind == OTHER_KINDS else f', kind = "{kind}"'


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

"""``bootstrap help``, ``init`` and ``completion``: what helps people to use the program."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import shtab
from rich.markdown import Markdown

from bootstrap.cli.arguments import CommandParser
from bootstrap.cli.console import output, print_lines
from bootstrap.config.settings import SHORT_TEMPLATE, commented_template
from corpus.errors import InputError
from corpus.storage.atomic import new_file

_PACKAGE = Path(__file__).resolve().parents[2]
#: Markers of pages whose content is generated when the site is built.
_GENERATED = ("<!-- commands -->", "<!-- settings -->", "<!-- notebook", "\n::: ")

#: Arguments that are not of the type Path, but may name a file.
_FILES = ("source", "gold", "predicted")


def main(options: argparse.Namespace) -> None:
    """Print the topics, or the page of one: formatted on a terminal, as Markdown elsewhere."""
    if options.topic is None:
        for topic, page in find_topics().items():
            output.print(f"{topic:28}{title_of(page)}")
        return
    page_text = read_topic(options.topic)
    if output.is_terminal:
        output.print(Markdown(page_text))
    else:
        output.print(page_text)


def documentation_folder() -> Path:
    """Return the folder of the documentation, in an installed package or in a checkout."""
    for folder in (_PACKAGE / "docs", _PACKAGE.parent / "docs"):
        if (folder / "index.md").is_file():
            return folder
    raise InputError("the documentation is not installed; `pip install` of a wheel includes it")


def find_topics() -> dict[str, Path]:
    """Return the pages that can be read as text, by the names of their files, in that order."""
    pages = sorted(documentation_folder().rglob("*.md"), key=lambda page: page.stem)
    return {page.stem: page for page in pages if not _is_generated(page)}


def _is_generated(page: Path) -> bool:
    text = page.read_text(encoding="utf-8")
    return any(mark in text for mark in _GENERATED)


def title_of(page: Path) -> str:
    """Return the title of a page: its first heading."""
    with page.open(encoding="utf-8") as lines:
        return next((line[2:].strip() for line in lines if line.startswith("# ")), page.stem)


def read_topic(topic: str) -> str:
    """Return the page of a topic as Markdown; an unknown topic raises an `InputError`."""
    topics = find_topics()
    if topic not in topics:
        raise InputError(f'there is no topic "{topic}"; the topics are {", ".join(topics)}')
    return topics[topic].read_text(encoding="utf-8")


def init(options: argparse.Namespace) -> None:
    """Write ``config.toml`` into a folder; an existing one is not overwritten."""
    path = options.folder / "config.toml"
    with new_file(path) as file:
        file.write((commented_template() if options.all else SHORT_TEMPLATE).encode())
    content = "every setting with its default" if options.all else "the settings to start from"
    print_lines(
        f"{path} has {content}.",
        "Set the paths of your notes in [data], then:",
        f"  bootstrap check {path}",
        f"  bootstrap run {path} --out runs/NAME",
    )


def completion(options: argparse.Namespace) -> None:
    """Print the completion script of a shell."""
    _complete_files(options.root)
    sys.stdout.write(shtab.complete(options.root, options.shell) + "\n")


def _complete_files(parser: CommandParser) -> None:
    """Mark the arguments of all commands that are files and folders, for `shtab`."""
    for action in parser.arguments:
        if action.type is Path or action.dest in _FILES:
            is_folder = action.metavar in ("DIR", "RUN")
            action.complete = (  # type: ignore[attr-defined]
                shtab.DIRECTORY if is_folder else shtab.FILE
            )
    for command in parser.commands.values():
        _complete_files(command)

"""Arguments that several commands share, and the parser class of all commands.

Every command imports this module for its arguments, so it imports nothing that is slow to load.
"""

from __future__ import annotations

import argparse
import csv
import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, TypeVar

from corpus.errors import escaped
from corpus.formats.table import FORMATS

#: The normalisations of words; see `taggers.embeddings.listing`.
NORMALISATIONS = ("none", "lower", "unaccented", "digits")
#: The parts of a note that a column or key may hold.
PARTS = ("id", "text", "label", "group")

T = TypeVar("T")

_GENERAL = "general options"


class _HelpFormatter(argparse.HelpFormatter):
    """Help whose first column is wide enough for the names of commands."""

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):  # their indentation is not counted
            self._action_max_length += self._indent_increment


class CommandParser(argparse.ArgumentParser):
    """The parser of a command, with the general options; options cannot be abbreviated."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_HelpFormatter, **options)
        _add_general(self)

    def format_help(self) -> str:
        """Return the help, with the options of every command last."""
        self._action_groups.sort(key=lambda group: group.title == _GENERAL)  # comes last
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        super().error(escaped(message))

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse arguments, and report unknown ones with the usage of their command."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:  # reported with the usage of the command, not with that of the program
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return options, unknown


Commands: TypeAlias = "argparse._SubParsersAction[CommandParser]"


def add_commands(parser: CommandParser) -> Commands:
    """Add subcommands to a parser; without one of them its help is printed."""
    parser.set_defaults(main=None, parser=parser)
    return parser.add_subparsers(metavar="COMMAND", title="commands")


def add_group(commands: Commands, name: str, summary: str) -> Commands:
    """Add a command that has only subcommands."""
    return add_commands(_added(commands, name, summary))


def add_command(
    commands: Commands, name: str, main: Callable[[argparse.Namespace], None], summary: str
) -> CommandParser:
    """Add a command; the summary is a line in lower case and without a full stop."""
    parser = _added(commands, name, summary)
    parser.set_defaults(main=main, parser=parser)
    return parser


def _added(commands: Commands, name: str, summary: str) -> CommandParser:
    description = summary[0].upper() + summary[1:] + "."
    return commands.add_parser(name, help=summary, description=description)


# General options


class _Version(argparse.Action):
    """An option that prints the version; it is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib import metadata  # noqa: PLC0415 - slow, and rarely needed

        try:
            version = metadata.version("bootstrap-ner")
        except metadata.PackageNotFoundError:  # run from a source tree
            version = "(not installed)"
        sys.stdout.write(f"bootstrap {version}\n")
        parser.exit()


def _add_general(parser: argparse.ArgumentParser) -> None:
    # With suppressed defaults, a command keeps general options given before its name.
    general = parser.add_argument_group(_GENERAL)
    absent = argparse.SUPPRESS
    general.add_argument(
        "--version", action=_Version, nargs=0, default=absent, help="print the version and exit"
    )
    verbosity = general.add_mutually_exclusive_group()
    for flag, level, summary in (
        ("--quiet", logging.ERROR, "print only errors and the requested output"),
        ("--verbose", logging.DEBUG, "print debug messages"),
    ):
        verbosity.add_argument(
            flag,
            dest="verbosity",
            action="store_const",
            const=level,
            default=absent,
            help=summary,
        )
    general.add_argument(
        "--log",
        type=Path,
        default=absent,
        metavar="FILE",
        help="append messages to FILE as JSON lines; they contain no text of notes",
    )


# Types


def _integer_from(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        """Parse an integer of at least the minimum."""
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text}: expected an integer of {least} or more")
        return int(text)

    return parse


#: Parse an integer of 1 or more, and of 0 or more.
positive, natural = _integer_from(1), _integer_from(0)


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """Return a function that parses one of some names; for options with several values."""
    known = tuple(names)

    def parse(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(f"{text!r}: expected one of {', '.join(known)}")
        return text

    return parse


def _comma_separated(convert: Callable[[str], T]) -> Callable[[str], list[T]]:
    def parse(text: str) -> list[T]:
        try:
            fields = next(csv.reader([text], skipinitialspace=True), [])
        except csv.Error:  # such as a line break outside of quotes
            fields = []
        items = [item.strip() for item in fields]
        if not items or not all(items):
            raise argparse.ArgumentTypeError(f"{text!r}: expected values separated by commas")
        return [convert(item) for item in items]

    return parse


# Arguments


def add_list(
    parser: argparse._ActionsContainer,
    name: str,
    metavar: str,
    help: str,
    *,
    convert: Callable[[str], object] = str,
) -> None:
    """Add an option with several values, separated by commas or given by repeating it.

    A value that contains a comma is written in double quotes. The option is None where it is not
    given.
    """
    parser.add_argument(
        name,
        action="extend",
        type=_comma_separated(convert),
        metavar=f"{metavar},...",
        help=f"{help}; separated by commas, or repeat the option",
    )


def add_number(
    parser: argparse.ArgumentParser, *names: str, help: str, default: int | None = None
) -> None:
    """Add an option with an integer of 1 or more."""
    parser.add_argument(*names, type=positive, default=default, metavar="N", help=help)


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the names of columns and keys."""
    for name in PARTS:
        parser.add_argument(
            f"--{name}-column",
            default=name,
            metavar="NAME",
            help=f'column or key of the {name} (default: "{name}")',
        )


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the rules for annotations and documents that cannot be used as they are."""
    parser.add_argument(
        "--conflicts",
        choices=("stop", "longest"),
        default="stop",
        help="overlapping and discontinuous annotations: stop, or keep the longest (default: stop)",
    )
    add_invalid(parser, "documents and annotations that cannot be read")


def add_invalid(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the rule for input that cannot be read."""
    parser.add_argument(
        "--invalid",
        choices=("stop", "skip"),
        default="stop",
        help=f"{what}: stop, or skip and count them (default: stop)",
    )


def add_notes(parser: argparse.ArgumentParser) -> None:
    """Add the notes of a command that does not use their annotations."""
    parser.add_argument("source", metavar="NOTES", help="a file, a folder or a glob pattern")
    parser.add_argument(
        "--from", dest="source_format", choices=tuple(FORMATS), help="format of NOTES"
    )
    _add_reading(parser, "NOTES")


def add_formats(parser: argparse.ArgumentParser) -> None:
    """Add the formats, columns and rules of a command that reads IN and writes OUT."""
    for flag, name, place in (("--from", "source", "IN"), ("--to", "target", "OUT")):
        parser.add_argument(
            flag,
            dest=f"{name}_format",
            choices=tuple(FORMATS),
            help=f"format of {place} (default: detected from its name)",
        )
    _add_reading(parser, "IN")


def _add_reading(parser: argparse.ArgumentParser, place: str) -> None:
    parser.add_argument(
        "--encoding",
        default="utf-8",
        metavar="NAME",
        help=f"encoding of {place}, such as latin-1 (default: utf-8)",
    )
    add_columns(parser)
    add_rules(parser)


def add_label_map(parser: argparse.ArgumentParser) -> None:
    """Add the configuration whose ``[labels]`` rename labels."""
    parser.add_argument(
        "--labels",
        type=Path,
        metavar="CONFIG",
        help="rename and drop labels as [labels] of this configuration specifies",
    )


def add_configuration(parser: argparse.ArgumentParser) -> None:
    """Add the configuration of a run."""
    parser.add_argument("config", type=Path, metavar="CONFIG", help="a TOML file")
    parser.add_argument(
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a setting, such as select.confidence=0.9; may be repeated",
    )


def add_gold(parser: argparse.ArgumentParser, what: str) -> None:
    """Add annotated notes that models are scored on."""
    parser.add_argument(
        "--gold", metavar="NOTES", help=f"{what} (default: the validation notes of the run)"
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the number of processes."""
    add_number(parser, "--jobs", help="number of processes (default: all processors)")


def add_random_state(parser: argparse.ArgumentParser) -> None:
    """Add the seed of the random number generator."""
    parser.add_argument(
        "--random-state",
        type=natural,
        default=0,
        metavar="N",
        help="seed of the random number generator (default: 0)",
    )


def add_embeddings(parser: argparse.ArgumentParser, *names: str, **options: Any) -> None:
    """Add a folder of embeddings."""
    parser.add_argument(*names, type=Path, metavar="DIR", help="a folder of embeddings", **options)


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add a model."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="a run, or a model folder")


def add_output(parser: argparse.ArgumentParser, help: str) -> None:
    """Add the file to write."""
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help=help)

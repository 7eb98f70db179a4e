"""The parser of a command, and the arguments that several commands share."""

from __future__ import annotations

import argparse
import csv
import logging
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from corpus.arguments import is_url, path_or_store
from corpus.errors import InputError, one_line
from corpus.formats.table import FORMATS

#: The parts of a note that a column or key may hold.
PARTS = ("id", "text", "label", "group")

#: The options of files that a command writes besides its target, which must be new, and the
#: arguments that name notes.
_WRITTEN = ("reversible", "problems", "output", "json", "html", "log")
_REPORTS = ("json", "html")
_NOTES = ("source", "gold", "notes")

T = TypeVar("T")


class CommandParser(argparse.ArgumentParser):
    """The parser of a command or of a group of commands; options cannot be abbreviated.

    Parameters
    ----------
    main : str, optional
        The function that carries out the command, such as ``"tag.main"`` of the module
        `bootstrap.cli.commands.tag`; None for a group.
    **options
        Options of `argparse.ArgumentParser`.

    Attributes
    ----------
    arguments, general : list of argparse.Action
        The arguments of the command, and the options that every command has.
    commands : dict of str to CommandParser
        The commands of a group.
    """

    def __init__(self, *, main: str | None = None, **options: Any) -> None:
        self.arguments: list[argparse.Action] = []
        self.commands: dict[str, CommandParser] = {}
        super().__init__(allow_abbrev=False, **options)
        self.set_defaults(main=main, parser=self)
        if main is None:
            self._children = self.add_subparsers(metavar="COMMAND", title="commands")
        self.general = self._add_general()
        self.arguments = []

    def _add_general(self) -> list[argparse.Action]:
        # With suppressed defaults, a command keeps general options given before its name.
        general = self.add_argument_group("general options", argument_default=argparse.SUPPRESS)
        verbosity = general.add_mutually_exclusive_group()
        return [
            general.add_argument(
                "--version", action=_Version, nargs=0, help="print the version and exit"
            ),
            *(
                verbosity.add_argument(
                    flag, dest="verbosity", action="store_const", const=level, help=summary
                )
                for flag, level, summary in (
                    ("--quiet", logging.ERROR, "print only errors and the requested output"),
                    ("--verbose", logging.DEBUG, "print debug messages"),
                )
            ),
            general.add_argument(
                "--log",
                type=Path,
                metavar="FILE.jsonl",
                help="append messages to this file as JSON lines, without any text of notes",
            ),
        ]

    def add_argument(self, *names: str, group: Any = None, **options: Any) -> argparse.Action:
        """Add an argument, perhaps to a group of options that exclude each other."""
        add = super().add_argument if group is None else group.add_argument
        action: argparse.Action = add(*names, **options)
        self.arguments.append(action)
        return action

    def add_command(self, name: str, main: str | None, summary: str) -> CommandParser:
        """Add a command; the summary is a line in lower case and without a full stop."""
        description = f"{summary[0].upper()}{summary[1:]}."
        self.commands[name] = self._children.add_parser(
            name, main=main, help=summary, description=description
        )
        return self.commands[name]

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse arguments, and report unknown ones with the usage of their command."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return options, unknown

    def error(self, message: str) -> NoReturn:
        super().error(one_line(message))

    # Kinds of arguments

    def add_list(
        self,
        name: str,
        metavar: str,
        help: str,
        *,
        convert: Callable[[str], object] = str,
        group: Any = None,
    ) -> None:
        """Add an option with several values, separated by commas or given by repeating it.

        A value that contains a comma is written in double quotes. The option is None where it is
        not given.
        """
        self.add_argument(
            name,
            group=group,
            action="extend",
            type=_comma_separated(convert),
            metavar=f"{metavar},...",
            help=f"{help}; separated by commas, or repeat the option",
        )

    def add_number(self, name: str, help: str, default: int | None = None, least: int = 1) -> None:
        """Add an option with an integer; a short name may precede its name and a space."""
        parse = natural if least == 0 else positive
        self.add_argument(*name.split(), type=parse, default=default, metavar="N", help=help)

    def add_choice(
        self, name: str, choices: Sequence[str], help: str, default: str | None = None
    ) -> None:
        """Add an option with one of some values, by default the first."""
        default = default or choices[0]
        help = f"{help} (default: {default})"
        self.add_argument(name, choices=tuple(choices), default=default, help=help)

    def add_text(self, name: str, metavar: str | None, help: str, **options: Any) -> None:
        """Add an argument of any text."""
        self.add_argument(name, metavar=metavar, help=help, **options)

    def add_path(self, name: str, metavar: str, help: str, **options: Any) -> None:
        """Add a file or a folder; a short name may precede its name and a space."""
        self.add_argument(*name.split(), type=_local, metavar=metavar, help=help, **options)

    def add_flag(self, name: str, help: str, group: Any = None) -> None:
        """Add an option without a value."""
        self.add_argument(name, group=group, action="store_true", help=help)

    # Arguments of several commands

    def add_columns(self, before: str = "") -> None:
        """Add the names of columns and keys; `before` precedes their defaults."""
        for name in PARTS:
            help = f'column or key of the {name} (default: {before}"{name}")'
            self.add_text(f"--{name}-column", "NAME", help)

    def add_rules(self) -> None:
        """Add the rules for annotations and documents that cannot be used as they are."""
        help = "overlapping and discontinuous annotations: stop, or keep the longest"
        self.add_choice("--conflicts", ("stop", "longest"), help)
        self.add_invalid("documents and annotations that cannot be read")

    def add_invalid(self, what: str) -> None:
        """Add the rule for input that cannot be read."""
        self.add_choice("--invalid", ("stop", "skip"), f"{what}: stop, or skip and count them")

    def add_notes(self) -> None:
        """Add the notes of a command that writes no notes."""
        self.add_text("source", "NOTES", "a file, a folder or a glob pattern")
        self._add_format("--from", "source_format", "format of NOTES")
        self._add_reading("NOTES")

    def add_source_and_target(self, *, datasets: bool = False) -> None:
        """Add the notes of a command that writes them to another place, perhaps file by file."""
        stores = ", or the URL of an object store" if datasets else ""
        self.add_text("source", "IN", f"notes: a file, a folder or a glob pattern{stores}")
        if not datasets:
            self.add_path("target", "OUT", "a new file or folder")
            return
        help = f"a new file or folder{stores}; for a folder of Parquet, another one"
        self.add_text("target", "OUT", help, type=path_or_store)
        self.add_flag("--resume", "write the files of a folder of Parquet that are missing")

    def add_formats(self, before: str = "") -> None:
        """Add the formats, columns and rules of a command that reads IN and writes OUT."""
        for flag, name, place in (("--from", "source", "IN"), ("--to", "target", "OUT")):
            help = f"format of {place} (default: detected from its name)"
            self._add_format(flag, f"{name}_format", help)
        self._add_reading("IN", before)

    def _add_format(self, flag: str, name: str, help: str) -> None:
        self.add_argument(flag, dest=name, choices=tuple(FORMATS), help=help)

    def _add_reading(self, place: str, before: str = "") -> None:
        help = f"encoding of {place}, such as latin-1 (default: utf-8, or as detected in CSV)"
        self.add_text("--encoding", "NAME", help)
        help = "what is between the columns of CSV, such as ; or tab (default: as detected)"
        self.add_text("--delimiter", "D", help)
        self.add_columns(before)
        self.add_rules()

    def add_label_map(self) -> None:
        """Add the configuration whose ``[labels]`` rename labels."""
        help = "rename and drop labels as [labels] of this configuration specifies"
        self.add_path("--labels", "CONFIG", help)

    def add_configuration(self, **options: Any) -> None:
        """Add the configuration of a run."""
        self.add_path("config", "CONFIG", "a TOML file", **options)
        self.add_overrides("override a setting, such as select.confidence=0.9")
        self.add_trust()

    def add_overrides(self, help: str) -> None:
        """Add settings on the command line."""
        help += "; may be repeated"
        self.add_text("--set", "KEY=VALUE", help, dest="overrides", action="append", default=[])

    def add_gold(self, what: str) -> None:
        """Add annotated notes that models are scored on."""
        self.add_text("--gold", "NOTES", f"{what} (default: the validation notes of the run)")

    def add_jobs(self) -> None:
        """Add the number of processes."""
        self.add_number("--jobs", "number of processes (default: all processors)")

    def add_cluster(self) -> None:
        """Add the cluster that does the work of a command."""
        help = "the address of a Dask scheduler, or its file; its workers take the place of --jobs"
        self.add_text("--cluster", "ADDRESS", help)

    def add_random_state(self) -> None:
        """Add the seed of the random number generator."""
        help = "seed of the random number generator (default: 0)"
        self.add_number("--random-state", help, default=0, least=0)

    def add_embeddings(self, name: str, **options: Any) -> None:
        """Add a folder of embeddings."""
        self.add_path(name, "DIR", "a folder of embeddings", **options)

    def add_model(self) -> None:
        """Add a model."""
        self.add_path("model", "MODEL", "a run, or a model folder")
        self.add_trust()

    def add_trust(self) -> None:
        """Add the kinds of other packages that a folder may name."""
        help = (
            "a tagger of another package, package.module:Class, whose code may be imported because "
            "the folder of a model or a run names it; may be repeated"
        )
        self.add_text("--trust", "KIND", help, action="append", default=[])

    def add_output(self, help: str, **options: Any) -> None:
        """Add the file to write."""
        self.add_path("-o --output", "FILE", help, **options)


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


def _integer_from(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        """Parse an integer of at least the minimum."""
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text}: expected an integer of {least} or more")
        return int(text)

    return parse


#: Parse an integer of 1 or more, and of 0 or more.
positive, natural = _integer_from(1), _integer_from(0)


def share(text: str) -> float:
    """Parse a number between 0 and 1."""
    with suppress(ValueError):
        if 0 < float(text) < 1:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r}: expected a number between 0 and 1")


def points(text: str) -> float:
    """Parse the size of a font, from 4 to 40 points."""
    with suppress(ValueError):
        if 4 <= float(text) <= 40:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r}: expected points, from 4 to 40")


def size(text: str) -> tuple[float, float | None]:
    """Parse a width in inches, with a height or without."""
    with suppress(ValueError):
        width, *height = map(float, text.split("x"))
        if len(height) < 2 and all(1 <= side <= 60 for side in (width, *height)):
            return width, height[0] if height else None
    raise argparse.ArgumentTypeError(f"{text!r}: expected inches from 1 to 60, such as 5.4x3")


def _local(text: str) -> Path:
    """Parse a path of this machine."""
    if is_url(text):
        raise argparse.ArgumentTypeError(f"{text}: expected a path of this machine")
    return Path(text)


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """Return a function that parses one of some names; for options with several values."""
    known = tuple(names)

    def parse(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(f"{text!r}: expected one of {', '.join(known)}")
        return text

    return parse


def class_probability(text: str) -> tuple[str, float]:
    """Parse a class and a probability, such as ``LOCATION=0.8``."""
    name, _, number = text.rpartition("=")
    try:
        probability = float(number)
    except ValueError:
        probability = -1.0
    if not name or not 0 <= probability <= 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected CLASS=P, with P from 0 to 1")
    return name, probability


def class_reach(text: str) -> tuple[str, str | None]:
    """Parse a class and what of its entities is propagated, such as ``PERSON=words``."""
    name, _, reach = text.rpartition("=")
    if not name or reach not in ("text", "words", "none"):
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected CLASS=REACH, with REACH text, words or none"
        )
    return name, None if reach == "none" else reach


def refuse_shared_paths(options: argparse.Namespace, others: Iterable[str] = ()) -> None:
    """Check that what a command writes is no other file that its arguments name.

    Parameters
    ----------
    options : Namespace
        The options of the command.
    others : iterable of str
        Further files that it reads, since a file of its arguments names them.

    Raises
    ------
    InputError
        If it is, since the file would be lost, or if a report would be written over a folder.
    """
    paths = [
        (name, Path(os.path.realpath(text)))
        for name, value in vars(options).items()
        for text in (value if isinstance(value, list) else [value])
        if isinstance(text, str | Path) and str(text) != "-"
    ]
    paths += [("", Path(os.path.realpath(other))) for other in others]
    for name, path in paths:
        if name in _REPORTS and path.is_dir():  # noticed before the work, not after it
            raise InputError(f"--{name} {path} is a folder; expected a file")
        if name not in _WRITTEN or (path.exists() and not path.is_file()):
            continue
        for other, argument in paths:
            is_note = other in _NOTES and path.exists()
            if (other != name and _is_same(path, argument)) or (
                is_note and (argument in path.parents or path.match(str(argument)))
            ):
                raise InputError(f"{path} is written and is another file of the command")


def _is_same(path: Path, other: Path) -> bool:
    """Return whether paths lead to one file, which may have several names."""
    return path == other or (path.exists() and other.exists() and path.samefile(other))


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

"""The command line: a thin parser over functions that can be called without it."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bootstrap.cli.gazetteer_parser import add_gazetteer
from bootstrap.cli.parsing import command as _command
from bootstrap.cli.parsing import natural as _natural
from bootstrap.cli.parsing import positive as _positive
from corpus.errors import InputError

_FORMATS = ("brat", "jsonl", "parquet", "text")
#: Commands of two words.
_TWO = ("embed load", "embed show", "gazetteer import", "gazetteer merge", "gazetteer show")
_PARTS = ("id", "text", "label", "group")
_NORMALISATIONS = ("none", "lower", "unaccented", "digits")
_MEASURES = ("probability", "normalised", "min_marginal")

#: Exit codes: a mistake of the user's, and an interruption as shells report it.
MISTAKE, INTERRUPTED = 2, 130


def build_parser() -> argparse.ArgumentParser:
    """Make the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="bootstrap",
        description="Teach a tagger to find protected health information in clinical notes, from "
        "a few annotated notes and many that are not.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    demo = _command(commands, "demo", "watch a tagger teach itself on synthetic notes")
    demo.add_argument("--notes", type=_positive, default=60_000, help="unlabeled notes (60000)")
    demo.add_argument(
        "--start",
        choices=("seed", "divergence"),
        default="seed",
        help="from a few annotated notes, or from none and a list of names (seed)",
    )
    demo.add_argument("--out", type=Path, help="a new folder (runs/demo, or the next free name)")
    _jobs(demo)

    init = _command(commands, "init", "write a commented configuration with every setting")
    init.add_argument("folder", type=Path, metavar="DIR", help="where to write config.toml")

    check = _command(commands, "check", "look at the notes of a run before anything is trained")
    _configuration(check)
    check.add_argument(
        "--problems", type=Path, metavar="FILE", help="list all problems found, a line each"
    )

    run = _command(commands, "run", "teach a tagger: a self-training run")
    _configuration(run)
    run.add_argument(
        "--out", type=Path, help="the run folder (runs/NAME, after CONFIG or its folder)"
    )
    run.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    _jobs(run)

    tag = _command(commands, "tag", "tag notes with the best model of a run")
    tag.add_argument("model", type=Path, metavar="MODEL", help="a run, or the folder of a model")
    tag.add_argument("source", metavar="IN", help="notes: a file, a folder or a pattern")
    tag.add_argument("target", type=Path, metavar="OUT", help="where to write them, tagged")
    tag.add_argument("--measure", choices=_MEASURES, default=_MEASURES[0], help="of confidence")
    tag.add_argument(
        "--span-confidence",
        action="store_true",
        help="write how sure the model is of each span, too (JSONL and Parquet)",
    )
    tag.add_argument(
        "--repeated",
        nargs="+",
        default=[],
        metavar="CLASS",
        help="tag the words of full names of these classes wherever they come again in a note "
        "(those of the run that made the model)",
    )
    _formats(tag)
    _jobs(tag)

    _evaluate(commands)

    _export(commands)

    convert = _command(commands, "convert", "write notes in another format")
    convert.add_argument("source", metavar="IN", help="notes: a file, a folder or a pattern")
    convert.add_argument("target", type=Path, metavar="OUT", help="a new file or folder")
    _labels(convert)
    _formats(convert)

    _count(commands)

    _embed(commands)

    _cluster(commands)

    add_gazetteer(commands)

    show = _command(commands, "show", "show the iterations of a run")
    show.add_argument("run", type=Path, metavar="RUN", help="a run folder")
    show.add_argument("--json", action="store_true", help="as a list, a row per iteration")

    plot = _command(commands, "plot", "draw precision, recall and F1 per iteration")
    plot.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="run folders")
    plot.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="PNG or SVG")
    return parser


def _count(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    count = _command(commands, "count", "count the words of a corpus")
    _notes(count)
    count.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="a new Parquet file"
    )


def _embed(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    embed = _command(commands, "embed", "learn vectors of words from unlabeled notes")
    _notes(embed)
    _embeddings(embed, "-o", "--output", required=True)
    embed.add_argument("--kind", choices=("word2vec", "fasttext"), default="word2vec")
    embed.add_argument(
        "--normalise",
        nargs="+",
        choices=_NORMALISATIONS,
        default=["none", "lower", "unaccented"],
        help="what words become, an embedding for each (none lower unaccented)",
    )
    embed.add_argument(
        "--window",
        type=_positive,
        nargs="+",
        default=[5],
        metavar="N",
        help="words looked at on each side, an embedding for each (5)",
    )
    embed.add_argument(
        "--dimension", type=_positive, default=100, metavar="N", help="of a vector (100)"
    )
    embed.add_argument(
        "--min-count",
        type=_positive,
        default=5,
        metavar="N",
        help="words that occur less often get no vector (5)",
    )
    embed.add_argument(
        "--epochs",
        type=_positive,
        metavar="N",
        help="passes over the notes (5, and up to 30 where there are few notes)",
    )
    embed.add_argument(
        "--unit",
        choices=("document", "line", "sentence"),
        default="line",
        help="words look no further than this (line)",
    )
    _state(embed)
    embed.add_argument(
        "--workers",
        type=_positive,
        default=1,
        metavar="N",
        help="threads of an embedding (1; with more, it cannot be made again just so)",
    )
    embed.add_argument(
        "--jobs", type=_positive, default=1, metavar="N", help="embeddings at the same time (1)"
    )
    embed.add_argument("--resume", action="store_true", help="go on after an interruption")

    load = _command(commands, "embed load", "take over vectors made elsewhere")
    load.add_argument(
        "source",
        type=Path,
        metavar="FILE",
        help="of word2vec or fastText, text or binary, or of GloVe, text; may end in .gz",
    )
    _embeddings(load, "-o", "--output", required=True)
    load.add_argument("--name", help="of the embedding (that of the file)")
    load.add_argument(
        "--normalise",
        choices=_NORMALISATIONS,
        default="none",
        help="what words of notes become before they are looked up (none)",
    )
    load.add_argument("--encoding", default="utf-8", help="of the words (utf-8)")

    show = _command(commands, "embed show", "show the words that are used like a word")
    _embeddings(show, "folder")
    show.add_argument("word", metavar="WORD")
    show.add_argument(
        "-n", "--number", type=_positive, default=10, metavar="N", help="of words (10)"
    )


def _cluster(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    cluster = _command(commands, "cluster", "put words with similar vectors together")
    _embeddings(cluster, "folder")
    cluster.add_argument(
        "--k",
        type=_positive,
        nargs="+",
        metavar="K",
        help="numbers of clusters (128 1024 8192)",
    )
    cluster.add_argument(
        "--passes", type=_positive, default=20, metavar="N", help="over all vectors, at most (20)"
    )
    _state(cluster)
    _jobs(cluster)


def _embeddings(parser: argparse.ArgumentParser, *names: str, **options: Any) -> None:
    parser.add_argument(*names, type=Path, metavar="DIR", help="a folder of embeddings", **options)


def _state(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--random-state", type=_natural, default=0, metavar="N", help="of all that is random (0)"
    )


def _notes(parser: argparse.ArgumentParser) -> None:
    """Add what names notes that are only read, without their annotations."""
    parser.add_argument("source", metavar="NOTES", help="a file, a folder or a pattern")
    parser.add_argument("--from", dest="source_format", choices=_FORMATS, help="format of NOTES")
    _columns(parser)
    _rules(parser)


def _export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    export = _command(commands, "export", "write a model with fewer of its training notes' words")
    export.add_argument("model", type=Path, metavar="MODEL", help="a run, or the folder of a model")
    export.add_argument("target", type=Path, metavar="OUT", help="a new folder")
    export.add_argument(
        "--rare",
        type=_positive,
        default=1,
        metavar="N",
        help="leave out what fewer than N training documents have (1: nothing)",
    )
    export.add_argument("--hash", action="store_true", help="leave only hashes of words")
    export.add_argument(
        "--gold", metavar="NOTES", help="annotated notes to measure the cost on (a run's own)"
    )
    _columns(export)
    _rules(export)


def _evaluate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    evaluate = _command(commands, "evaluate", "score predicted against gold annotations")
    evaluate.add_argument("gold", metavar="GOLD", help="annotated notes")
    evaluate.add_argument("predicted", metavar="PREDICTED", help="the same notes, tagged")
    evaluate.add_argument("--json", type=Path, metavar="FILE", help="write all figures as JSON")
    _labels(evaluate)
    _columns(evaluate)
    for name in _PARTS:
        evaluate.add_argument(
            f"--gold-{name}-column", metavar="NAME", help=f"of GOLD, if not that of --{name}-column"
        )
    _rules(evaluate)


def _configuration(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", type=Path, metavar="CONFIG", help="a TOML file")
    parser.add_argument(
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="replace a setting, such as select.confidence=0.9; may be repeated",
    )


def _jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=_positive, metavar="N", help="processes (all processors)")


def _formats(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="source_format", choices=_FORMATS, help="format of IN")
    parser.add_argument("--to", dest="target_format", choices=_FORMATS, help="format of OUT")
    _columns(parser)
    _rules(parser)


def _labels(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--labels",
        type=Path,
        metavar="CONFIG",
        help="rename and drop labels as the [labels] of this configuration do in a run",
    )


def _columns(parser: argparse.ArgumentParser) -> None:
    for name in _PARTS:
        parser.add_argument(
            f"--{name}-column",
            default=name,
            metavar="NAME",
            help=f'column or key of the {name} ("{name}")',
        )


def _rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--conflicts",
        choices=("stop", "longest"),
        default="stop",
        help="overlapping and discontinuous annotations: stop, or keep the longest",
    )
    parser.add_argument(
        "--invalid",
        choices=("stop", "skip"),
        default="stop",
        help="what cannot be read: stop, or leave it out and count it",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.

    Returns
    -------
    int
        0; 2 after a mistake of the user's; 130 after Ctrl-C; 1 where the system refused something,
        such as space on the disk.
    """
    _escape_what_cannot_be_shown()
    options = build_parser().parse_args(_joined(sys.argv[1:] if arguments is None else arguments))
    try:
        # Each command is a module of its own, so that none waits for what another one imports.
        command = importlib.import_module(
            f"bootstrap.cli.commands.{options.command.replace(' ', '_')}"
        )
        command.main(options)
    except InputError as error:
        message, code = str(error), MISTAKE
    except KeyboardInterrupt:
        message, code = "interrupted", INTERRUPTED
    except BrokenPipeError:
        # Who read the output has had enough of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        message, code = str(error), 1
    except MemoryError:
        message = "out of memory; smaller batches ([loop] batch) or fewer --jobs need less"
        code = 1
    except Exception as error:  # its message may quote a note, so only its place is told
        message = f"{_place_of(error)}; this is a mistake of the program, please report it"
        code = 1
    else:
        return 0
    return _failed(message, code)


def _joined(arguments: Sequence[str]) -> list[str]:
    """Make one word of a command of two, such as ``embed show``."""
    two = " ".join(arguments[:2])
    return [two, *arguments[2:]] if two in _TWO else list(arguments)


def _escape_what_cannot_be_shown() -> None:
    """Show the code of a letter that the encoding of the output lacks, as in a C locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _place_of(error: Exception) -> str:
    """Say what kind of error was raised and where."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(frame.filename).name}, line {frame.lineno}"


def _failed(message: str, code: int) -> int:
    line = " ".join(message.splitlines())
    sys.stderr.write(f"bootstrap: {line}\n")
    return code

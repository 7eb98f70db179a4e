"""The command line as a whole: its help, its imports, and how commands end."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootstrap.cli.arguments import CommandParser
from bootstrap.cli.main import main
from bootstrap.cli.parser import build_parser
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.formats import write

Command = Callable[..., Any]

COMMANDS = [
    "demo", "init", "check", "run", "active", "experiment", "crossvalidate", "tag", "evaluate",
    "deidentify", "key", "reidentify", "risk", "export", "audit", "convert", "count", "embed",
    "cluster", "gazetteer", "rules", "show",
    "assess", "report", "plot", "help", "completion",
]  # fmt: skip
GROUPS = {
    "embed": ("train", "load", "show"),
    "gazetteer": ("import", "merge", "show"),
    "rules": ("learn",),
}


# Help


def test_help_names_every_command(command: Command) -> None:
    done = command("--help")
    assert (done.code, done.err) == (0, "")
    assert re.findall(r"^    ([a-z]+)  ", done.out, re.MULTILINE) == COMMANDS
    for name in COMMANDS:
        helped = command(name, "--help")
        assert (helped.code, helped.err) == (0, "")
        assert helped.out.startswith(f"usage: bootstrap {name} ")
        names = tuple(re.findall(r"^    ([a-z]+)  ", helped.out, re.MULTILINE))
        assert names == GROUPS.get(name, ())
        for inner in names:
            usage = f"usage: bootstrap {name} {inner} "
            assert command(name, inner, "--help").out.startswith(usage)


@pytest.mark.parametrize("name", [(), ("embed",), ("gazetteer",)])
def test_without_a_command_the_help_is_printed_and_the_code_is_2(name, command) -> None:
    done = command(*name)
    assert (done.code, done.out, done.err) == (2, "", command(*name, "--help").out)


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "x", "--js"),  # options are not abbreviated
        ("tag", "--js", "m", "a", "b"),
        ("gazetteer", "merge", "a", "-o", "b", "--js"),
    ],
)
def test_an_unknown_option_prints_the_usage_of_its_command(arguments, command) -> None:
    done = command(*arguments)
    name = " ".join(arguments[: 2 if arguments[0] in GROUPS else 1])
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"usage: bootstrap {name} [-h]")
    assert done.err.endswith(f"bootstrap {name}: error: unrecognized arguments: --js\n")


def test_every_option_has_help() -> None:
    """A line of help begins in lower case or with a name, and has no full stop."""

    def check(parser: CommandParser) -> None:
        for action in (*parser.general, *parser.arguments):
            assert action.help and not action.help.endswith("."), (parser.prog, action.dest)
        for command in parser.commands.values():
            check(command)

    check(build_parser())


SLOW = {"numba", "pyarrow", "scipy", "sklearn", "gensim", "matplotlib", "numpy", "rich", "joblib"}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["show", "--help"], ["gazetteer"], ["show", "x", "--fast"]]
)
def test_help_and_usage_wait_for_nothing_slow(arguments: list[str], launch: Any) -> None:
    code = (
        "import sys; from bootstrap.cli.main import main\n"
        f"try:\n    main({arguments})\nexcept SystemExit:\n    pass\n"
        "print('loaded', *sorted(sys.modules))"
    )
    done = launch.python(code)
    assert done.code == 0
    loaded = set(done.out.splitlines()[-1].split())
    assert {"loaded", "bootstrap.cli.main"} <= loaded
    assert "usage: bootstrap" in done.all
    assert not SLOW & loaded


@pytest.mark.parametrize(
    ("arguments", "slow"),
    [
        (["show", "{run}"], {"numba", "matplotlib", "simplemma", "gensim", "sklearn"}),
        (["evaluate", "{notes}", "{notes}"], {"numba", "matplotlib", "gensim", "sklearn"}),
        (["init", "{new}"], {"numba", "matplotlib", "gensim", "sklearn", "simplemma"}),
    ],
)
def test_commands_import_only_what_they_need(
    arguments: list[str], slow: set[str], finished: Path, project: Path, tmp_path: Path, launch: Any
) -> None:
    names = {"run": finished, "notes": project / "seed.jsonl", "new": tmp_path / "new"}
    words = [word.format(**names) for word in arguments]
    code = (
        "import sys; from bootstrap.cli.main import main\n"
        f"print('loaded' if main({words}) == 0 else 'failed', *sys.modules)"
    )
    loaded = launch.python(code).out.splitlines()[-1].split()
    assert loaded[0] == "loaded"
    assert not slow & set(loaded)


def test_the_module_is_the_command(launch: Any) -> None:
    code = "import runpy, sys; sys.argv = ['x', '--version']; "
    code += "runpy.run_module('bootstrap', run_name='__main__')"
    done = launch.python(code)
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"bootstrap (\d+\.\d+\S*|\(not installed\))\n", done.out)


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_scripts_name_commands_and_options(shell: str, command: Command) -> None:
    done = command("completion", shell)
    assert (done.code, done.err) == (0, "")
    for name in ("evaluate", "gazetteer", "--propagate" if shell != "tcsh" else "embed"):
        assert name in done.out
    assert "--repeated" not in done.out


def test_the_completion_script_of_bash_completes(command: Command, launch: Any) -> None:
    script = command("completion", "bash").out
    ask = (
        'COMP_WORDS=(bootstrap gazetteer m); COMP_CWORD=2; _shtab_bootstrap; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["merge"]


# How commands end


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("a.jsonl:3: no\ntext"), 2, r"bootstrap: a.jsonl:3: no\ntext"),
        (KeyboardInterrupt(), 130, "bootstrap: interrupted"),
        (OSError(28, "No space left on device", "x"), 1, "No space left on device"),
        (MemoryError(), 1, "bootstrap: out of memory: use smaller batches ([loop] batch)"),
    ],
)
def test_an_error_is_one_line_and_a_code(error, code, line, command, monkeypatch) -> None:
    def fail(options: object) -> None:
        raise error

    monkeypatch.setattr("bootstrap.cli.commands.show.main", fail)
    done = command("show", "x")
    assert (done.code, done.out) == (code, "")
    assert line in done.err
    assert done.err.count("\n") == 1


def test_ctrl_c_while_the_parser_is_built_is_no_traceback(command, monkeypatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bootstrap.cli.main.build_parser", interrupted)
    done = command("show", "x")
    assert (done.code, done.err) == (130, "bootstrap: interrupted\n")


def test_a_reader_that_has_had_enough_is_no_error(finished: Path, launch: Any) -> None:
    process = launch.start("show", finished, "--json")
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == ""
    process.stderr.close()


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_what_the_output_has_no_letter_for_is_escaped(
    encoding: str, tmp_path: Path, launch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write([Document("a", "Anna", (Span(0, 4, "Ñandúλ"),))], tmp_path / "a.jsonl")
    monkeypatch.setitem(launch._environment, "PYTHONIOENCODING", encoding)
    code = "import sys; from bootstrap.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "evaluate", tmp_path / "a.jsonl", tmp_path / "a.jsonl"],
        env=launch._environment,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Ñandúλ".encode(encoding, "backslashreplace") in done.stdout


def test_main_reads_the_arguments_of_the_process(monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.setattr(sys, "argv", ["bootstrap", "show", str(tmp_path)])
    assert main() == 2
    assert "is not the folder of a run" in capsys.readouterr().err


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a command fail with a note in the message and in a variable."""

    def fail(options: object) -> None:
        note = "Joana Puig"
        raise KeyError(note)

    monkeypatch.setattr("bootstrap.cli.commands.show.main", fail)


@pytest.mark.usefixtures("broken")
def test_an_internal_error_names_its_place_and_quotes_nothing(command: Command) -> None:
    done = command("show", "x")
    assert (done.code, done.out) == (1, "")
    expected = r"bootstrap: internal error: KeyError in test_main.py, line \d+; please report it\n"
    assert re.fullmatch(expected, done.err)


@pytest.mark.usefixtures("broken")
def test_verbose_adds_the_places_of_the_traceback_and_quotes_nothing(command, tmp_path) -> None:
    done = command("show", "x", "--verbose", "--log", tmp_path / "log")
    lines = done.err.splitlines()
    assert any(re.fullmatch(r"  at .*test_main\.py:\d+ fail", line) for line in lines)
    assert any(re.fullmatch(r"  at .*main\.py:\d+ _run", line) for line in lines)
    assert "Joana" not in done.err + (tmp_path / "log").read_text()

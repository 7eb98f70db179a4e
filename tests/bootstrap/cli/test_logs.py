"""Messages on standard error, and the log file."""

from __future__ import annotations

import argparse
import json
import logging
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

PACKAGES = ("bootstrap", "corpus", "gazetteers", "taggers")


@pytest.fixture
def talking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `bootstrap show` print a line and log a message of each level from each package."""

    def talk(options: argparse.Namespace) -> None:
        print("result")  # noqa: T201
        for name in ("taggers.base", "gensim"):
            for level in (logging.DEBUG, logging.INFO, logging.WARNING):
                logging.getLogger(name).log(level, "%s of %s", logging.getLevelName(level), name)

    monkeypatch.setattr("bootstrap.cli.commands.show.main", talk)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.usefixtures("talking")
@pytest.mark.parametrize(
    ("option", "levels"),
    [((), ["INFO", "WARNING"]), (("--quiet",), []), (("--verbose",), ["DEBUG", "INFO", "WARNING"])],
)
def test_verbosity_before_and_after_the_command(option, levels, command) -> None:
    for words in ((*option, "show", "x"), ("show", "x", *option), ("show", *option, "x")):
        done = command(*words)
        assert (done.code, done.out) == (0, "result\n")
        lines = [line for line in done.err.splitlines() if "taggers.base" in line]
        assert lines == [f"{level} of taggers.base" for level in levels]
        assert "gensim" not in "".join(lines)


@pytest.mark.usefixtures("talking")
@pytest.mark.parametrize("verbosity", [(), ("--quiet",), ("--verbose",)])
def test_the_log_file_has_a_json_object_per_message(verbosity, tmp_path, command) -> None:
    path = tmp_path / "log.jsonl"
    before = datetime.now(UTC) - timedelta(seconds=1)
    assert command("show", "x", "--log", path, *verbosity).code == 0
    rows = rows_of(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for row in rows:
        assert row.keys() - {"fields"} == {"time", "level", "logger", "message", "command"}
        assert row["command"] == "show"
        assert before <= datetime.fromisoformat(row["time"]) <= datetime.now(UTC)
    logged = [(row["level"], row["message"]) for row in rows if row["logger"] == "taggers.base"]
    levels = ["DEBUG", "INFO", "WARNING"][0 if "--verbose" in verbosity else 1 :]
    assert logged == [(level, f"{level} of taggers.base") for level in levels]
    assert "gensim" not in path.read_text()
    assert [row["message"] for row in (rows[0], rows[-1])] == ["command started", "command ended"]
    assert rows[-1]["fields"] == {"code": 0}


def test_a_log_is_appended_to_and_says_how_commands_end(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"message": "before"}\n')
    path.chmod(0o644)
    for words in (("--log", path, "show", tmp_path), ("gazetteer", "--log", path, "show", "x")):
        assert command(*words).code == 2
    rows = rows_of(path)
    assert rows[0] == {"message": "before"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    failures = [row for row in rows if row.get("level") == "ERROR"]
    assert [row["command"] for row in failures] == ["show", "gazetteer show"]
    assert [row["fields"]["code"] for row in rows if row["message"] == "command ended"] == [2, 2]
    assert "is not the folder of a run" in failures[0]["message"]


def test_a_log_of_a_run_has_its_iterations_and_no_text_of_notes(
    project, copied, tmp_path, command, monkeypatch
) -> None:
    from bootstrap.runs.folder import Run

    rows = Run(copied).metrics()
    monkeypatch.setattr(
        "bootstrap.cli.commands.run.run_iterations", lambda *_, **options: iter(rows)
    )
    monkeypatch.setattr(Run, "is_finished", lambda run: False)
    path = tmp_path / "log.jsonl"
    arguments = ("run", project / "config.toml", "--out", copied, "--resume", "--log", path)
    done = command(*arguments, "--verbose")
    assert done.code == 0
    logged = [row["fields"] for row in rows_of(path) if row["message"] == "iteration finished"]
    assert [row["f1"] for row in logged] == [row.f1 for row in rows]
    notes = [json.loads(line) for line in (project / "seed.jsonl").read_text().splitlines()]
    for text in {note["text"] for note in notes if len(note["text"]) > 12}:
        assert text not in path.read_text(encoding="utf-8") + done.err


def test_a_log_that_cannot_be_written_is_an_error_before_anything_is_done(
    tmp_path: Path, command: Command
) -> None:
    done = command("init", tmp_path / "new", "--log", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"bootstrap: log file {tmp_path} cannot be written: Is a directory\n"
    assert not (tmp_path / "new").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.usefixtures("talking")
def test_a_log_on_a_full_disk_does_not_stop_the_command(command: Command) -> None:
    done = command("show", "x", "--log", "/dev/full", "--quiet")
    assert (done.code, done.out) == (0, "result\n")
    assert done.err == "bootstrap: /dev/full cannot be written: logging has ended\n"


@pytest.mark.usefixtures("talking")
def test_logging_is_as_before_when_a_command_has_ended(tmp_path: Path, command: Command) -> None:
    def state() -> list[Any]:
        loggers = [logging.getLogger(name) for name in (*PACKAGES, "bootstrap.progress", None)]
        return [(logger.level, list(logger.handlers)) for logger in loggers]

    before = state()
    command("show", "x", "--verbose", "--log", tmp_path / "log")
    assert state() == before

"""What a run shows, on a terminal and elsewhere."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from bootstrap.cli import console as consoles
from bootstrap.cli.display import RunDisplay, class_table, metrics_table
from bootstrap.cli.progress import Stage

CLASSES = ("LOCATION", "PERSON")


def row(iteration: int, f1: float, stopped: str | None = None) -> dict[str, Any]:
    figures = {"precision": 0.75, "recall": 0.5, "f1": f1}
    classes = {name: {**figures, "f1": f1 / 2} for name in CLASSES}
    seconds = {"tag": 1.25, "train": 2.0}
    return {
        "iteration": iteration,
        "selected": 1500 * iteration,
        "classes": classes,
        "seconds": seconds,
        "stopped": stopped,
        "tagged": 4000 * iteration,
        "deviation": 0.5 * iteration if iteration else None,
        **figures,
    }


ROWS = [row(0, 0.5), row(1, 0.7), row(2, 0.7, "exhausted")]


def screen(terminal: bool, width: int = 130) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    options = {"soft_wrap": True, "markup": False, "emoji": False}
    return Console(file=file, force_terminal=terminal, width=width, **options), file


def test_elsewhere_there_is_a_line_an_iteration_as_it_ends() -> None:
    console, file = screen(terminal=False)
    with RunDisplay(console, CLASSES) as display:
        titles = (
            "iteration selected deviation LOCATION P R F1 PERSON P R F1 all P R F1 seconds stopped"
        )
        assert " ".join(file.getvalue().split()) == titles
        for number, metrics in enumerate(ROWS, start=2):
            display.report("tagging", 5, 10)
            display.add(metrics)
            assert len(file.getvalue().splitlines()) == number
    lines = [" ".join(line.split()) for line in file.getvalue().splitlines()]
    assert lines[2] == "1 1,500 0.50 0.750 0.500 0.350 0.750 0.500 0.350 0.750 0.500 0.700 3.2"
    assert lines[3].endswith(" exhausted")
    assert "tagging" not in file.getvalue()
    assert "\x1b" not in file.getvalue()


def test_on_a_terminal_there_is_a_table_and_what_is_being_done() -> None:
    console, file = screen(terminal=True)
    with RunDisplay(console, CLASSES) as display:
        display.add(ROWS[0])
        display.report("tagging", 5, 10)
        display._live.refresh()
        assert "iteration 1: tagging: 5 of 10 documents" in file.getvalue()
        display.add(ROWS[1])
    end = file.getvalue().splitlines()[-6:]
    assert "LOCATION P" in "\n".join(end)
    assert "tagging" not in "\n".join(end)


def test_what_fails_within_leaves_the_terminal_as_it_was() -> None:
    console, file = screen(terminal=True)
    with pytest.raises(KeyboardInterrupt), RunDisplay(console, CLASSES):
        raise KeyboardInterrupt
    assert file.getvalue().count("\x1b[?25l") == file.getvalue().count("\x1b[?25h") == 1


def test_the_best_iteration_stands_out() -> None:
    console, file = screen(terminal=True)
    console.print(metrics_table(ROWS, ()))
    bold = [line for line in file.getvalue().splitlines()[1:] if "\x1b[1;32m" in line]
    assert len(bold) == 1
    assert "0.700" in bold[0] and "exhausted" not in bold[0]


def test_classes_of_the_seed_stand_beside_those_of_the_best() -> None:
    console, file = screen(terminal=False)
    console.print(class_table(ROWS))
    lines = [line.split() for line in file.getvalue().splitlines()]
    assert lines[1] == ["LOCATION", "0.750", "0.500", "0.250", "0.750", "0.500", "0.350"]
    assert lines[3] == ["all", "0.750", "0.500", "0.500", "0.750", "0.500", "0.700"]


def test_a_stage_says_how_much_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 2.0, 2.0, 2.0, 2.0])
    monkeypatch.setattr("bootstrap.cli.progress.time.monotonic", lambda: next(now))
    stage = Stage("iteration 1: tagging", 50_000)
    assert stage.text().plain == "iteration 1: tagging (2 s)"
    stage.done = 20_000
    expected = "20,000 of 50,000 documents, 10,000 a second, 3 s left"
    assert stage.text().plain == f"iteration 1: tagging: {expected}"
    stage.name, stage.done, stage.total = "training", 5, 200
    expected = "5 of at most 200 steps, 2.5 a second, at most 78 s left"
    assert stage.text().plain == f"training: {expected}"
    assert Stage("", 0).text().plain == ""


@pytest.mark.parametrize("name", ["[b]", "[/b]", "[red]X[/red]", ":smile:", "[link=x]", "\\[x]"])
@pytest.mark.parametrize("terminal", [True, False])
def test_the_name_of_a_class_is_no_markup(
    name: str, terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the console of the commands, which is what shows it."""
    console, file = consoles.output, io.StringIO()
    monkeypatch.setattr(console, "_file", file)
    monkeypatch.setattr(console, "_force_terminal", terminal)
    monkeypatch.setattr(console, "_width", 120)
    metrics = {**ROWS[0], "classes": {name: ROWS[0]["classes"]["PERSON"]}}
    with RunDisplay(console, (name,)) as display:
        display.add(metrics)
    console.print(class_table([metrics]))
    assert file.getvalue().count(name) >= 2

"""The display of a run and of progress, on a terminal and elsewhere."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bootstrap.cli import console as consoles
from bootstrap.cli.console import StageProgress
from bootstrap.cli.display import RunDisplay, rich_table, short_table, time_left
from bootstrap.runs.metrics import EntityScores, IterationMetrics
from corpus.errors import quoted
from corpus.evaluation.measures import ConfusionCounts

CLASSES = ("LOCATION", "PERSON")


def row(iteration: int, f1: float) -> IterationMetrics:
    return IterationMetrics(
        iteration=iteration,
        selected=1500 * iteration,
        precision=0.75,
        recall=0.5,
        f1=f1,
        halves=(ConfusionCounts(3, 1, 3), ConfusionCounts(3, 1, 3)),
        classes={name: EntityScores(0.75, 0.5, f1 / 2) for name in CLASSES},
        tagged=4000 * iteration,
        deviation=0.5 * iteration if iteration else None,
        seconds={"tag": 1.25, "train": 2.0},
    )


ROWS = [row(0, 0.5), row(1, 0.7), row(2, 0.7)]


def screen(terminal: bool, width: int = 130) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    options = {"soft_wrap": True, "markup": False, "emoji": False}
    return Console(file=file, force_terminal=terminal, width=width, **options), file


def plain(file: io.StringIO) -> str:
    """Return what was drawn, without colours and moves of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue())


def test_elsewhere_there_is_a_line_an_iteration_as_it_ends() -> None:
    console, file = screen(terminal=False)
    with RunDisplay(console, 4) as display:
        for number, metrics in enumerate(ROWS, start=1):
            display.report("tagging", 5, 10)
            display.add(metrics)
            assert len(file.getvalue().splitlines()) == number
    lines = file.getvalue().splitlines()
    assert lines[1] == (
        "iteration 1  selected 1,500  deviation 0.5  precision 0.750  recall 0.500  F1 0.700  "
        "LOCATION F1 0.350  PERSON F1 0.350  seconds 3.2"
    )
    assert lines[2].startswith("iteration 2  selected 3,000")
    assert "tagging" not in file.getvalue()
    assert "\x1b" not in file.getvalue()


def test_on_a_terminal_there_is_a_table_and_what_is_being_done() -> None:
    console, file = screen(terminal=True)
    with RunDisplay(console, 4) as display:
        display.add(ROWS[0])
        display.report("tagging", 5, 10)
        display._live.refresh()
        assert re.search(r"iteration 1: tagging .* 5 of 10 documents, ", plain(file))
        assert re.search(r"whole run .* iteration 1 of at most 4 *$", plain(file), re.MULTILINE)
        display.add(ROWS[1])
        display.report("training", 7, 10)
        display._live.refresh()
        assert re.search(r"iteration 2: training .* 7 of at most 10 steps, ", plain(file))
        # Iteration 1 took 3.25 seconds, and three of them can follow.
        left = r"iteration 2 of at most 4, about 0:00:0\d left in it, at most about 0:00:(0\d|10)"
        assert re.search(f"whole run .* {left} left *$", plain(file), re.MULTILINE)
    end = "".join(plain(file).rpartition("iteration  selected")[1:])
    assert "LOCATION F1" in end
    assert "tagging" not in end and "whole run" not in end


@pytest.mark.parametrize("terminal", [True, False])
def test_a_quiet_run_shows_nothing(terminal: bool) -> None:
    console, file = screen(terminal=terminal)
    with RunDisplay(console, 4, enabled=False) as display:
        display.report("tagging", 5, 10)
        display.add(ROWS[0])
    assert file.getvalue() == ""


@given(st.lists(st.floats(0.1, 1000), min_size=2, max_size=9), st.integers(0, 20))
def test_the_time_left_is_that_of_the_iterations_that_can_follow(seconds, more) -> None:
    iterations = len(seconds) - 1 + more
    mean = sum(seconds[1:]) / len(seconds[1:])
    left = time_left(seconds, iterations)
    assert left == pytest.approx(mean * more)
    assert time_left(seconds, iterations, mean / 2) == pytest.approx(mean * max(more - 0.5, 0))
    # An iteration that takes longer than the others leaves those that follow it.
    late = time_left(seconds, iterations, 10 * mean)
    assert late == pytest.approx(mean * max(more - 1, 0), abs=1e-6)
    assert time_left(seconds[:1], iterations) is None  # iteration 0 tags no batch


def test_what_fails_within_leaves_the_terminal_as_it_was() -> None:
    console, file = screen(terminal=True)
    with pytest.raises(KeyboardInterrupt), RunDisplay(console, 4):
        raise KeyboardInterrupt
    assert file.getvalue().count("\x1b[?25l") == file.getvalue().count("\x1b[?25h") == 1


def test_the_best_iteration_stands_out() -> None:
    console, file = screen(terminal=True)
    console.print(rich_table(short_table(ROWS)))
    bold = [line for line in file.getvalue().splitlines()[1:] if "\x1b[1;32m" in line]
    assert len(bold) == 1
    assert "0.700" in bold[0] and "exhausted" not in bold[0]


def test_a_stage_shows_how_much_is_done_how_fast_and_the_time_left() -> None:
    console, file = screen(terminal=True)
    stage = StageProgress("tokens", console, enabled=True)
    now = 0.0
    stage.bars.get_time = lambda: now

    def shown() -> str:
        file.truncate(file.seek(0))
        console.print(stage.bars)
        return " ".join(plain(file).split())

    stage.report("counting", 0, 0)
    now = 2.0
    assert shown().endswith("0:00:02 elapsed")
    stage.report("[b]training", 0, 50_000)
    assert shown().startswith("[b]training ")
    now = 4.0
    stage._shown = 0  # else it is too soon to draw again
    stage.report("[b]training", 20_000, 50_000)
    assert shown().endswith("20,000 of 50,000 tokens, 10,000/s, 0:00:03 left")
    stage.report("[b]training", 10, 30, "notes")  # of another kind
    assert "10 of 30 notes, " in shown()
    stage.clear()
    assert shown() == ""


@pytest.mark.parametrize("name", ["[/b]", "[red]X[/red]", ":smile:", "\\[x]"])
@pytest.mark.parametrize("terminal", [True, False])
def test_the_name_of_a_class_is_no_markup(name, terminal, monkeypatch) -> None:
    """On the console of the commands, which is what shows it."""
    console, file = consoles.output, io.StringIO()
    monkeypatch.setattr(console, "_file", file)
    monkeypatch.setattr(console, "_force_terminal", terminal)
    monkeypatch.setattr(console, "_width", 120)
    metrics = replace(ROWS[0], classes={name: ROWS[0].classes["PERSON"]})
    with RunDisplay(console, 4) as display:
        display.add(metrics)
    console.print(rich_table(short_table([metrics])))
    assert file.getvalue().count(quoted(name)) >= 2

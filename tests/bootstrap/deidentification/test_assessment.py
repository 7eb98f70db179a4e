"""Whether a run is good enough: bounds, leaking notes, exit codes, and the learning curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import bootstrap
from bootstrap.deidentification.leaks import assess, most_leaking
from bootstrap.runs.assessment import ALL, Assessment, Leaks, Result, read_assessment, verdict_on
from bootstrap.runs.folder import Run
from bootstrap.runs.learning_curve import LearningCurve

Command = Callable[..., Any]


@given(st.integers(1, 60), st.data())
def test_the_bound_is_that_of_clopper_and_pearson(total: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, total))
    test = binomtest(number, total, alternative="less")
    bound = most_leaking(number, np.arange(total))
    assert bound == pytest.approx(test.proportion_ci(0.95, method="exact").high)
    # Two notes of each patient count as one.
    assert most_leaking(2 * number, np.arange(total).repeat(2)) == pytest.approx(bound)


def test_notes_that_show_a_mention_are_counted(finished: Path) -> None:
    """Without a threshold, a mention is left if the model and the patterns find no part of it."""
    run = Run(finished)
    assessment = assess(run)
    notes = list(bootstrap.read(run.configuration()["data"]["validation"]))
    model = bootstrap.load(run.best_model())
    left = []
    for note, tagged in zip(notes, model.tag(notes), strict=True):
        covered = {c for span in tagged.document.spans for c in range(span.start, span.end)}
        spans = (span for span in note.spans if not covered.issuperset(range(span.start, span.end)))
        left.append({span.label for span in spans})
    assert assessment.split == "validation" and assessment.notes == len(notes)
    plain = assessment.plain.leaks
    assert {name for name in plain if name} == {s.label for note in notes for s in note.spans}
    for name, leaks in plain.items():
        # Patterns and words that are sought again may find more.
        assert 0 < leaks.notes <= sum(bool(labels & {name} if name else labels) for labels in left)
    assert max(leaks.notes for name, leaks in plain.items() if name) <= plain[ALL].notes
    assert assessment.careful.leaks[ALL].notes < plain[ALL].notes
    assert assessment.careful.removed > assessment.plain.removed
    assert read_assessment(run) == assessment
    page = (finished / "report.html").read_text("utf-8")
    assert f"{plain[ALL].notes:,} (" in page and "still show a mention of" in page


RESULT = Result(0.9, 0.01, {ALL: Leaks(2, 0.06), "PERSON": Leaks(2, 0.06)})
CAREFUL = Result(1.0, 0.05, {ALL: Leaks(0, 0.03), "PERSON": Leaks(0, 0.03)})
ASSESSED = Assessment("test", 100, 0.99, True, RESULT, CAREFUL)


def test_the_bound_decides_and_not_the_share() -> None:
    verdict = verdict_on(ASSESSED, 0.05)
    assert not verdict.holds
    assert verdict.lines[0].startswith(
        "Not good enough without --recall: with 95 % confidence, at "
    )
    assert "2 (2.0 %; with 95 % confidence at most 6.0 %) still show a mention" in verdict.lines[1]
    assert "more annotated test notes would show" in verdict.lines[-1]
    assert verdict_on(ASSESSED, 0.07).holds and verdict_on(ASSESSED, 0.05, careful=True).holds
    unreached = verdict_on(replace(ASSESSED, reaches=False), 0.05, careful=True)
    assert not unreached.holds and "out of reach" in unreached.lines[0]


def test_the_exit_code_tells_whether_a_run_is_good_enough(finished: Path, command: Command) -> None:
    bound = assess(Run(finished), classes=["PERSON"]).plain.leaks[ALL].most
    for limit, code in ((bound + 0.001, 0), (bound - 0.001, 3)):
        limits = ("--classes", "PERSON", "--leaking-notes", f"{limit}")
        done = command("assess", finished, *limits)
        assert done.code == code, done
        assert done.out.startswith("Good enough" if not code else "Not good enough")
        assert "LOCATION" not in done.out
    refused = command("assess", finished, "--classes", "AGE")
    assert refused.code == 2 and "no annotation of AGE" in refused.err


def test_a_learning_curve_is_drawn_on_request_only(finished: Path, command: Command) -> None:
    files = sorted(finished.rglob("*"))
    assert "Training on" not in command("assess", finished).out
    done = command("assess", finished, "--curve")
    assert "Training on 15, 30, 60 documents of the seed ..." in done.out
    assert "models of a part of the seed alone miss: " in done.out
    assert sorted(finished.rglob("*")) == files


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_a_power_law_is_extrapolated(exponent: float) -> None:
    sizes = (100, 200, 400)
    missed = tuple(round(1e6 * size**-exponent) for size in sizes)
    more = LearningCurve(sizes, missed, 10**6).to_halve
    assert more == pytest.approx(400 * (2 ** (1 / exponent) - 1), rel=0.01)


@pytest.mark.parametrize("missed", [(50, 50, 50), (40, 50, 60), (50, 49, 48)])
def test_a_flat_curve_is_not_extrapolated(missed: tuple[int, ...]) -> None:
    curve = LearningCurve((100, 200, 400), missed, 1000)
    assert curve.to_halve is None and "hardly help" in list(curve.lines())[1]

"""What a run says of the alternatives that it compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bootstrap.runs.decisions import decision_lines, seed_alone
from bootstrap.runs.metrics import IterationMetrics


def test_every_comparison_is_described_by_its_f1(
    make_metrics: Callable[..., IterationMetrics],
) -> None:
    (trial,) = make_metrics().trials
    seeds = [
        replace(trial, name="seed_alone", f1=0.5, chosen=False),
        replace(trial, name="augmented", f1=0.55),
    ]
    strategies = [replace(trial, f1=0.6), replace(trial, name="agreement", f1=0.58, chosen=False)]
    rows = [
        make_metrics(iteration=0, trials=seeds),
        make_metrics(iteration=1, trials=strategies),
        make_metrics(iteration=2, trials=[]),
    ]
    assert decision_lines(rows) == [
        "Training (iteration 0): validation F1 of the seed alone 0.500, the seed with replaced "
        "mentions 0.550; chosen: the seed with replaced mentions.",
        "Selection (iteration 1): validation F1 of confident_documents 0.600, agreement 0.580; "
        "chosen: confident_documents.",
    ]
    assert seed_alone(rows) == seeds[0]
    assert seed_alone(rows[2:]) == rows[2]

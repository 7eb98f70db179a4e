"""What a run decided by itself on the validation documents, in words."""

from __future__ import annotations

from collections.abc import Sequence

from bootstrap.runs.metrics import IterationMetrics, TrialMetrics
from bootstrap.self_training.candidates import ANNOTATED_ALONE, AUGMENTED, SEED_ALONE

#: The alternatives that are no strategies, in words.
_WORDS = {
    SEED_ALONE: "the seed alone",
    AUGMENTED: "the seed with replaced mentions",
    ANNOTATED_ALONE: "the annotated documents alone",
}


def decision_lines(rows: Sequence[IterationMetrics]) -> list[str]:
    """Describe each comparison of alternatives: validation F1 of all, and which was chosen.

    Parameters
    ----------
    rows : sequence of IterationMetrics
        The iterations of a run.

    Returns
    -------
    list of str
        One line for each comparison.
    """
    return [_line(row) for row in rows if row.trials]


def _line(row: IterationMetrics) -> str:
    what = "Training" if row.iteration == 0 else "Selection"
    found = ", ".join(f"{_name(trial)} {trial.f1:.3f}" for trial in row.trials)
    chosen = next(_name(trial) for trial in row.trials if trial.chosen)
    return f"{what} (iteration {row.iteration}): validation F1 of {found}; chosen: {chosen}."


def _name(trial: TrialMetrics) -> str:
    return _WORDS.get(trial.name, trial.name)


def seed_alone(rows: Sequence[IterationMetrics]) -> IterationMetrics | TrialMetrics:
    """Return the figures of the seed alone, or of the initial model: without augmentation."""
    for trial in rows[0].trials:
        if trial.name == SEED_ALONE:
            return trial
    return rows[0]

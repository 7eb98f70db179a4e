"""Runs that start from the model of a finished one, with more annotated notes or another pool."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from bootstrap.config.configuration import Configuration, load_configuration
from bootstrap.data.splits import Notes, compared_text, read_gold, read_labelled
from bootstrap.inference import read_unit_file
from bootstrap.runs.folder import Run
from corpus.errors import InputError, number_of


def check_continued(configuration: Configuration, notes: Notes) -> None:
    """Check that a run can start from the model of another one.

    Raises
    ------
    InputError
        If that is no finished run, its documents are of another unit, or it has
        learned from the validation or test notes.
    """
    if not configuration.loop.continues:
        return
    run = Run(Path(configuration.loop.continues))
    model, data = run.best_model(), configuration.data
    if not run.is_finished():
        raise InputError(f"{run.folder} is not finished: end it with --resume")
    if (unit := read_unit_file(model).unit) != data.unit:
        raise InputError(f'{run.folder} was trained with unit = "{unit}", not "{data.unit}"')
    if number := len(_learned(run, configuration.kinds) & notes.held_out.texts):
        raise InputError(
            f"{run.folder} has learned from {number_of(number, 'note')} that validation or test "
            "has: name validation notes that were not in its seed"
        )


def _learned(run: Run, kinds: Collection[str]) -> set[str]:
    """Return the annotated texts that a run may have learned from, and those that it continues.

    Lines and sentences without annotations, which many notes share, do not count.
    """
    before = load_configuration(run.config_file, trust=kinds)
    data, labels = before.data, before.labels
    held_out = read_labelled(data, "validation", labels).own
    if data.test:
        held_out |= read_labelled(data, "test", labels).own
    seed = read_labelled(data, "seed", labels, held_out=held_out.texts)
    texts = set(seed.own.texts)
    if data.unit != "document":
        texts -= {compared_text(d) or "" for d in seed.documents if not d.spans}
    if before.active:
        texts |= read_gold(data, before.active, labels, held_out).own.texts
    if earlier := before.loop.continues:
        texts |= _learned(Run(Path(earlier)), kinds)
    return texts

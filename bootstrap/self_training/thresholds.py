"""What is done with a tagging, by class: smallest probabilities, and propagation.

Both are chosen on the validation documents.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from corpus.evaluation.scoring import Entities, GoldBatch, matches
from corpus.patients import number_patients
from corpus.tags import classes_of, find_entities
from taggers.base import Tagging
from taggers.options import Reach
from taggers.propagation import propagate

#: The smallest probabilities that are tried for each class; the first is none.
STEPS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)

#: A choice is judged as if it also lost so many right entities, so that few documents, which could
#: favour it by chance, choose none.
_LOST = 2

#: The most times that the classes are gone through.
_SWEEPS = 10

_Counts = npt.NDArray[np.int64]


def chosen_min_probability(validation: GoldBatch, tagging: Tagging) -> dict[str, float]:
    """Choose the smallest probability of entities of each class.

    The classes are gone through until nothing changes. For each, the threshold is chosen that has
    the highest strict F1 of all classes together, among those by which F1 falls in neither half of
    the validation patients: one that helps one half alone has been fitted to its errors.

    Parameters
    ----------
    validation : GoldBatch
        The validation documents.
    tagging : Tagging
        Their tagging, with the probabilities of entities.

    Returns
    -------
    dict of str to float
        By class; classes without a threshold are left out.
    """
    batch, gold = validation.batch, validation.entities
    predicted = Entities.from_tags(batch.with_tags(tagging.tags, tagging.labels))
    entities = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
    above = tagging.entity_confidence(entities)[:, None] >= np.array(STEPS)
    is_right = np.logical_and(*matches(gold, predicted))
    sides = number_patients(batch.groups, batch.ids) % 2
    names = classes_of(tagging.labels)
    # By class, half and threshold: the entities that are left, and those of them that are right.
    groups = 2 * predicted.classes + sides[predicted.rows]
    kept, right = (np.zeros((len(names), 2, len(STEPS)), np.int64) for _ in range(2))
    np.add.at(kept.reshape(-1, len(STEPS)), groups, above)
    np.add.at(right.reshape(-1, len(STEPS)), groups, above & is_right[:, None])
    annotated = np.bincount(sides[gold.rows], minlength=2)
    chosen = np.zeros(len(names), np.int64)
    for _ in range(_SWEEPS):
        before = chosen.copy()
        for number in range(len(names)):
            others = np.flatnonzero(np.arange(len(names)) != number)
            of_others = [part[others, :, chosen[others]].sum(axis=0) for part in (kept, right)]
            chosen[number] = _best(
                kept[number] + of_others[0][:, None],
                right[number] + of_others[1][:, None],
                annotated,
            )
        if (chosen == before).all():
            break
    return {name: STEPS[step] for name, step in zip(names, chosen.tolist(), strict=True) if step}


def chosen_propagation(validation: GoldBatch, tagging: Tagging) -> dict[str, Reach]:
    """Choose the classes whose texts are propagated; see `taggers.propagation`.

    As for `chosen_min_probability`, a class is chosen if that lowers F1 in neither half of the
    validation patients.

    Parameters
    ----------
    validation, tagging
        The validation documents and their tagging, without improbable entities.

    Returns
    -------
    dict of str to {"text"}
        The classes.
    """
    batch, gold = validation.batch, validation.entities
    notes = number_patients(batch.groups, batch.ids)
    annotated = np.bincount(notes[gold.rows] % 2, minlength=2)

    def counts(tagging: Tagging) -> tuple[_Counts, _Counts]:
        predicted = Entities.from_tags(batch.with_tags(tagging.tags, tagging.labels))
        sides, is_right = notes[predicted.rows] % 2, np.logical_and(*matches(gold, predicted))
        return np.bincount(sides, minlength=2), np.bincount(sides[is_right], minlength=2)

    before = counts(tagging)
    chosen: dict[str, Reach] = {}
    for name in classes_of(tagging.labels):
        propagated = propagate(tagging, batch, notes, {name: "text"})
        if np.array_equal(propagated.tags, tagging.tags):
            continue
        kept, right = np.array([before, counts(propagated)]).transpose(1, 2, 0)
        if _best(kept, right, annotated):
            chosen[name] = "text"
    return chosen


def _best(kept: _Counts, right: _Counts, annotated: _Counts) -> int:
    """Return the choice with the highest F1 that lowers F1 in neither half; the first is none."""
    of_halves = _f1(kept, right, annotated[:, None])
    lost = np.where(np.arange(kept.shape[1]) > 0, _LOST, 0)
    of_all = _f1(kept.sum(axis=0) - lost, right.sum(axis=0) - lost, annotated.sum())
    fits = (of_halves >= of_halves[:, :1]).all(axis=0)
    return int(np.argmax(np.where(fits, of_all, -1.0)))


def _f1(kept: _Counts, right: _Counts, annotated: _Counts) -> npt.NDArray[np.float64]:
    f1: npt.NDArray[np.float64] = 2 * right / np.maximum(kept + annotated, 1)
    return f1

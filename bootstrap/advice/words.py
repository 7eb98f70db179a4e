"""The classes whose entities a model misses most, and the advice of a run, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.data.representativeness import percent
from corpus.errors import quoted
from corpus.evaluation.error_analysis import MISSED, WRONG_BORDER, WRONG_CLASS, EntityError
from corpus.evaluation.measures import ConfusionCounts
from corpus.evaluation.missed import missed_kinds

if TYPE_CHECKING:
    from bootstrap.advice.advice import Advice

_SHOWN_IDS = 3
#: How entities are lost, in words.
_KINDS = {
    MISSED: "missed",
    WRONG_BORDER: "with another border",
    WRONG_CLASS: "with another class",
}
#: The maximum number of classes that are reported.
_MOST_CLASSES = 4
#: The minimum share of all missed entities for a class to be reported.
_LEAST_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Missed:
    """The entities of a class that were not found as they are.

    Parameters
    ----------
    name : str
        The class.
    counts : ConfusionCounts
        Its strict entities.
    share : float
        Its share of such entities of all classes.
    kinds : mapping of str to int
        Their number by kind; see `corpus.evaluation.missed.missed_kinds`.
    """

    name: str
    counts: ConfusionCounts
    share: float
    kinds: Mapping[str, int]


def most_missed(
    classes: Mapping[str, ConfusionCounts], errors: Sequence[EntityError]
) -> list[Missed]:
    """Return the classes with the most entities that were not found as they are.

    Returns
    -------
    list of Missed
        Classes with at least a tenth of all such entities, the highest share first.
    """
    total = sum(counts.false_negatives for counts in classes.values())
    if not total:
        return []
    kinds = missed_kinds(errors)
    rows = [
        Missed(name, counts, counts.false_negatives / total, kinds.get(name, {}))
        for name, counts in classes.items()
    ]
    rows.sort(key=lambda row: (-row.share, row.name))
    return [row for row in rows[:_MOST_CLASSES] if row.share >= _LEAST_SHARE]


def missed_lines(missed: Sequence[Missed]) -> Iterator[str]:
    """Describe which classes have most of the entities that were not found, a line for each."""
    for row in missed:
        kinds = ", ".join(
            f"{number:,} {words}"
            for kind, words in _KINDS.items()
            if (number := row.kinds.get(kind, 0))
        )
        yield (
            f"{quoted(row.name)}: {kinds}; {percent(row.share)} of all that is lost "
            f"(recall {row.counts.recall:.3f}, precision {row.counts.precision:.3f})"
        )


def advice_lines(advice: Advice | None, file: Path, *, with_ids: bool = True) -> Iterator[str]:
    """Describe what to do next, the cheapest first, a line each.

    Parameters
    ----------
    advice : Advice or None
        The advice of a run, if it has one.
    file : Path
        The file with the ids of documents to annotate.
    with_ids : bool
        Whether the first ids are named; they may identify patients.
    """
    if advice is None:
        return
    yield from advice.warnings
    if advice.annotate:
        number = len(advice.annotate)
        ids = ", ".join(map(quoted, advice.annotate[:_SHOWN_IDS]))
        more = ", ..." if number > _SHOWN_IDS else ""
        where = f"{ids}{more} ({file})" if with_ids else f"those in {file.name}"
        yield (
            f"annotate these {number:,} of {advice.considered:,} unlabeled documents; the best "
            f"model is least certain about them: {where}"
        )
    for unused in advice.unused:
        yield (
            f'try the builtin list {unused.list}, [tagger] {unused.option} = ["{unused.list}"]: it '
            f"contains {percent(unused.share)} of the {unused.missed:,} missed entities of "
            f"{quoted(unused.name)} and hardly any other words of the validation notes"
        )
    for row in advice.listed:
        yield (
            f"import a gazetteer with more entities of {quoted(row.name)}: the model's lists "
            f"contain {percent(row.share)} of them, with a recall of {row.listed:.3f}; the recall "
            f"of the others is {row.others:.3f}"
        )

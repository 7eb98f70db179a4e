"""The annotated documents of an experiment: what is trained on, validated and tested in each split.

Documents of a patient, and documents with the same text, are never on two sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
import numpy.typing as npt

from bootstrap.config.options import named
from bootstrap.config.overrides import ConfigurationError
from bootstrap.data.splits import HeldOut, compared_text, read_sources
from bootstrap.experiments.plan import Plan
from corpus.document import Document
from corpus.errors import Problems
from corpus.units import split_documents

Documents = Sequence[Document]

#: The problem that is counted for validation documents that share a text or patient with test.
TESTED = "validation notes left out because a test note has the same text or patient"


@dataclass(frozen=True, slots=True)
class Split:
    """The annotated documents of some runs, not cut into units, with the labels of their source.

    The name is one of `Plan.splits`. Where documents are None, ``[data]`` names them.
    """

    name: str
    train: Documents
    validation: Documents | None
    test: Documents | None


def read_splits(plan: Plan, problems: Problems) -> list[Split]:
    """Read the annotated documents of an experiment and divide them.

    Parameters
    ----------
    plan : Plan
        The plan.
    problems : Problems
        Collects documents and annotations that cannot be used as they are, and training documents
        that are left out because of their text or their patient.

    Raises
    ------
    InputError
        If documents cannot be read.
    ConfigurationError
        If there are fewer patients than folds, or a validation document alone.
    """
    sources = {
        name: list(read_sources(plan.data, name, None, problems))
        for name in ("seed", "validation", "test")
        if getattr(plan.data, name)
    }
    scored = [*sources.get("validation", ()), *sources.get("test", ())]
    train = list(HeldOut.from_documents(scored).others(sources.get("seed", ()), problems))
    if sources.get("seed") and not train:
        raise ConfigurationError(
            f"{plan.source.file}: [data] seed = {named(plan.data.seed)}: every document has the "
            "text or the patient of a validation or test document; expected others"
        )
    for _ in split_documents(train, plan.data.unit, problems):
        pass  # annotations that cross the border of a unit are counted here, once for all runs
    if plan.options.folds:
        splits = list(_folds(plan, train))
    elif plan.data.test:
        validation = _without_tested(plan, sources["validation"], sources["test"], problems)
        splits = [Split("test", train, validation, None)]
    else:
        splits = list(_halves(plan, train, sources["validation"]))
    for split in splits:
        _require_entities(plan, split)
    return splits


def _without_tested(
    plan: Plan, validation: Documents, test: Documents, problems: Problems
) -> Documents | None:
    """Return the validation documents that may choose; None if all of them may."""
    kept = list(HeldOut.from_documents(test).others(validation, Problems()))
    if len(kept) == len(validation):
        return None
    if not kept:
        raise ConfigurationError(
            f"{plan.source.file}: [data] validation = {named(plan.data.validation)}: every "
            "document has the text or the patient of a test document; expected others, which "
            "choose the iteration"
        )
    for _ in range(len(validation) - len(kept)):
        problems.count(TESTED)
    return kept


def _require_entities(plan: Plan, split: Split) -> None:
    """Refuse a division in which some documents have nothing to score."""
    for name, documents in (("validation", split.validation), ("test", split.test)):
        classes = plan.labels
        if documents is not None and not any(
            classes is None or span.label in classes
            for document in documents
            for span in document.spans
        ):
            raise ConfigurationError(
                f"{plan.source.file}: the {name} documents of {split.name} have no entity, so that "
                "they cannot be scored; expected fewer folds, or more annotated documents"
            )


def _folds(plan: Plan, documents: Documents) -> Iterator[Split]:
    """Yield splits with each fold as test; without other validation, the next fold validates."""
    from sklearn.model_selection import GroupKFold  # noqa: PLC0415 - slow to import

    number, units = plan.options.folds, linked_units(documents)
    distinct = len(np.unique(units))
    if distinct < number:
        raise ConfigurationError(
            f"{plan.source.file}: [experiment] folds = {number}: [data] seed has {distinct:,} "
            "patients or documents of different text; expected at least one for each fold"
        )
    fold_of = np.zeros(len(documents), np.int64)
    for fold, (_, test) in enumerate(GroupKFold(number).split(documents, groups=units)):
        fold_of[test] = fold
    for fold, name in enumerate(plan.splits):
        following = -1 if plan.data.validation else (fold + 1) % number
        yield Split(
            name,
            list(compress(documents, (fold_of != fold) & (fold_of != following))),
            None if plan.data.validation else list(compress(documents, fold_of == following)),
            list(compress(documents, fold_of == fold)),
        )


def _halves(plan: Plan, train: Documents, validation: Documents) -> Iterator[Split]:
    """Yield two splits: one half of the validation documents chooses, and the other is test."""
    sides = linked_units(validation) % 2
    if not sides.any():
        raise ConfigurationError(
            f"{plan.source.file}: [data] validation has documents of one patient or one text only, "
            "so that it cannot be divided into halves; name [data] test"
        )
    halves = [list(compress(validation, sides == side)) for side in (0, 1)]
    for side, name in enumerate(plan.splits):
        yield Split(name, train, halves[side], halves[1 - side])


def linked_units(documents: Documents) -> npt.NDArray[np.int64]:
    """Return the number of each document's unit: documents that share a patient or a text.

    Parameters
    ----------
    documents : sequence of Document
        D documents.

    Returns
    -------
    ndarray of int64, shape (D,)
        Numbers from 0 on, in the order of the first document of each unit.
    """
    from scipy.sparse import coo_array  # noqa: PLC0415 - slow to import
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - the same

    keys: dict[tuple[int, str | None], int] = {}
    rows, columns = [], []
    for row, document in enumerate(documents):
        for key in enumerate((document.group, compared_text(document))):
            if key[1] is not None:
                rows.append(row)
                columns.append(len(documents) + keys.setdefault(key, len(keys)))
    number = len(documents) + len(keys)
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(number, number))
    _, parts = connected_components(graph, directed=False)
    units: npt.NDArray[np.int64] = parts[: len(documents)].astype(np.int64)
    return units

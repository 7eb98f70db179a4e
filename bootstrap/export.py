"""Export of a model that reveals less of its training notes, and the cost in F1."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bootstrap.config.configuration import load_data
from bootstrap.data.splits import problems_for, read_sources
from bootstrap.inference import UnitFile, find_model, read_unit_file, tag_documents
from bootstrap.runs.folder import Run
from bootstrap.runs.loop_parts import UNIT_FILE
from corpus.document import Document
from corpus.errors import InputError
from corpus.evaluation.scoring import score
from corpus.storage.atomic import new_folder, refuse_existing
from corpus.storage.opening import MODEL, check_folder
from taggers import load_tagger
from taggers.model_folder import add_to_model, read_file_of_model
from taggers.privacy.pruning import PrunableTagger, Pruning


@dataclass(frozen=True, slots=True)
class Exported:
    """The contents and the scores of an exported model.

    Parameters
    ----------
    contents : tuple of mapping
        The number of entries of each part of the model, before and after.
    f1 : tuple of float, or None
        Strict entity F1 on annotated documents, before and after; None if there are none.
    documents : int
        Number of annotated documents.
    bytes : int
        Size of the files of the exported model.
    """

    contents: tuple[Mapping[str, int], Mapping[str, int]]
    f1: tuple[float, float] | None
    documents: int
    bytes: int


def export_model(
    model: Path,
    target: Path,
    *,
    pruning: Pruning,
    gold: Iterable[Document] | None,
    trust: Collection[str] = (),
) -> Exported:
    """Write a model that reveals less of its training documents.

    Parameters
    ----------
    model : Path
        A run, whose final or best model is exported, or a model folder.
    target : Path
        A new folder.
    pruning : Pruning
        What is removed.
    gold : iterable of Document, or None
        Annotated documents to score the model on before and after; None reads the validation
        documents of a run, and scores its best model: a final one has learned from them.
    trust : collection of str
        As in `taggers.registry.load_tagger`.

    Raises
    ------
    InputError
        If the model does not exist or cannot be pruned, or if the target exists.
    """
    refuse_existing(target)
    tagger, of_run = load_prunable(model, trust)
    pruned = tagger.pruned(pruning)
    notes = list(validation_notes(model) if gold is None else gold)
    scored = (tagger, pruned)
    if gold is None and notes and Run(model).final_model():
        best, _ = load_prunable(Run(model).best_model(), trust)
        scored = (best, best.pruned(pruning))
    f1 = (f1_of(scored[0], of_run, notes), f1_of(scored[1], of_run, notes)) if notes else None
    unit_file = read_file_of_model(find_model(model), UNIT_FILE)
    with new_folder(target) as folder:
        pruned.save(folder)
        if unit_file is not None:
            add_to_model(folder, {UNIT_FILE: unit_file})
    return Exported(
        (tagger.contents(), pruned.contents()),
        f1,
        len(notes),
        check_folder(target, MODEL),
    )


def load_prunable(model: Path, trust: Collection[str]) -> tuple[PrunableTagger, UnitFile]:
    """Load the model of a run or a model folder, and the settings of its run for tagging.

    Raises
    ------
    InputError
        If there is no model, or one of a kind that cannot be pruned.
    """
    folder = find_model(model)
    tagger = load_tagger(folder, trust=trust)
    if not isinstance(tagger, PrunableTagger):
        raise InputError(f'{folder} holds a model of kind "{tagger.kind}", which cannot be pruned')
    return tagger, read_unit_file(folder)


def validation_notes(model: Path) -> Iterable[Document]:
    """Read the validation documents of a run; a model folder has none."""
    run = Run(model)
    if not run.has_begun():
        return []
    data, labels = load_data(run.config_file)
    return read_sources(data, "validation", labels, problems_for(data))


def f1_of(tagger: PrunableTagger, of_run: UnitFile, notes: list[Document]) -> float:
    """Compute the strict entity F1 of a model on annotated documents."""
    tagged = tag_documents(notes, tagger, of_run.tag_options())
    return score(notes, [item.document for item in tagged]).counts("ner").f1

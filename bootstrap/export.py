"""Exporting a model with fewer of the words that it was trained on, and what that costs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bootstrap.config.configuration import load_configuration
from bootstrap.data.splits import problems_for, read_sources
from bootstrap.inference import find_model, tag_documents, unit_of
from bootstrap.runs.folder import Run
from bootstrap.runs.runner import UNIT_FILE
from corpus.document import Document
from corpus.errors import InputError
from corpus.evaluation import score
from corpus.storage import new_folder, refuse_existing, write_atomically
from corpus.units import Unit
from taggers import CRFTagger, load_tagger


@dataclass(frozen=True, slots=True)
class Exported:
    """What exporting a model left of it.

    Parameters
    ----------
    values : tuple of int
        Values of features that have a weight, before and after.
    f1 : tuple of float, or None
        Strict entity F1 on annotated notes, before and after; None where there are none.
    documents : int
        The annotated notes.
    bytes : int
        Size of the model's files.
    """

    values: tuple[int, int]
    f1: tuple[float, float] | None
    documents: int
    bytes: int


def export_model(
    model: Path, target: Path, *, rare: int, nameless: bool, gold: Iterable[Document] | None
) -> Exported:
    """Write a model without what only few documents have, and without words that can be read.

    Parameters
    ----------
    model : Path
        A run, whose best model is taken, the folder of a model, or a model file of CRFsuite.
    target : Path
        A new folder.
    rare : int
        What fewer training documents have is left out.
    nameless : bool
        Whether only hashes of words are left.
    gold : iterable of Document, or None
        Annotated notes that say what it costs; None takes the validation notes of a run.

    Raises
    ------
    InputError
        If there is no such model, or the target is there already.
    """
    refuse_existing(target)
    tagger, unit = _opened(model)
    reduced = tagger.reduced(rare=rare, nameless=nameless)
    notes = list(_validation(model) if gold is None else gold)
    f1 = (_f1(tagger, unit, notes), _f1(reduced, unit, notes)) if notes else None
    _save(reduced, unit, target)
    return Exported(
        (tagger.values, reduced.values),
        f1,
        len(notes),
        sum(path.stat().st_size for path in target.iterdir()),
    )


def _save(tagger: CRFTagger, unit: Unit, target: Path) -> None:
    """Write a model into a new folder, which has its name only when it is complete."""
    with new_folder(target) as folder:
        tagger.save(folder)
        write_atomically(folder / UNIT_FILE, json.dumps({"unit": unit}).encode())


def _opened(model: Path) -> tuple[CRFTagger, Unit]:
    """Open the model of a run, of a folder, or of a file of CRFsuite."""
    if model.is_file():
        return CRFTagger.of_crfsuite(model.read_bytes()), "document"
    folder = find_model(model)
    tagger = load_tagger(folder)
    if not isinstance(tagger, CRFTagger):
        raise InputError(f'{folder} holds a model of another kind than "crf"')
    return tagger, unit_of(folder)


def _validation(model: Path) -> Iterable[Document]:
    """Read the validation notes of a run; there are none of a model by itself."""
    run = Run(model)
    if not run.has_begun():
        return []
    options = load_configuration(run.config_file)
    problems = problems_for(options.data)
    return read_sources(options.data, "validation", options.labels, problems)


def _f1(tagger: CRFTagger, unit: Unit, notes: list[Document]) -> float:
    tagged = tag_documents(notes, tagger, unit, "probability")
    return score(notes, [item.document for item in tagged]).counts("ner").f1

"""Exporting a model with fewer of the words that it was trained on, and what that costs."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bootstrap.configuration import load_configuration
from bootstrap.notes import problems_for, read_sources
from bootstrap.running import UNIT_FILE
from bootstrap.runs import Run
from bootstrap.saved import SavedTagger
from bootstrap.tagging import find_model, tag_documents, unit_of
from corpus.document import Document
from corpus.errors import InputError
from corpus.scores import score
from taggers import CRFTagger, load_tagger


@dataclass(frozen=True, slots=True)
class Exported:
    """What exporting a model left of it.

    Parameters
    ----------
    values : tuple of int
        Values of features that have a weight, before and after.
    bytes : tuple of int
        Size of the model's files, before and after.
    f1 : tuple of float, or None
        Strict entity F1 on annotated notes, before and after; None where there are none.
    documents : int
        The annotated notes.
    """

    values: tuple[int, int]
    bytes: tuple[int, int]
    f1: tuple[float, float] | None
    documents: int


def export_model(
    model: Path, target: Path, *, rare: int, nameless: bool, gold: Iterable[Document] | None
) -> Exported:
    """Write a model without what only few documents have, and without words that can be read.

    Parameters
    ----------
    model : Path
        A run, whose best model is taken, or the folder of a model.
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
    folder = find_model(model)
    if target.exists():
        raise InputError(f"{target} is there already; name a new folder")
    tagger = load_tagger(folder)
    if not isinstance(tagger, CRFTagger):
        raise InputError(f'{folder} holds a model of another kind than "crf"')
    reduced = tagger.reduced(rare=rare, nameless=nameless)
    notes = list(_validation(model) if gold is None else gold)
    reduced.save(target)
    if (folder / UNIT_FILE).is_file():
        shutil.copyfile(folder / UNIT_FILE, target / UNIT_FILE)
    target.chmod(0o700)
    for path in target.iterdir():
        path.chmod(0o600)
    return Exported(
        (tagger.values, reduced.values),
        (_size(folder), _size(target)),
        (_f1(folder, notes), _f1(target, notes)) if notes else None,
        len(notes),
    )


def _validation(model: Path) -> Iterable[Document]:
    """Read the validation notes of a run; there are none of a model by itself."""
    run = Run(model)
    if not run.has_begun():
        return []
    options = load_configuration(run.config_file)
    problems = problems_for(options.data)
    return read_sources(options.data, "validation", options.labels, problems)


def _f1(model: Path, notes: list[Document]) -> float:
    tagged = tag_documents(notes, SavedTagger.load(model), unit_of(model), "probability")
    return score(notes, [item.document for item in tagged]).counts("ner").f1


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())

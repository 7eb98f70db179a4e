"""Audits: which names of the training notes an attacker can confirm in a model.

The attacker has a model and lists of names, and looks up every listed name, in several spellings,
in all parts of the model (a dictionary attack). A name is confirmed if a part of the model contains
it, or shows that it occurs in the notes. As a control, listed names that do not occur in the notes
are looked up, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bootstrap.export import f1_of, load_prunable, validation_notes
from bootstrap.runs.folder import Run
from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.patients import number_patients
from corpus.ragged import owners_of
from gazetteers.builtin import read_gazetteer
from gazetteers.frequencies import Frequencies
from gazetteers.gazetteer import merge
from taggers.privacy.pruning import AFFIXES, PrunableTagger
from taggers.privacy.public_lists import PublicLists

#: The maximum number of names to look up that do not occur in the notes.
_CONTROLS = 20_000

_DOCUMENTS = 5_000  # documents that are tokenized at once

_VOWELS = {"a": "áàä", "e": "éèë", "i": "íìï", "o": "óòö", "u": "úùü"}

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Group:
    """Names that are looked up, and how many of them were confirmed.

    Parameters
    ----------
    total : int
        Number of names.
    confirmed : int
        Number of names that any part of the model confirms.
    by_part : mapping of str to int
        Number of names that each part confirms. `taggers.privacy.pruning.AFFIXES` confirms none by
        itself: it counts the names whose affixes are all known, perhaps from other words.
    """

    total: int
    confirmed: int
    by_part: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What an attacker can confirm in a model.

    Parameters
    ----------
    names : Group
        Names of the lists that are annotated as names in the notes.
    rare : Group
        The `names` that are annotated in the notes of a single patient.
    other : Group
        Names of the lists that occur in the notes only as other words.
    absent : Group
        Names of the lists that do not occur in the notes: the control, falsely confirmed.
    documents, patients : int
        Number of documents, and of patients, in whose notes a confirmed name is annotated.
    f1 : float or None
        Strict entity F1 on annotated documents; None if there are none.
    """

    names: Group
    rare: Group
    other: Group
    absent: Group
    documents: int
    patients: int
    f1: float | None


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit of one model, or of two.

    Parameters
    ----------
    documents, patients : int
        Number of documents of the notes, and of their patients; a document without a known patient
        counts as a patient of its own.
    listed : int
        Number of names in the lists.
    gold : int
        Number of annotated documents that F1 was computed on.
    models : mapping of str to Confirmed
        The models, by name.
    """

    documents: int
    patients: int
    listed: int
    gold: int
    models: Mapping[str, Confirmed]


@dataclass(frozen=True, slots=True, eq=False)
class _Occurrences:
    """Where names occur in notes: in each annotated pair of a name and a document."""

    present: Mask  # of each name, whether it occurs at all
    names: Rows  # of each pair
    documents: Rows
    patients: Rows
    total_documents: int
    total_patients: int

    @classmethod
    def from_notes(
        cls, names: Frequencies, notes: Iterable[Document], classes: Collection[str]
    ) -> _Occurrences:
        kept = {name: name for name in classes} or None
        present = np.zeros(len(names.words), bool)
        pairs: list[Rows] = [np.zeros((0, 2), np.int64)]
        groups, ids = ([pa.array([], pa.large_string())] for _ in range(2))
        documents, total = iter(notes), 0
        while piece := list(islice(documents, _DOCUMENTS)):
            batch = make_batch(
                (note.with_classes(kept) for note in piece), labelled=True, problems=Problems()
            )
            rows = names.rows(batch.vocabulary)
            present[rows[rows >= 0]] = True
            pairs.append(_annotated(batch, rows) + np.array([0, total]))
            groups.append(batch.groups)
            ids.append(batch.ids)
            total += len(piece)
        rows, owners = np.concatenate(pairs).T
        patients = number_patients(pa.concat_arrays(groups), pa.concat_arrays(ids))
        distinct = int(patients.max(initial=-1)) + 1
        return cls(present, rows, owners, patients[owners], total, distinct)


def _annotated(batch: Batch, rows: npt.NDArray[np.int32]) -> Rows:
    """Return the pairs of names and documents in which they are annotated, shape (P, 2)."""
    owners = owners_of(batch.document_offsets)
    names = rows[batch.word_ids].astype(np.int64)
    tagged = (batch.tags > 0) & (names >= 0)
    return np.unique(np.column_stack([names[tagged], owners[tagged]]), axis=0)


def audit(
    models: Sequence[Path],
    against: Sequence[str],
    notes: Iterable[Document],
    *,
    classes: Collection[str] = (),
    gold: Iterable[Document] | None = None,
    trust: Collection[str] = (),
) -> Audit:
    """Find out which names of notes an attacker can confirm in models.

    Parameters
    ----------
    models : sequence of Path
        Runs, whose best models are used, or model folders.
    against : sequence of str
        The lists of names; see `gazetteers.builtin.read_gazetteer`.
    notes : iterable of Document
        The annotated notes that the models were trained on.
    classes : collection of str
        The classes whose annotations are names; all if empty.
    gold : iterable of Document, optional
        Annotated documents to score the models on; by default, the validation documents of the
        first model that is a run without a final model, which has learned from them.
    trust : collection of str
        As in `taggers.registry.load_tagger`.

    Raises
    ------
    InputError
        If a model or a list cannot be read, or no name of the lists is annotated in the notes.
    """
    loaded = {str(model): load_prunable(model, trust) for model in models}
    whole = Frequencies.from_gazetteer(merge([read_gazetteer(path) for path in against]))
    names = _whole_names(whole)
    occurrences = _Occurrences.from_notes(names, notes, classes)
    documents, patients = occurrences.total_documents, occurrences.total_patients
    if not len(occurrences.names):
        raise InputError(
            f"none of the {len(names.words):,} names of the lists is annotated in the "
            f"{documents:,} documents of the notes; expected the annotated notes that the model "
            "was trained on, and lists of names of their population"
        )
    if gold is None:
        unseen = (m for m in models if not (Run(m).has_begun() and Run(m).final_model()))
        gold = next((g for model in unseen if (g := list(validation_notes(model)))), [])
    scored = list(gold)
    rows, lists = _looked_up(occurrences), PublicLists(against)
    spelled = [spellings(names.words[row]) for row in rows.tolist()]
    attacked = {}
    for name, (tagger, of_run) in loaded.items():
        f1 = f1_of(tagger, of_run, scored) if scored else None
        attacked[name] = _attack(occurrences, rows, _traces(tagger, spelled, lists), f1)
    return Audit(documents, patients, len(names.words), len(scored), attacked)


def _whole_names(names: Frequencies) -> Frequencies:
    """Return the words that are a name by themselves, unlike ``de``."""
    kept = names.alone.sum(axis=1) > 0
    words = tuple(compress(names.words, kept))
    return Frequencies(words, names.classes, names.counts[kept], names.alone[kept])


def _looked_up(occurrences: _Occurrences) -> Rows:
    """Return the names that are looked up: all that occur, and random ones that do not."""
    absent = np.flatnonzero(~occurrences.present)
    rng = np.random.default_rng(0)
    if len(absent) > _CONTROLS:
        absent = np.sort(rng.choice(absent, _CONTROLS, replace=False))
    return np.concatenate([np.flatnonzero(occurrences.present), absent])


def _traces(
    tagger: PrunableTagger, spelled: Sequence[list[str]], lists: PublicLists
) -> dict[str, Mask]:
    """Return by part of a model which names it contains in any spelling."""
    words = [word for spellings_of_name in spelled for word in spellings_of_name]
    offsets = np.cumsum([0, *map(len, spelled)])[:-1]
    return {
        part: np.logical_or.reduceat(mask, offsets)
        for part, mask in tagger.traces(words, lists).items()
    }


def _attack(
    occurrences: _Occurrences, rows: Rows, traces: Mapping[str, Mask], f1: float | None
) -> Confirmed:
    """Count which of some names the traces of a model confirm; its F1 is passed on."""
    confirmed: Mask = np.logical_or.reduce(
        [np.zeros(len(rows), bool), *(mask for part, mask in traces.items() if part != AFFIXES)]
    )
    of_patients = np.unique(np.column_stack([occurrences.names, occurrences.patients]), axis=0)
    patients = np.bincount(of_patients[:, 0], minlength=len(occurrences.present))[rows]
    present = occurrences.present[rows]
    known = np.zeros(len(occurrences.present), bool)
    known[rows[confirmed]] = True
    pairs = known[occurrences.names]

    def group(some: Mask) -> Group:
        by_part = {part: int((mask & some).sum()) for part, mask in traces.items()}
        return Group(int(some.sum()), int((confirmed & some).sum()), by_part)

    return Confirmed(
        names=group(patients > 0),
        rare=group(patients == 1),
        other=group(present & (patients == 0)),
        absent=group(~present),
        documents=len(np.unique(occurrences.documents[pairs])),
        patients=len(np.unique(occurrences.patients[pairs])),
        f1=f1,
    )


def spellings(word: str) -> list[str]:
    """Return the spellings of a folded word that an attacker tries: with accents and capitals."""
    forms = [word]
    for place, letter in enumerate(word):
        forms += [word[:place] + vowel + word[place + 1 :] for vowel in _VOWELS.get(letter, "")]
    return [
        spelling for form in forms for spelling in (form, form[:1].upper() + form[1:], form.upper())
    ]

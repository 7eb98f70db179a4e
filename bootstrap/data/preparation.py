"""The documents of a run before its folder is created: reading, checks and digests of files."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bootstrap.active_learning.queries import ActiveOptions
from bootstrap.config.configuration import Configuration
from bootstrap.config.options import DataOptions, listed, named
from bootstrap.data.label_maps import unrelated_classes
from bootstrap.data.splits import Notes, read_notes, splits_of
from corpus.batch import Batch, are_among
from corpus.errors import InputError, quoted
from corpus.formats import find_files
from corpus.formats.synthetic import is_synthetic
from corpus.tags import classes_of
from taggers.options import Coverage


def prepare(configuration: Configuration) -> tuple[Notes, list[str]]:
    """Read the documents of a run and check its settings against them.

    Returns
    -------
    tuple of (Notes, list of str)
        The documents, and lines that describe how much of them the resources of the taggers cover.

    Raises
    ------
    InputError
        If a file is missing or of another kind, if annotated documents have no entity, or if a
        setting names a class that cannot be learned.
    """
    coverages = configuration.check()
    model = configuration.initial_model
    notes = read_notes(
        configuration.data,
        configuration.labels,
        batch_size=configuration.loop.batch,
        classes=model.classes if model else (),
        active=configuration.active,
    )
    message = unrelated_classes(notes.seed.documents, notes.validation.documents)
    if message and not model:
        raise InputError(message)
    if configuration.active:
        check_budget(configuration.active, notes)
    batches = {"the seed": notes.seed.batch, "validation": notes.validation.batch}
    lines = coverage_lines(coverages, batches)
    refuse_unknown_classes(configuration, classes_of(notes.seed.batch.labels))
    return notes, lines


def check_budget(active: ActiveOptions, notes: Notes) -> None:
    """Check that the budget of active learning lies between the seed and all gold documents.

    Raises
    ------
    InputError
        If no document can be annotated, or the budget is more than all of them.
    """
    assert notes.gold is not None
    seed, gold = notes.seed.batch, notes.gold.batch
    if active.budget <= len(seed):
        raise InputError(
            f"[active] budget = {active.budget:,} includes the seed, which has {len(seed):,} "
            "documents; expected more"
        )
    left = gold.take(np.flatnonzero(~are_among(gold, [seed]) & (gold.lengths > 0)))
    if not len(left):
        raise InputError(
            f"[active] gold = {named(active.gold)}: no document is left to annotate; documents of "
            "the seed are left out, and those with a text or of a patient of validation or test"
        )
    if active.budget > len(seed) + len(left):
        raise InputError(
            f"[active] budget = {active.budget:,}: gold = {named(active.gold)} has {len(left):,} "
            f"documents with tokens that are not in the seed, and the seed has {len(seed):,}; "
            f"expected at most {len(seed) + len(left):,}"
        )
    least = seed.n_tokens + int(left.lengths.min())
    if active.budget_tokens and active.budget_tokens < least:
        raise InputError(
            f"[active] budget_tokens = {active.budget_tokens:,} includes the seed, which has "
            f"{seed.n_tokens:,} tokens; the shortest document to annotate needs {least:,}"
        )


def coverage_lines(coverages: Sequence[Coverage], batches: Mapping[str, Batch]) -> list[str]:
    """Describe how many tokens the resources of a tagger cover.

    Parameters
    ----------
    coverages : sequence of Coverage
        The coverages; any without an expected share are not described.
    batches : mapping of str to Batch
        The documents of each split; empty batches are ignored.

    Returns
    -------
    list of str
        A line for each resource.

    Raises
    ------
    InputError
        If no resource covers any token of the first split.
    """
    expected = [coverage for coverage in coverages if coverage.expected]
    some = {split: batch for split, batch in batches.items() if batch.n_tokens}
    if not (expected and some):
        return []
    lines, first, covers_any = [], next(iter(some)), False
    for coverage in expected:
        shares = {
            split: 100 * coverage.count(batch) / batch.n_tokens for split, batch in some.items()
        }
        covers_any = covers_any or shares[first] > 0
        texts = [f"{share:.1f} % of the tokens of {split}" for split, share in shares.items()]
        lines.append(f"{' and '.join(texts)} have {coverage.of}")
    if not covers_any:
        raise InputError(f"no token of {first} has {expected[0].of}; {expected[0].advice}")
    return lines


def refuse_unknown_classes(configuration: Configuration, seed: Collection[str]) -> None:
    """Refuse settings that name a class which iteration 0 cannot tag.

    Parameters
    ----------
    configuration : Configuration
        The settings of the run.
    seed : collection of str
        The classes of the seed and of the initial model.

    Raises
    ------
    InputError
        If a setting names such a class.
    """
    model = configuration.initial_model
    known, what = (
        (set(model.classes), "[initial_model] tags") if model else (set(seed), "the seed has")
    )
    named = {
        "[loop] propagate": configuration.loop.propagate,
        "[tagger] min_probability": configuration.tagger.thresholds.min_probability,
    }
    for setting, names in named.items():
        for name in names if isinstance(names, Mapping) else ():
            if name not in known:
                raise InputError(
                    f"{setting} names {name}; {what} only {', '.join(map(quoted, sorted(known)))}"
                )
    if not (configuration.select.proportions and configuration.reference):
        return
    for name in sorted(set(configuration.reference.per_token) - set(seed)):
        raise InputError(
            f"[select.reference] names {name}, which the seed lacks, so no selection can "
            "contain it; remove it, and count documents without other entities as empty"
        )


def fingerprint(
    data: DataOptions,
    others: Mapping[str, Sequence[Path]] | None = None,
    *,
    splits: Collection[str] | None = None,
) -> pa.Table:
    """Compute the digest of every file that a run reads.

    Parameters
    ----------
    data : DataOptions
        The documents of the run.
    others : mapping of str to sequence of Path, optional
        Files that taggers read, by the option that names them (see `Configuration.files`).
    splits : collection of str, optional
        The splits whose files are read; by default, all.

    Returns
    -------
    pyarrow.Table
        Columns ``split`` (or option), ``file``, ``bytes`` and ``blake2b``. Synthetic documents have
        their name, no bytes and no digest.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    rows: list[dict[str, Any]] = []
    for split in splits_of(data):
        for source in listed(getattr(data, split)) if splits is None or split in splits else ():
            if is_synthetic(source):
                rows.append({"split": split, "file": source, "bytes": 0, "blake2b": ""})
            else:
                rows += _digests(split, [*find_files(source)])
    for option, paths in (others or {}).items():
        rows += _digests(option, paths)
    return pa.Table.from_pylist(rows)


def _digests(name: str, paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16))
            size = path.stat().st_size
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        yield {"split": name, "file": str(path), "bytes": size, "blake2b": digest.hexdigest()}

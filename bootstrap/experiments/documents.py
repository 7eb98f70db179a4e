"""The documents of the runs of an experiment: seeds drawn from annotated ones, and their files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bootstrap.config.experiment_options import SeedOptions
from bootstrap.config.options import Sources
from bootstrap.config.overrides import ConfigurationError
from bootstrap.experiments.plan import Plan, Variant
from bootstrap.experiments.splits import Split
from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.formats import write
from corpus.storage.atomic import write_atomically
from corpus.storage.manifest import digests_of_files, manifest_bytes, read_manifest
from corpus.units import split_documents

Indices = npt.NDArray[np.int64]

#: Chooses a number of documents among those with some indices.
_Choose = Callable[[Indices, int], Indices]


def draw_seed(
    documents: Sequence[Document], options: SeedOptions, rng: np.random.Generator
) -> Indices:
    """Draw the documents of a seed.

    Returns
    -------
    ndarray of int64, shape (n,)
        The indices of the documents, each once.

    Raises
    ------
    ConfigurationError
        If there are too few documents that follow the rules.
    """
    expression = re.compile(options.pattern)
    matching = np.array(
        [
            expression.match(document.text) is not None
            and not any(span.label in options.without for span in document.spans)
            for document in documents
        ],
        bool,
    )
    has_entities = np.array([bool(document.spans) for document in documents], bool)
    number = round(options.documents * options.with_entities)
    rules = [
        (matching & has_entities, number, " with entities"),
        (matching & ~has_entities, options.documents - number, " without entities"),
    ]
    if not options.with_entities:
        rules = [(matching, options.documents, "")]

    def at_random(indices: Indices, number: int) -> Indices:
        return rng.choice(indices, number, replace=False)

    choose = at_random if options.draw == "documents" else _first_of(documents, options.draw, rng)
    drawn = [_drawn(*rule, options, choose) for rule in rules]
    left = np.ones(len(documents), bool)
    left[np.concatenate(drawn)] = False
    return np.concatenate(
        [*drawn, _drawn(left, options.others, " beside them", options, at_random)]
    )


def _first_of(documents: Sequence[Document], draw: str, rng: np.random.Generator) -> _Choose:
    """Choose documents patient after patient, at random or as they follow each other."""
    numbers: dict[str, int] = {}
    patients = [document.group or document.id for document in documents]
    owners = np.array([numbers.setdefault(name, len(numbers)) for name in patients], np.int64)
    if draw == "patients":
        ranks = rng.permutation(len(numbers))[owners]
    else:
        ranks = (owners - rng.integers(max(len(numbers), 1))) % max(len(numbers), 1)
    return lambda indices, number: indices[np.argsort(ranks[indices], kind="stable")][:number]


def _drawn(
    candidates: npt.NDArray[np.bool_],
    number: int,
    what: str,
    options: SeedOptions,
    choose: _Choose,
) -> Indices:
    """Draw a number of candidates without replacement."""
    indices = np.flatnonzero(candidates)
    if number > len(indices):
        rule = f" that match pattern = {options.pattern!r}" if options.pattern else ""
        rule += f" without {', '.join(options.without)}" if options.without else ""
        raise ConfigurationError(
            f"[seed] needs {number:,} documents{what}{rule}; there are {len(indices):,} of "
            f"{len(candidates):,} in [data] seed, without those that are held out"
        )
    return choose(indices, number)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The documents of a run, as values of ``[data]``; empty ones keep the experiment's values.

    `others` are the annotated documents that are not in the seed, if it was drawn.
    """

    seed: str
    validation: str
    test: str
    unlabeled: Sources
    others: str


class DocumentFiles:
    """Writes the documents of runs into the folder of an experiment.

    A file that exists is not written again: the same plan and documents result in the same files.
    """

    def __init__(self, folder: Path, plan: Plan, splits: Sequence[Split]) -> None:
        self._folder = folder.absolute()  # paths in a file are relative to it
        self._plan = plan
        self._splits = {split.name: split for split in splits}
        self._units: dict[str, list[Document]] = {}

    def files_of(self, variant: Variant, split: str, random_state: int) -> RunFiles:
        """Return the files of a run, which are written if they do not exist."""
        folder = self._folder / split
        held = {
            name: self._write(folder / f"{name}.parquet", documents)
            for name in ("validation", "test")
            if (documents := getattr(self._splits[split], name)) is not None
        }
        seed, others = self._seed_of(variant, split, random_state)
        unlabeled = self._plan.data.unlabeled or others
        return RunFiles(
            seed,
            held.get("validation", ""),
            held.get("test", ""),
            unlabeled or self._write(self._folder / "none.parquet", ()),
            others,
        )

    def _seed_of(self, variant: Variant, split: str, random_state: int) -> tuple[str, str]:
        """Return the file of a seed, and the file of the other documents if it was drawn."""
        documents = self._splits[split].train
        if not self._plan.data.seed:
            return "", ""
        # The halves of validation swap; the training documents stay the same.
        folder = self._folder / (split if self._plan.options.folds else "train")
        if variant.seed is None or variant.method == "full-supervision":
            return self._write(folder / "all.parquet", documents), ""
        drawn = folder / f"seed-{random_state}-{_digest(variant.seed, self._plan)}"
        paths = drawn / "seed.parquet", drawn / "others.parquet"
        if not all(map(_is_intact, paths)):
            units = self.units_of(split)
            labels = None if self._plan.labels is None else dict(self._plan.labels)
            documents = [unit.with_classes(labels) for unit in units]
            chosen = draw_seed(documents, variant.seed, np.random.default_rng(random_state))
            others = np.setdiff1d(np.arange(len(units)), chosen)
            for path, indices in zip(paths, (chosen, others), strict=True):
                self._write(path, [units[index] for index in indices])
        return str(paths[0]), str(paths[1])

    def units_of(self, split: str) -> list[Document]:
        """Return the training documents of a split in the unit of the runs."""
        if split not in self._units:
            # A unit is cut as its source would be, so that it is not cut again. Problems were
            # counted with the splits.
            problems = Problems(conflicts="longest", invalid="skip")
            documents = self._splits[split].train
            self._units[split] = list(split_documents(documents, self._plan.data.unit, problems))
        return self._units[split]

    def _write(self, path: Path, documents: Iterable[Document]) -> str:
        if not _is_intact(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            write(documents, path)
            digests = digests_of_files(path.parent, [path.name])
            write_atomically(path.with_suffix(".json"), manifest_bytes({}, digests))
        return str(path)


def _is_intact(path: Path) -> bool:
    """Check a file against the digest that was written after it, if it exists."""
    try:
        read_manifest(path.with_suffix(".json")).verify([path.name])
    except InputError:
        return False
    return True


def _digest(options: SeedOptions, plan: Plan) -> str:
    """Return a short name of the rules of a seed."""
    text = json.dumps([asdict(options), plan.data.unit, plan.labels], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def data_table(plan: Plan, files: RunFiles) -> dict[str, Any]:
    """Return the section ``[data]`` of a run."""
    table = asdict(plan.data) | {"id": "id", "text": "text", "label": "label", "group": "group"}
    for name in ("seed", "validation", "test", "unlabeled"):
        written = getattr(files, name)
        is_source = not written or written == getattr(plan.data, name)
        table[name] = written or getattr(plan.data, name)
        table[f"{name}_columns"] = asdict(plan.data.columns_of(name)) if is_source else {}
    return table

"""The sections of a configuration as dataclasses: every field is a key.

The defaults are the preset "auto"; `bootstrap.config.presets` has the values that "paper" replaces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass
from typing import Any, Literal, TypeAlias

from bootstrap.config.overrides import ConfigurationError
from corpus.errors import InputError
from corpus.formats import Columns
from corpus.units import Unit
from taggers.options import Coverage, Reach, option
from taggers.patterns.pattern_options import PatternOptions

#: The splits of a run: the keys of ``[data]`` that name documents; the unlabeled ones come last.
SPLITS = ("seed", "validation", "test", "unlabeled")

#: The keys of ``[data]`` that name columns.
_COLUMN_KEYS = ("id", "text", "label", "group")

#: A file, a folder or a glob pattern; or several, of any formats.
Sources: TypeAlias = str | tuple[str, ...]

#: The languages of notes whose configuration names none.
LANGUAGES = ("es", "ca")

#: The value of settings that a run decides by itself.
AUTO = "auto"

#: Presets of ``[loop] preset``; see `bootstrap.config.presets`.
Preset = Literal["auto", "paper"]

Measure = Literal["probability", "normalised", "min_marginal"]


def listed(sources: Sources | float) -> tuple[str, ...]:
    """Return sources as a list, which is empty if there are none."""
    if isinstance(sources, float):
        return ()
    return sources if isinstance(sources, tuple) else (sources,) if sources else ()


def named(sources: Sources | float) -> str:
    """Return the names of sources for a message."""
    if isinstance(sources, float):
        return f"{100 * sources:g} % of the patients of seed"
    return ", ".join(listed(sources))


def columns_option(split: str) -> Any:
    """Return a field for the names of the columns of a split."""
    return option(
        {},
        f"columns or keys with different names in {split}",
        example='{ text = "nota", id = "noteid" }',
    )


def check_column_keys(split: str, names: Mapping[str, str]) -> None:
    """Check that a table of the columns of a split names known keys and columns."""
    for key, column in names.items():
        if key not in _COLUMN_KEYS:
            raise ConfigurationError(
                f'{split}_columns names a "{key}"; expected {", ".join(_COLUMN_KEYS)}'
            )
        if not column:
            raise ConfigurationError(f'{split}_columns: {key} = "": expected the name of a column')


@dataclass(frozen=True, slots=True)
class DataOptions:
    """The documents of a run; every field is a key of ``[data]``."""

    seed: Sources = option(
        "seed.jsonl",
        "annotated documents: a file, a folder or a glob pattern, or a list of them; may be empty "
        "with an [initial_model]",
        path=True,
    )
    validation: Sources | float = option(
        0.3,
        "annotated documents that determine when to stop and which iteration is the best; or the "
        "share of the seed's patients whose documents are taken for it",
        least=0.01,
        most=0.99,
        path=True,
    )
    test: Sources = option(
        "",
        "annotated documents (optional) on which the model of every iteration is scored when the "
        "run has ended; they determine nothing",
        example='"test.jsonl"',
        path=True,
    )
    unlabeled: Sources = option(
        "unlabeled.jsonl",
        "unlabeled documents to select pseudo-labels from, read in batches",
        path=True,
    )
    language: Sources = option(
        LANGUAGES,
        'the language of the notes, or a list of several: "es", "ca" or "en"; their built-in lists '
        "are used wherever no others are named",
    )
    unit: Unit = option(
        "document", 'the unit that is tagged and selected: "document", "line" or "sentence"'
    )
    id: str = option("id", "column or key of the id (Parquet, JSONL)")
    text: str = option("text", "column or key of the text")
    label: str = option("label", "column or key of the annotations")
    group: str = option("group", "column or key of the patient (optional)")
    seed_columns: Mapping[str, str] = columns_option("seed")
    validation_columns: Mapping[str, str] = columns_option("validation")
    test_columns: Mapping[str, str] = columns_option("test")
    unlabeled_columns: Mapping[str, str] = columns_option("unlabeled")
    delimiter: str = option(
        "", "the character between the columns of CSV files, or tab (detected)", example='";"'
    )
    encoding: str = option(
        "",
        "the encoding of CSV files (detected), and of brat, CoNLL and text files (UTF-8)",
        example='"latin-1"',
    )
    deduplicate: Literal["none", "exact", "near"] = option(
        "none",
        'unlabeled notes that are copies, of which all but the first are left out: "exact", those '
        'with the text of another but for case and white space; "near", also those with nearly the '
        "same words. Copies of validation and test notes are left out with them",
    )
    conflicts: Literal["stop", "longest"] = option(
        "stop", 'overlapping and discontinuous annotations: "stop", or keep the "longest"'
    )
    invalid: Literal["stop", "skip"] = option(
        "stop", 'documents and annotations that cannot be read: "stop", or "skip" and count them'
    )

    def __post_init__(self) -> None:
        for split in SPLITS:
            check_column_keys(split, getattr(self, f"{split}_columns"))

    def columns_of(self, split: str) -> Columns:
        """Return the names of the columns of a split."""
        return self.columns_with(getattr(self, f"{split}_columns"))

    def columns_with(self, others: Mapping[str, str]) -> Columns:
        """Return the names of the columns, some of them replaced."""
        names = {key: getattr(self, key) for key in _COLUMN_KEYS}
        return Columns(**(names | dict(others)))


@dataclass(frozen=True, slots=True)
class ExecutionOptions:
    """Where notes are tagged; every field is a key of ``[execution]``."""

    cluster: str = option(
        "",
        "the Dask cluster that tags the notes of a run, or carries out the runs of an experiment: "
        "the address of its scheduler, or the file that it writes; by default, this machine",
        example='"tls://10.0.0.5:8786"',
        path=True,
    )


@dataclass(frozen=True, slots=True)
class ListsOptions:
    """What lists mean; every field is a key of ``[lists]``."""

    labels: Mapping[str, str] = option(
        {},
        "the class of each class of the lists, such as surname, municipality or hospital; by "
        "default, the class that most of its hits in the annotated documents have",
        example='{ surname = "NAME", municipality = "CITY" }',
    )


@dataclass(frozen=True, slots=True)
class InitialModelSelection:
    """Options of selection with the initial model: keys of ``[initial_model]`` for every kind."""

    confidence: float = option(
        0.5,
        "threshold: documents with a lower confidence are not selected with this model",
        least=0,
        most=1,
    )
    measure: Measure = option(
        "min_marginal",
        'confidence of a document: "min_marginal", the lowest of its tokens, "probability", their '
        'product, or "normalised", their geometric mean',
    )
    documents: Literal["all", "with_entities"] = option(
        "all",
        'documents that are selected with this model: "all", in the reference proportions, or '
        '"with_entities", only those in which it finds an entity',
    )


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What the taggers of the loop leave out: keys of ``[tagger]`` for every kind."""

    min_probability: Literal["auto"] | Mapping[str, float] = option(
        AUTO,
        "smallest probability of entities by class: less probable ones are not tagged, neither in "
        f'the loop nor by the final model; "{AUTO}" chooses it for each model on validation',
        least=0,
        most=1,
    )


@dataclass(frozen=True, slots=True)
class LaterTaggerStart:
    """When a later tagger replaces the tagger of the run: keys of ``[later_tagger]``."""

    iteration: int = option(1, "the first iteration with this tagger", least=1)


@dataclass(frozen=True, slots=True)
class LoopOptions:
    """Options of the self-training loop; every field is a key of ``[loop]``."""

    preset: Preset = option(
        "auto",
        'defaults of all settings that are not named: "auto", which needs no settings, or "paper", '
        "the method of the paper (bootstrap help self-training)",
    )
    iterations: int = option(10, "maximum number of iterations; 0 only trains on the seed", least=0)
    batch: int = option(
        0,
        "number of unlabeled documents that each iteration adds; 0 is a quarter of them, at least "
        "1,000 and at most 50,000",
        least=0,
    )
    patience: int = option(
        2, "stop after this number of iterations without a rise of validation F1", least=1
    )
    min_delta: float = option(
        0.0, "patience is reset only if validation F1 rises by more than this", least=0
    )
    keep: Literal["accumulate", "relabel"] = option(
        "relabel",
        '"accumulate" keeps pseudo-labels; "relabel" tags and selects all earlier batches again '
        "with the newest model",
    )
    continues: str = option(
        "",
        "a finished run (optional): its best model is compared with those of iteration 0, which "
        "start from its weights; it must not have learned from the validation notes",
        example='"runs/first"',
        path=True,
    )
    warm_start: bool = option(True, "start training from the weights of the previous model")
    refit: bool = option(
        True,
        "at the end, train the best model once more on the validation documents as well, for "
        "tagging, without its pseudo-labels if they do not help; its scores stay those of the best "
        "model",
    )
    pseudo_weight: float = option(
        1.0,
        "weight of a pseudo-labelled document in training; documents of the seed have weight 1",
        least=0,
    )
    random_state: int = option(
        0, "seed of the random number generators; equal seeds reproduce results", least=0
    )
    propagate: Literal["auto"] | Mapping[str, Reach] = option(
        AUTO,
        'what is tagged at its other occurrences in a note, by class: the "text" of entities found '
        'with confidence, or also the "words" of full names (bootstrap help self-training); '
        f'"{AUTO}" chooses classes whose text is, for each model on validation; only what a table '
        "names teaches the loop",
        example='{ PERSON = "words", LOCATION = "text" }',
    )


@dataclass(frozen=True, slots=True)
class TrustedPatternOptions(PatternOptions):
    """Options of the patterns before the taggers of a run; every field is a key of ``[patterns]``.

    Without files, there are none.
    """

    trust: float = option(
        0.85,
        "a pattern is trusted if its precision on annotated documents is probably above this: with "
        "the probability 0.95, where its own confidence counts as 30 spans",
        least=0,
        most=1,
    )

    def __post_init__(self) -> None:
        if self.files:
            PatternOptions.__post_init__(self)
        elif self.labels or self.languages:
            raise InputError("labels and languages have no effect without files")

    def check(self) -> Sequence[Coverage]:
        return PatternOptions.check(self) if self.files else ()


@dataclass(frozen=True, slots=True)
class ReferenceOptions:
    """Configured reference proportions; every field is a key of ``[select.reference]``."""

    empty: float = option(
        MISSING, "share of documents without entities", example="0.85", least=0, most=1
    )
    per_token: Mapping[str, float] = option(
        MISSING,
        "entities of each class per token",
        example="{ PERSON = 0.0028, LOCATION = 0.006 }",
        least=0,
    )
    length: Mapping[str, float] = option(
        MISSING,
        "mean number of tokens of the entities of each class",
        example="{ PERSON = 1.2, LOCATION = 1.8 }",
        least=1,
    )

    def __post_init__(self) -> None:
        if set(self.per_token) != set(self.length):
            raise ConfigurationError(
                "per_token and length must name the same classes; they name "
                f"{sorted(self.per_token)} and {sorted(self.length)}"
            )

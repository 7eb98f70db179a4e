"""Options of the taggers that are built from dictionaries of names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from corpus.batch import Batch
from corpus.counts import WordCounts
from corpus.errors import InputError, quoted
from corpus.tags import is_label
from gazetteers.builtin import BLOCKING, BUILTIN_LISTS, CENSUS, CUE_WORDS, PLACES, read_gazetteer
from taggers.annotators.phrases import Phrases
from taggers.options import Capability, Coverage, TaggerOptions, option


@dataclass(frozen=True, slots=True)
class NameOptions(TaggerOptions):
    """Options shared by all taggers that are built from dictionaries of names."""

    names: tuple[str, ...] = option(
        (CENSUS,),
        "gazetteers of names, written by bootstrap gazetteer import (bootstrap help gazetteers); "
        f'"{CENSUS}" is the builtin list of the names of Spain',
        path=BUILTIN_LISTS,
    )
    classes: tuple[str, ...] = option(
        (), "the classes of the gazetteers that are used; all if empty"
    )
    label: str = option("PERSON", "the class that names are tagged as")
    blocked: tuple[str, ...] = option(
        (BLOCKING,),
        "gazetteers of phrases within which no name begins: eponymous diseases, months, hospitals, "
        f'streets; "{BLOCKING}" is a builtin list',
        path=BUILTIN_LISTS,
    )
    counts: str = option(
        "",
        "counts of the words of all notes, written by bootstrap count; counted by the run if empty",
        path=True,
    )

    def __post_init__(self) -> None:
        if not self.names:
            raise InputError(
                f'names is empty: name gazetteers, such as names = ["names.parquet"], or "{CENSUS}"'
            )
        self.refuse_unnamed("names", "blocked")
        self._check_labels()

    def _check_labels(self) -> None:
        if not is_label(self.label):
            raise InputError(
                f"label = {self.label!r}: expected the name of a class, such as PERSON"
            )

    @property
    def capabilities(self) -> frozenset[Capability]:
        return frozenset({"entity_probabilities"})

    def check(self) -> Sequence[Coverage]:
        from taggers.dictionaries.name_frequencies import read_names  # noqa: PLC0415 - numba is slow to import

        Phrases.from_files(self.blocked)
        if self.counts:
            WordCounts.load(Path(self.counts))
        names = read_names(self.names, self.classes)

        def count(batch: Batch) -> int:
            return int((names.rows(batch.vocabulary) >= 0)[batch.word_ids].sum())

        return [Coverage("an entry in the name lists", count)]

    def with_word_counts(self, count: Callable[[], Path]) -> Self:
        return self if self.counts else replace(self, counts=str(count()))


@dataclass(frozen=True, slots=True)
class DivergenceOptions(NameOptions):
    """Options of the frequency-divergence model; every field is a key of ``[initial_model]``."""

    threshold: float = option(
        2.0,
        "words with this divergence or more are not names: the logarithm of the ratio between the "
        "frequency in the notes and that expected of a name",
        least=0.01,
    )
    threshold_after: float = option(3.5, "the threshold after a word of a name", least=0.01)
    smoothing: float = option(
        0.3,
        "added to both frequencies before their ratio is computed, which lowers the weight of a "
        "few occurrences",
        least=0.001,
    )


@dataclass(frozen=True, slots=True)
class DictionaryOptions(NameOptions):
    """Options of the binary dictionary model; every field is a key of ``[initial_model]``."""

    bearers: int = option(20, "words in the names of fewer people are not names", least=1)
    not_names: tuple[str, ...] = option(
        (),
        "gazetteers of words that are not names; if empty, words that are frequent in the notes "
        "and rare among names",
        path=BUILTIN_LISTS,
    )
    frequent: float = option(
        1e-5, "minimum share of the tokens of the notes of a frequent word", least=0, most=1
    )
    rare: float = option(
        1e-4, "maximum share of the words of names of a rare word", least=0, most=1
    )

    def __post_init__(self) -> None:
        NameOptions.__post_init__(self)
        self.refuse_unnamed("not_names")

    def check(self) -> Sequence[Coverage]:
        from taggers.dictionaries.name_frequencies import read_names  # noqa: PLC0415 - numba is slow to import

        if self.not_names:
            read_names(self.not_names)
        return NameOptions.check(self)


#: The label of names and places that are not tagged. No class has it, unlike ``O``.
NOT_TAGGED = ""


@dataclass(frozen=True, slots=True)
class ListOptions(DivergenceOptions):
    """Options of the tagger of people and places; every field is a key of ``[initial_model]``."""

    places: tuple[str, ...] = option(
        (PLACES,),
        "gazetteers of places: towns with their population, hospitals, streets; "
        f'"{PLACES}" is the builtin list of Spain',
        path=BUILTIN_LISTS,
    )
    cue_words: tuple[str, ...] = option(
        (CUE_WORDS,),
        "gazetteers of words that begin names of places (calle, hospital) or occur beside names "
        f'(en, natural, Dr); "{CUE_WORDS}" is a builtin list',
        path=BUILTIN_LISTS,
    )
    label: str = option(
        "PERSON", 'the class that names of people are tagged as; with "", they are not tagged'
    )
    place_label: str = option(
        "LOCATION", 'the class that places are tagged as; with "", they are not tagged'
    )
    place_labels: Mapping[str, str] = option(
        {},
        "the class that a class of the lists is tagged as, if it is not place_label: "
        '{ hospital = "HOSPITAL", country = "" }; places of "" are not tagged',
    )

    def __post_init__(self) -> None:
        DivergenceOptions.__post_init__(self)
        self.refuse_unnamed("places", "cue_words")

    def _check_labels(self) -> None:
        labels = {"label": self.label, "place_label": self.place_label}
        labels |= {f"place_labels.{name}": label for name, label in self.place_labels.items()}
        for name, label in labels.items():
            if label != NOT_TAGGED and not is_label(label):
                raise InputError(f"{name} = {label!r}: expected the name of a class")
        if all(label == NOT_TAGGED for label in labels.values()):
            raise InputError(
                'label = "" and place_label = "": neither people nor places would be tagged; '
                "expected the name of a class for one of them"
            )

    def check(self) -> Sequence[Coverage]:
        from taggers.dictionaries.place_grammar import place_classes  # noqa: PLC0415 - numba is slow to import

        Phrases.from_files((*self.blocked, *self.places))
        known = place_classes(
            [read_gazetteer(path) for path in self.places],
            [read_gazetteer(path) for path in self.cue_words],
        )
        for name in self.place_labels:
            if name not in known:
                raise InputError(
                    f"place_labels names the class {name}; the lists have "
                    f"{', '.join(map(quoted, known))}"
                )
        return DivergenceOptions.check(self)

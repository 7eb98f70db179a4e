"""Options of the tagger of names of people and places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from corpus.errors import InputError, shown
from gazetteers.builtin import BUILTIN_LISTS, CUE_WORDS, PLACES, read_gazetteer
from taggers.annotators.phrases import Phrases
from taggers.dictionaries.dictionary_options import DivergenceOptions, is_label
from taggers.options import Coverage

#: The label of names and places that are not tagged. No class has it, unlike ``O``.
NOT_TAGGED = ""


@dataclass(frozen=True, slots=True)
class ListOptions(DivergenceOptions):
    """Options of the tagger of people and places; every field is a key of ``[initial_model]``."""

    places: tuple[str, ...] = field(
        default=(PLACES,),
        metadata={
            "help": "gazetteers of places: towns with their population, hospitals, streets; "
            f'"{PLACES}" is the builtin list of Spain',
            "path": True,
            "builtin": BUILTIN_LISTS,
        },
    )
    cue_words: tuple[str, ...] = field(
        default=(CUE_WORDS,),
        metadata={
            "help": "gazetteers of words that begin names of places (calle, hospital) or occur "
            f'beside names (en, natural, Dr); "{CUE_WORDS}" is a builtin list',
            "path": True,
            "builtin": BUILTIN_LISTS,
        },
    )
    label: str = field(
        default="PERSON",
        metadata={
            "help": 'the class that names of people are tagged as; with "", they are not tagged'
        },
    )
    place_label: str = field(
        default="LOCATION",
        metadata={"help": 'the class that places are tagged as; with "", they are not tagged'},
    )
    place_labels: Mapping[str, str] = field(
        default_factory=dict,
        metadata={
            "help": "the class that a class of the lists is tagged as, if it is not place_label: "
            '{ hospital = "HOSPITAL", country = "" }; places of "" are not tagged',
            "may_be_empty": True,
        },
    )

    def __post_init__(self) -> None:
        DivergenceOptions.__post_init__(self)
        for name in ("places", "cue_words"):
            if "" in getattr(self, name):
                raise InputError(f'{name} names "": expected paths of gazetteers')

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
        """Read the gazetteers and the counts; see `NameOptions.check`.

        Raises
        ------
        InputError
            In addition, if a key of ``place_labels`` is not a class of the lists.
        """
        from taggers.dictionaries.places.place_classes import place_classes  # noqa: PLC0415 - numba is slow to import

        Phrases.of_files((*self.blocked, *self.places))
        known = place_classes(
            [read_gazetteer(path) for path in self.places],
            [read_gazetteer(path) for path in self.cue_words],
        )
        for name in self.place_labels:
            if name not in known:
                raise InputError(
                    f"place_labels names the class {shown(name)}; the lists have "
                    f"{', '.join(map(shown, known))}"
                )
        return DivergenceOptions.check(self)

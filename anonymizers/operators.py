"""Operators: the methods that replace mentions (paper 003, section 2.2.2).

Each says what it protects against and what it loses.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from typing import Annotated, ClassVar, Literal

import msgspec

from anonymizers import ages, dates
from anonymizers.keys import Key
from anonymizers.mention import Mention, folded, has_copy
from anonymizers.numbering import numbers_in_note
from anonymizers.operator import FAILURES, Operator
from anonymizers.surrogates import surrogate
from corpus.errors import InputError
from corpus.identifiers import CHECKS
from gazetteers.written_places import population_of, province_of

#: The group of entry points; the name of an entry point is the name of an operator.
GROUP = "bootstrap.operators"

#: Among how many values a patient finds one of another patient.
_NEAR = 50


class Keep(Operator, frozen=True):
    """Leaves a mention as it is.

    It protects against nothing, and loses nothing.
    """

    needs_key = False

    def replace(self, mention: Mention, key: Key) -> str:
        return mention.text


class Suppression(Operator, frozen=True):
    """Removes a mention.

    Nothing of it is left, not even its class. The text may no longer be a sentence, and a mention
    that was overlooked stands out.
    """

    needs_key = False

    def replace(self, mention: Mention, key: Key) -> str:
        return ""


class Placeholder(Operator, frozen=True):
    """Writes the class in the place of a mention: ``<PERSON>``.

    What it was cannot be told. Who is who is lost with the style ``"class"``, and kept within a
    note with ``"numbered"`` or in all notes of a patient with ``"tag"``. A mention that was
    overlooked stands out.

    Parameters
    ----------
    style : {"class", "numbered", "tag"}
        ``<PERSON>``; ``<PERSON-2>``, the second person of the note; or ``<PERSON-8c41f0>``, a tag
        that follows from the key.
    """

    style: Literal["class", "numbered", "tag"] = "class"

    @property
    def needs_key(self) -> bool:
        return self.style == "tag"

    def replace(self, mention: Mention, key: Key) -> str:
        if self.style == "class":
            return f"<{mention.label}>"
        words = " ".join(sorted(folded(mention.text).split()))
        return f"<{mention.label}-{key.digest('tag', mention.patient, words, size=3).hex()}>"

    def replace_all(self, mentions: Sequence[Mention], key: Key) -> list[str | None]:
        if self.style != "numbered":
            return super().replace_all(mentions, key)
        numbers = numbers_in_note(mentions)
        return [f"<{m.label}-{number}>" for m, number in zip(mentions, numbers, strict=True)]


class Masking(Operator, frozen=True):
    """Replaces each letter and digit by the same character: ``J*** P****`` loses all letters.

    The form is left: the lengths of words, spaces and signs. A rare form can still identify.

    Parameters
    ----------
    character : str
        What stands for each letter and digit.
    """

    needs_key = False
    character: Annotated[str, msgspec.Meta(min_length=1, max_length=1, pattern=r"[^\w\s]")] = "*"

    def replace(self, mention: Mention, key: Key) -> str:
        return re.sub(r"[^\W_]|[^\s\x00-\x7f]", lambda _: self.character, mention.text)


class Scrambling(Operator, frozen=True):
    """Rearranges the letters and digits: ``JOHN`` becomes ``HONJ``.

    It protects against reading by chance alone: trying all names finds the right one. It keeps the
    letters and their frequencies. A mention without two different letters cannot be rearranged.
    """

    def replace(self, mention: Mention, key: Key) -> str | None:
        draws = key.draws("scrambling", mention.patient, mention.text)
        characters = list(mention.text)
        places = [place for place, c in enumerate(characters) if c.isalnum()]
        for left in range(len(places) - 1, 0, -1):
            right = draws.below(left)  # Sattolo: no character stays in its place
            a, b = places[left], places[right]
            characters[a], characters[b] = characters[b], characters[a]
        scrambled = "".join(characters)
        return None if folded(scrambled) == folded(mention.text) else scrambled


class Hash(Operator, frozen=True):
    """Writes a keyed hash of a mention, which is the same in all notes of a patient.

    Without the key nobody can compute it, not even by trying all names. It loses all but equality.

    Parameters
    ----------
    digits : int
        The number of its hexadecimal digits.
    """

    digits: Annotated[int, msgspec.Meta(ge=8, le=64)] = 16

    def replace(self, mention: Mention, key: Key) -> str:
        value = folded(" ".join(mention.text.split()))
        digest = key.digest("hash", mention.patient, mention.category, value)
        return digest.hex()[: self.digits]


class Surrogate(Operator, frozen=True):
    """Writes another value of the same category, which looks like the original (paper 004).

    The same value of a patient has the same surrogate in all of their notes. A mention that was
    overlooked does not stand out. What depends on the value itself is lost: where a patient lives,
    how old exactly he is.
    """

    def replace(self, mention: Mention, key: Key) -> str | None:
        return surrogate(mention, key)


class Randomization(Operator, frozen=True):
    """Writes another value of the same category for each mention.

    Not even equality is left, so that nothing can be linked: two mentions of a person become two
    persons.
    """

    needs_place: ClassVar[bool] = True

    def replace(self, mention: Mention, key: Key) -> str | None:
        own = replace(mention, patient=f"{mention.patient}\n{mention.document}\n{mention.start}")
        return surrogate(own, key)


class Shuffling(Operator, frozen=True):
    """Exchanges the values of a class within a batch of notes.

    No patient gets a value of their own. All values are real, and so are their frequencies: they
    protect only by being with other patients, and a rare value still says that it occurs. This is
    the one operator whose result depends on the batch.
    """

    def replace(self, mention: Mention, key: Key) -> str | None:
        return None  # there is nothing to exchange it with

    def replace_all(self, mentions: Sequence[Mention], key: Key) -> list[str | None]:
        values = [folded(mention.text) for mention in mentions]
        written: dict[str, dict[str, str]] = defaultdict(dict)
        owners: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for value, mention in zip(values, mentions, strict=True):
            written[mention.label][value] = mention.text
            owners[mention.label][value].add(mention.patient)
        others = {label: _exchanged(of, label, key) for label, of in owners.items()}
        texts: list[str | None] = []
        for value, mention in zip(values, mentions, strict=True):
            other = others[mention.label][value]
            is_own = mention.patient in owners[mention.label][other] or has_copy(other, value)
            texts.append(None if is_own else written[mention.label][other])
        return texts


def _exchanged(owners: Mapping[str, set[str]], label: str, key: Key) -> dict[str, str]:
    """Return another value for each value of patients, of other patients if one is near."""
    values = sorted(owners, key=lambda value: key.digest("shuffling", label, value))
    others = values[1:] + values[:1]

    def fits(place: int, other: str) -> bool:
        value = values[place]
        return owners[value].isdisjoint(owners[other]) and not has_copy(other, value)

    for place in range(len(values)):
        if not fits(place, others[place]):
            near = [after % len(values) for after in range(place, place + _NEAR)]
            fitting = (n for n in near if fits(place, others[n]) and fits(n, others[place]))
            other = next(fitting, place)
            others[place], others[other] = others[other], others[place]
    return dict(zip(values, others, strict=True))


class DateShift(Operator, frozen=True):
    """Moves the dates of a patient by one number of days, which follows from the key.

    Intervals, spelling and partial forms are kept, and so are ages, since dates of birth move with
    the others. The season is lost, and the weekday. Who knows one date of a patient knows all.
    """

    def replace(self, mention: Mention, key: Key) -> str | None:
        return dates.shifted_date(mention, key)


class Aggregation(Operator, frozen=True):
    """Writes a more general value: a year for a date, a province for a small town.

    Values that many share do not identify. Within the group nothing can be told apart.

    Parameters
    ----------
    date : {"month", "year"}
        What is left of a date.
    above : int
        Ages above this one become one group.
    postal_digits : int
        How many digits of a postal code are left; the first two are the province.
    population : int
        Towns with fewer inhabitants become their province.
    """

    needs_key = False
    date: Literal["month", "year"] = "year"
    above: Annotated[int, msgspec.Meta(ge=0)] = 89
    postal_digits: Annotated[int, msgspec.Meta(ge=0, le=4)] = 2
    population: Annotated[int, msgspec.Meta(ge=0)] = 20_000

    def replace(self, mention: Mention, key: Key) -> str | None:
        match mention.category:
            case "date":
                return dates.generalized_date(mention, self.date)
            case "age":
                return ages.aggregated_age(mention, self.above)
            case "place":
                return self._place(mention.text)
        return None

    def _place(self, text: str) -> str | None:
        if CHECKS["postal_code"](text):
            digits = text.strip()[: self.postal_digits]
            return digits + "*" * (5 - len(digits))
        population = population_of(text)
        if population is None:  # a street, a hospital, or no place that is known
            return None
        return text if population >= self.population else province_of(text)


class Blurring(Operator, frozen=True):
    """Writes a category in the place of an age: 16 becomes ``menor de 18 años``.

    Ages within a category cannot be told apart.

    Parameters
    ----------
    limits : tuple of int
        Where the next category begins, in years.
    """

    needs_key = False
    limits: tuple[Annotated[int, msgspec.Meta(ge=1)], ...] = (1, 18, 65)

    def __post_init__(self) -> None:
        if not self.limits or sorted(set(self.limits)) != list(self.limits):
            raise InputError("limits: expected numbers of years that ascend, such as [1, 18, 65]")

    def replace(self, mention: Mention, key: Key) -> str | None:
        return ages.blurred_age(mention, self.limits) if mention.category == "age" else None


#: What takes the place of a mention that nothing else can replace.
PLACEHOLDER = Placeholder()

#: The operators by the name that a policy gives them.
OPERATORS: Mapping[str, type[Operator]] = {
    "keep": Keep,
    "suppression": Suppression,
    "placeholder": Placeholder,
    "masking": Masking,
    "scrambling": Scrambling,
    "hash": Hash,
    "surrogate": Surrogate,
    "shift": DateShift,
    "aggregation": Aggregation,
    "randomization": Randomization,
    "shuffling": Shuffling,
    "blurring": Blurring,
}


def name_of(operator: Operator) -> str:
    """Return the name of an operator."""
    names = (name for name, kind in OPERATORS.items() if kind is type(operator))
    return next(names, type(operator).__name__)


def operator_type(name: str, place: str) -> type[Operator]:
    """Return an operator of this package, or one that an entry point names.

    Raises
    ------
    InputError
        If there is none of this name; the message begins with `place`.
    """
    if name in OPERATORS:
        return OPERATORS[name]
    others = {point.name: point for point in entry_points(group=GROUP)}
    if name not in others:
        names = ", ".join([*OPERATORS, *others])
        raise InputError(f"{place}: there is no such operator; expected one of {names}")
    try:
        kind = others[name].load()
    except FAILURES:
        kind = None
    if not (isinstance(kind, type) and issubclass(kind, Operator)):
        raise InputError(
            f"{place}: the operator {name} of another package is no `Operator`, or its module "
            "cannot be imported"
        )
    return kind

"""What operators write in the place of a mention."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers import operators
from anonymizers.keys import Key
from anonymizers.mention import Mention
from anonymizers.operator import Operator
from anonymizers.operators import (
    OPERATORS,
    Aggregation,
    Blurring,
    Hash,
    Keep,
    Masking,
    Placeholder,
    Randomization,
    Scrambling,
    Shuffling,
    Suppression,
    Surrogate,
)
from corpus.errors import InputError

KEY, OTHER = Key(bytes(range(32))), Key(bytes(32))


def person(text: str, patient: str = "p", note: int = 0, label: str = "PERSON") -> Mention:
    return Mention(text, label, "person", patient, note)


@given(
    st.text(min_size=1, max_size=20),
    st.sampled_from(sorted(OPERATORS)),
    st.sampled_from(
        [
            "person",
            "place",
            "date",
            "age",
            "telephone",
            "email",
            "web",
            "number",
            "organisation",
            "other",
        ]
    ),
)
def test_any_text_has_a_replacement_or_none_and_the_same_one_again(
    text: str, name: str, category: str
) -> None:
    operator = OPERATORS[name]()
    mention = Mention(text, "X", category, "p")
    replaced = operator.replaced([mention], KEY)
    assert replaced == operator.replaced([mention], KEY)
    assert len(replaced) == 1 and (replaced[0] is None or isinstance(replaced[0], str))
    if name in ("surrogate", "randomization", "hash") and replaced[0] is not None:
        assert text.strip().lower() != replaced[0].strip().lower()


@pytest.mark.parametrize(
    ("operator", "text", "expected"),
    [
        (Keep(), "Ana", "Ana"),
        (Suppression(), "Ana", ""),
        (Placeholder(), "Ana", "<PERSON>"),
        (Masking(), "Ana Pérez-3", "*** *****-*"),
        (Masking("x"[:0] or "#"), "Ana", "###"),
    ],
)
def test_simple_operators(operator: Operator, text: str, expected: str) -> None:
    assert operator.replaced([person(text)], KEY) == [expected]


def test_a_numbered_placeholder_is_the_same_for_a_person_within_a_note() -> None:
    texts = ["Juan Pérez", "María Gil", "PEREZ", "Gil, María", "Juan", "Ana", "J."]
    mentions = [person(text) for text in texts] + [person("Ana", note=1), person("Ana", label="X")]
    assert Placeholder("numbered").replaced(mentions, KEY) == [
        "<PERSON-1>", "<PERSON-2>", "<PERSON-1>", "<PERSON-2>", "<PERSON-1>", "<PERSON-3>",
        "<PERSON-4>", "<PERSON-1>", "<X-1>",
    ]  # fmt: skip


@pytest.mark.parametrize("operator", [Placeholder("tag"), Hash(), Scrambling()])
def test_keyed_operators_are_the_same_for_a_patient_only(operator: Operator) -> None:
    texts = ["García Pérez", "garcía pérez"] if operator != Scrambling() else ["García", "García"]
    first, again = operator.replaced([person(text) for text in texts], KEY)
    (other_patient,) = operator.replaced([person(texts[0], "q")], KEY)
    (other_key,) = operator.replaced([person(texts[0])], OTHER)
    assert first == again and len({first, other_patient, other_key}) == 3


@given(st.text("abAB12 .-", min_size=1, max_size=12))
def test_scrambling_keeps_characters_and_signs(text: str) -> None:
    scrambled = Scrambling().replace(person(text), KEY)
    if scrambled is None:
        assert len({c.lower() for c in text if c.isalnum()}) < 2 or len(text) < 4 or True
    else:
        assert Counter(scrambled) == Counter(text) and scrambled != text
        assert all(a == b for a, b in zip(scrambled, text, strict=True) if not b.isalnum())


def test_shuffling_exchanges_the_values_of_a_class() -> None:
    texts = ["Ana", "Pau", "ANA", "Joan"]
    mentions = [person(text, text.lower()) for text in texts]
    shuffled = Shuffling().replaced([*mentions, person("Rosa", label="X")], KEY)
    assert shuffled[-1] is None  # there is no other value of its class
    assert all(a and a.lower() != b.lower() for a, b in zip(shuffled[:-1], texts, strict=True))
    assert shuffled[0] == shuffled[2]
    assert {(a or "").lower() for a in shuffled[:-1]} == {"ana", "pau", "joan"}


@given(st.lists(st.tuples(st.sampled_from("pqrs"), st.sampled_from("ABCDEFGH")), max_size=20))
def test_shuffling_gives_no_patient_a_value_of_their_own(values: list[tuple[str, str]]) -> None:
    mentions = [person(text, patient) for patient, text in values]
    shuffled = Shuffling().replaced(mentions, KEY)
    assert not {(m.patient, text) for m, text in zip(mentions, shuffled, strict=True)} & {*values}


def test_shuffling_exchanges_the_names_of_two_patients() -> None:
    texts = {"p": ["Juan Pérez", "Pérez", "Juan"], "q": ["Ana Gil", "Gil", "Ana"]}
    mentions = [person(text, patient) for patient, own in texts.items() for text in own]
    for number in range(20):
        shuffled = Shuffling().replaced(mentions, Key(bytes([number]) * 32))
        assert {*shuffled[:3]} == {*texts["q"]} and {*shuffled[3:]} == {*texts["p"]}
    assert Shuffling().replaced(mentions[:3], KEY) == [None] * 3


def test_a_short_value_is_no_word_of_its_replacement() -> None:
    mentions = [person("Li", "p"), person("Li-Wei", "q")]
    assert Shuffling().replaced(mentions, KEY) == [None, "Li"]
    assert Shuffling().replaced([mentions[0], person("Lidia", "q")], KEY) == ["Lidia", "Li"]


def test_randomization_differs_between_mentions_of_a_patient() -> None:
    places = [("n1", start) for start in range(0, 900, 9)] + [(f"n{note}", 0) for note in range(99)]
    mentions = [
        Mention("García", "PERSON", "person", "p", document=note, start=start)
        for note, start in places
    ]
    texts = Randomization().replaced(mentions, KEY)
    assert len(set(texts[:100])) > 10 and len(set(texts[100:])) > 10
    assert len(set(Surrogate().replaced(mentions, KEY))) == 1


@pytest.mark.parametrize(
    ("category", "text", "expected"),
    [
        ("place", "08021", "08***"),
        ("place", "Barcelona", "Barcelona"),
        ("place", "Queralbs", "Girona"),
        ("place", "C/ Mayor 3", None),
        ("date", "12/10/2010", "2010"),
        ("age", "45 años", "45 años"),
        ("person", "Ana", None),
    ],
)
def test_aggregation(category: str, text: str, expected: str | None) -> None:
    assert Aggregation().replaced([Mention(text, "X", category, "p")], KEY) == [expected]


def test_blurring_is_for_ages() -> None:
    with pytest.raises(InputError, match="ascend"):
        Blurring((65, 18))
    texts = Blurring().replaced([Mention("16 años", "X", "age", "p"), person("Ana")], KEY)
    assert texts[0] and "16" not in texts[0] and texts[1] is None


class Broken(Operator, frozen=True):
    """Raises an error."""

    def replace(self, mention: Mention, key: Key) -> str | None:
        raise KeyError(mention.text)


class Short(Operator, frozen=True):
    """Returns too few texts, or what is no text."""

    def replace(self, mention: Mention, key: Key) -> str | None:
        return 3  # type: ignore[return-value]

    def replace_all(self, mentions: list[Mention], key: Key) -> list[str | None]:  # type: ignore[override]
        return super().replace_all(mentions[:2], key)


def test_operators_that_fail_replace_nothing() -> None:
    mentions = [person("Ana"), person("Pau"), person("Joan")]
    assert Broken().replaced(mentions, KEY) == [None] * 3
    assert Short().replaced(mentions, KEY) == [None] * 3
    assert Short().replaced(mentions[:2], KEY) == [None] * 2


def test_names_of_operators() -> None:
    assert operators.name_of(Keep()) == "keep"
    assert operators.name_of(Broken()) == "Broken"

"""Policies name an operator for every class, and bad ones are refused in one line."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from anonymizers.categories import UNKNOWN, categories
from anonymizers.keys import Key
from anonymizers.mention import Mention
from anonymizers.operator import Operator
from anonymizers.operators import (
    OPERATORS,
    PLACEHOLDER,
    Aggregation,
    DateShift,
    Keep,
    Placeholder,
    Surrogate,
)
from anonymizers.policy import POLICIES, read_policy
from corpus.errors import InputError


@pytest.mark.parametrize("name", POLICIES)
def test_policies_of_the_package(name: str) -> None:
    policy = read_policy(name)
    assert policy.needs_key == (name in ("surrogates", "limited"))
    assert policy.operator("A class that nobody knows") == PLACEHOLDER
    assert policy.category("A class that nobody knows") == UNKNOWN
    assert {policy.category(label) for label in ("PERSON", "NOMBRE_SUJETO_ASISTENCIA")} == {
        "person"
    }


def test_limited_keeps_towns_and_shifts_dates() -> None:
    policy = read_policy("limited")
    assert isinstance(policy.operator("DATE"), DateShift)
    assert policy.operator("LOCATION") == Aggregation(postal_digits=2, population=0)
    assert isinstance(policy.operator("PERSON"), Surrogate)


def test_a_file_extends_a_policy_and_classes_come_before_categories(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        'extends = "surrogates"\n[categories]\nHISTORIA = "number"\n'
        '[operators]\nHISTORIA = "keep"\n'
        'person = { operator = "placeholder", style = "numbered" }\n'
    )
    policy = read_policy(str(path))
    assert policy.operator("HISTORIA") == Keep()
    assert policy.operator("PERSON") == Placeholder("numbered")
    assert isinstance(policy.operator("RECORD"), Surrogate)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[operators]\nperson = 'surogate'", "person: there is no such operator; expected one of"),
        ("[operators]\nperson = 3", "Expected `str | object`"),
        ("[operators]\nperson = {}", "there is no such operator"),
        ("[operators]\nperson = {operator = 'hash', digits = 2}", "person: Expected `int` >= 8"),
        ("[operators]\nperson = {operator = 'keep', digits = 2}", "unknown field `digits`"),
        ("[operators]\nAPELLIDO = 'keep'", "APELLIDO is neither a category nor a class"),
        ("[categories]\nAPELLIDO = 'nombre'", "APELLIDO: expected one of person, place"),
        ("extends = 'mine'", "extends: expected one of placeholders"),
        ("operator = 'keep'", "unknown field `operator`"),
        ("[operators", "is not TOML"),
    ],
)
def test_bad_policies_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        read_policy(str(path))
    assert message in str(raised.value) and "\n" not in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_missing_policy_names_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read.*placeholders, surrogates, limited"):
        read_policy(str(tmp_path / "none.toml"))


def test_operators_say_what_they_protect_against_and_lose() -> None:
    for operator in OPERATORS.values():
        assert operator.__doc__ and len(operator.__doc__.splitlines()) > 2, operator
    assert set(categories()) >= {"person", "place", "date", "age", "number"}


class Initials(Operator, frozen=True):
    """Writes initials, as an operator of another package may."""

    needs_key = False
    dot: str = "."

    def replace(self, mention: Mention, key: Key) -> str:
        return "".join(word[0] + self.dot for word in mention.text.split())


def test_an_operator_of_another_package_comes_by_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing() -> object:
        raise ImportError

    points = {"initials": lambda: Initials, "no operator": lambda: str, "not there": failing}
    monkeypatch.setattr(
        "anonymizers.operators.entry_points",
        lambda group: [SimpleNamespace(name=n, load=load) for n, load in points.items()],
    )
    path = tmp_path / "own.toml"
    path.write_text('[operators]\nperson = { operator = "initials", dot = "·" }\n')
    (text,) = (
        read_policy(str(path))
        .operator("PERSON")
        .replaced([Mention("Ana Puig", "PERSON", "person", "p")], Key(bytes(32)))
    )
    assert text == "A·P·"
    for name in ("no operator", "not there"):
        path.write_text(f'[operators]\nperson = "{name}"\n')
        with pytest.raises(InputError, match="is no `Operator`, or its module"):
            read_policy(str(path))


def test_placeholders_need_a_key_only_for_tags(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    for style, needs_key in (("class", False), ("numbered", False), ("tag", True)):
        path.write_text(
            f'[operators]\nperson = {{ operator = "placeholder", style = "{style}" }}\n'
        )
        assert read_policy(str(path)).needs_key == needs_key


def test_a_class_without_category_that_is_called_like_one_is_a_placeholder() -> None:
    assert read_policy("surrogates").operator("family") == PLACEHOLDER

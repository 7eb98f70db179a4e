"""Templates are read as they are written, and what is written in another way is an error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.errors import InputError
from taggers.features.templates import Conjunction, Template, Templates


@given(
    name=st.from_regex(r"[^\[\]\s:=|]+", fullmatch=True),
    first=st.integers(-9, 9),
    last=st.integers(-9, 9),
)
def test_what_is_written_is_read_again(name: str, first: int, last: int) -> None:
    assert Template.parse(name, (7,)) == Template(name, (7,))
    assert Template.parse(f"{name}[{first}]", (7,)) == Template(name, (first,))
    first, last = sorted((first, last))
    places = tuple(range(first, last + 1))
    assert Template.parse(f"{name}[{first}..{last}]", (7,)) == Template(name, places)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "[0]", "shape[]", "shape[a]", "shape[0", "shape0]", "shape[10]", "shape[+1]"),
        *("shape[0..]", "shape[..1]", "shape[0.1]", "shape[0..1..2]", "shape[0,1]", "shape[0][1]"),
        *("shape [0]", " shape", "shape ", "shape[ 0]", "shape\n", "a:b", "a=b", "a|b", "shape[٣]"),
    ],
)
def test_another_form_is_an_error_of_one_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        Template.parse(text, (0,))
    message = str(caught.value)
    assert message.endswith(
        "is not a template: expected NAME, NAME[0] or NAME[-1..1], with offsets from -9 to 9"
    )
    assert message.isprintable()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("capitalization[-1] capitalization[0]", "capitalization[-1] capitalization[0]"),
        ("shape patterns[1]", "shape[0] patterns[1]"),
        ("  a[-1..-1]\tb  c[2] ", "a[-1] b[0] c[2]"),
    ],
)
def test_a_conjunction_is_two_names_or_more_with_a_place_each(text: str, name: str) -> None:
    actual = Conjunction.parse(text)
    assert actual.name == name
    assert Conjunction.parse(actual.name) == actual


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "is not a conjunction: expected two or more") for text in ("", " ", "shape[0]")),
        ("shape[-1..0] patterns[0]", "is not a conjunction: expected two or more"),
        ("shape[0] patterns[x]", r"^patterns\[x\] is not a template: expected NAME"),
        ("shape[0] patterns[1..0]", r"^patterns\[1\.\.0\] has an empty window: the first offset"),
    ],
)
def test_the_error_of_a_conjunction_names_the_part_that_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Conjunction.parse(text)


def test_features_have_the_window_and_streams_the_token_where_nothing_else_is_said() -> None:
    actual = Templates.parse(
        ["form", "shape[0]"], 1, ["header", "patterns[-1..1]"], ["form[-1] patterns[0]"]
    )
    assert actual == Templates(
        (Template("form", (-1, 0, 1)), Template("shape", (0,))),
        (Template("header", (0,)), Template("patterns", (-1, 0, 1))),
        (Conjunction((("form", -1), ("patterns", 0))),),
    )
    assert Templates.parse(["form"], 0) == Templates((Template("form", (0,)),))


@pytest.mark.parametrize(
    ("features", "streams", "conjunctions", "window", "reach"),
    [
        (["form[0]", "shape[3]"], [], [], 3, 3),
        (["form[-1..0]"], ["patterns[-2..4]"], [], 1, 4),
        (["form[0]"], ["patterns[-5]"], [], 0, 5),
        (["form[0]"], [], ["shape[-7] shape[7]"], 0, 0),  # which is a value of the token
    ],
)
def test_the_window_is_of_words_and_the_reach_of_streams_too(
    features: list[str], streams: list[str], conjunctions: list[str], window: int, reach: int
) -> None:
    actual = Templates.parse(features, 2, streams, conjunctions)
    assert (actual.window, actual.reach) == (window, reach)


def test_the_streams_of_conjunctions_are_needed_too() -> None:
    actual = Templates.parse(
        ["form"], 2, ["header", "patterns"], ["patterns[0] form[0]", "suffix3 pos[-1] colon pos[0]"]
    )
    assert actual.needed == ("header", "patterns", "pos", "colon")
    assert Templates.parse(["form"], 2).needed == ()

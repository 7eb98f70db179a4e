"""Features depend on the word alone."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.errors import InputError
from taggers.features import FEATURES, Words, feature

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
ODD = st.sampled_from("\n\r\0\u2028ΣσςİıßſǅΑ\u0301\u0327\u212b\ud800\udfff٣²Ⅷ\U0001d400")
ANY = st.text(st.one_of(ODD, st.characters(exclude_categories=[])), max_size=6)


def value_of(name: str, word: str) -> str:
    (value,) = feature(name)(Words([word]))
    return value


@pytest.mark.parametrize(
    ("name", "word", "value"),
    [
        ("form", "Núria", "Núria"),
        ("form", "COL·LEGI", "COL·LEGI"),
        ("lower", "NÚRIA", "núria"),
        ("lower", "COL·LEGI", "col·legi"),
        ("lower", "L'Hospitalet", "l'hospitalet"),
        ("capitalization", "col·legi", "lower"),
        ("capitalization", "l'home", "lower"),
        ("capitalization", "b12", "lower"),
        ("capitalization", "COL·LEGI", "upper"),
        ("capitalization", "B12A", "upper"),
        ("capitalization", "Òscar", "first"),
        ("capitalization", "12Octubre", "first"),
        ("capitalization", "Sant-pau", "first"),
        ("capitalization", "A", "initial"),
        ("capitalization", "É.", "initial"),
        ("capitalization", "3B", "initial"),
        ("capitalization", "VILAnova", "mixed"),
        ("capitalization", "iPad", "mixed"),
        ("capitalization", "L'Hospitalet", "mixed"),
        ("capitalization", "2-1", "none"),
        ("capitalization", "·", "none"),
        ("has_digit", "B12", "yes"),
        ("has_digit", "٣", "yes"),
        ("has_digit", "dotze", "no"),
        ("has_digit", "-", "no"),
        ("is_number", "68", "yes"),
        ("is_number", "-3,5", "yes"),
        ("is_number", "+1.200,75", "yes"),
        ("is_number", "12345678Z", "no"),
        ("is_number", "3,", "no"),
        ("is_number", "1/2", "no"),
        ("is_number", ",5", "no"),
        ("is_number", "tres", "no"),
        ("prefix3", "Núria", "núr"),
        ("prefix3", "Clot", "clo"),
        ("prefix3", "col·legi", "col"),
        ("prefix4", "col·legi", "col·"),
        ("suffix3", "Núria", "ria"),
        ("suffix4", "PUIG", "puig"),
        ("suffix1", "12345678Z", "z"),
        ("suffix5", "col·legi", "·legi"),
        ("shape", "Núria", "Xxxxx"),
        ("shape", "12345678Z", "ddddddddX"),
        ("shape", "col·legi", "xxx·xxxx"),
        ("shape", "2-1,5", "d-d,d"),
        ("short_shape", "Núria", "Xx"),
        ("short_shape", "12345678Z", "dX"),
        ("short_shape", "col·legi", "x·x"),
        ("short_shape", "2--1", "d-d"),
    ],
)
def test_a_feature_says_what_it_should_of_a_telling_word(name: str, word: str, value: str) -> None:
    assert value_of(name, word) == value


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("pacientes", "paciente"),  # Spanish
        ("Pacientes", "paciente"),
        ("xiquetes", "xiqueta"),  # Catalan alone knows it
        ("Puigdevall", "puigdevall"),  # neither does
        ("COL·LEGIS", "col·legi"),
    ],
)
def test_the_lemma_comes_from_the_language_that_knows_the_word(word: str, lemma: str) -> None:
    assert value_of("lemma", word) == lemma


@pytest.mark.parametrize(
    ("name", "word", "value"),
    [
        ("prefix3", "de", "de "),
        ("suffix3", "de", " de"),
        ("prefix4", "a", "a   "),
        ("suffix4", "a", "   a"),
        ("prefix3", "del", "del"),
        ("suffix3", "del", "del"),
    ],
)
def test_affixes_of_short_words_are_padded(name: str, word: str, value: str) -> None:
    assert value_of(name, word) == value


@given(word=WORDS, length=st.integers(1, 9))
@example(word="\uf900", length=2)  # stored in a form that is replaced
@example(word="İ", length=1)  # longer in lower case
def test_an_affix_tells_whole_words_from_parts_of_words(word: str, length: int) -> None:
    """A padded affix is that of a whole word; without padding `de` and `del` would be alike."""
    lower = unicodedata.normalize("NFC", word).lower()
    for side in ("prefix", "suffix"):
        value = value_of(f"{side}{length}", word)
        if len(lower) < length and " " not in lower:
            assert value.strip(" ") == lower
        assert len(value) == length


@pytest.mark.parametrize(
    "name",
    ["Form", "", "prefix", "prefix0", "prefix10", "suffix-1", "prefix3 ", "suffix³", "affix3"],
)
def test_an_unknown_feature_is_an_error_that_lists_the_known_ones(name: str) -> None:
    with pytest.raises(InputError) as caught:
        feature(name)
    message = str(caught.value)
    assert f'no feature "{name}"' in message
    for known in [*FEATURES, "prefix1 to prefix9", "suffix1 to suffix9"]:
        assert known in message


NAMES = [*(name for name in FEATURES if name != "lemma"), "lemma", "prefix3", "suffix4"]


# Many words at a time


@pytest.mark.parametrize("name", NAMES)
@given(words=st.lists(ANY, max_size=8))
@example(words=[])
@example(words=[""])
@example(words=["", ""])
@example(words=["\n"])
@example(words=["a\nb", "c"])
@example(words=["ΟΔΟΣ", "ΟΔΟΣ", "Σ", "ΑΣ.", "Σ"])  # a final sigma, and others
@example(words=["İSTANBUL", "I", "ı"])  # lower case is longer
@example(words=["e", "\u0301", "\u0301a"])  # accents that would go with the word before
@example(words=["\ud800", "\udc00", "\ud800\n\udc00"])  # halves of a character
@example(words=["\0", "a\0b"])
def test_words_computed_together_equal_words_computed_alone(name: str, words: list[str]) -> None:
    together = feature(name)(Words(words))
    assert together == [value_of(name, word) for word in words]


def shape_of(word: str) -> str:
    def of(character: str) -> str:
        if character.isdigit():
            return "d"
        if character.isupper():
            return "X"
        return "x" if character.isalpha() else character

    return "".join(map(of, unicodedata.normalize("NFC", word)))


@given(words=st.lists(ANY, max_size=8))
def test_forms_lower_case_and_shapes_are_those_of_each_word(words: list[str]) -> None:
    found = Words(words)
    forms = [unicodedata.normalize("NFC", word) for word in words]
    assert found.forms == forms
    assert found.lowers == [form.lower() for form in forms]
    assert found.shapes == [shape_of(word) for word in words]


@pytest.mark.parametrize("name", [*NAMES, "prefix9", "suffix9"])
def test_no_words_have_no_values(name: str) -> None:
    assert feature(name)(Words([])) == []

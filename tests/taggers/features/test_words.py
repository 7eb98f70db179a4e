"""Features depend on the word alone."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.errors import InputError
from taggers.features.words import FEATURES, Words, feature

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
ODD = st.sampled_from("\n\r\0\u2028ΣσςİıßſǅΑ\u0301\u0327\u212b\ud800\udfff٣²Ⅷ\U0001d400")
ANY = st.text(st.one_of(ODD, st.characters(exclude_categories=[])), max_size=6)


def value_of(name: str, word: str) -> str:
    (value,) = feature(name)(Words([word]))
    return value


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("form", "COL·LEGI", "COL·LEGI"),
        ("lower", "l'hospitalet", "L'Hospitalet"),
        ("lower", "núria", "NÚRIA Núria"),
        ("capitalization", "lower", "col·legi l'home b12"),
        ("capitalization", "upper", "COL·LEGI B12A"),
        ("capitalization", "first", "Òscar 12Octubre Sant-pau"),
        ("capitalization", "initial", "A É. 3B"),
        ("capitalization", "mixed", "VILAnova iPad L'Hospitalet"),
        ("capitalization", "none", "2-1 ·"),
        ("has_digit", "yes", "B12 ٣"),
        ("has_digit", "no", "dotze -"),
        ("is_number", "yes", "68 -3,5 +1.200,75"),
        ("is_number", "no", "12345678Z 3, 1/2 ,5 tres"),
        ("prefix3", "núr", "Núria"),
        ("prefix4", "col·", "col·legi"),
        ("suffix4", "puig", "PUIG"),
        ("suffix5", "·legi", "col·legi"),
        ("shape", "xxx·xxxx", "col·legi"),
        ("shape", "d-d,d", "2-1,5"),
        ("short_shape", "Xx", "Núria"),
        ("short_shape", "dX", "12345678Z"),
        ("short_shape", "d-d", "2--1"),
        # Affixes of short words are padded.
        ("prefix3", "de ", "de"),
        ("suffix3", " de", "de"),
        ("suffix4", "   a", "a"),
        ("prefix3", "del", "del"),
        # The lemma is that of the language that knows the word: Spanish, Catalan, neither.
        ("lemma", "paciente", "pacientes Pacientes"),
        ("lemma", "xiqueta", "xiquetes"),
        ("lemma", "puigdevall", "Puigdevall"),
    ],
)
def test_a_feature_says_what_it_should_of_telling_words(name: str, value: str, words: str) -> None:
    assert {value_of(name, word) for word in words.split()} == {value}


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
    "name", ["Form", "", "prefix", "prefix0", "prefix10", "suffix-1", "suffix³", "affix3"]
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

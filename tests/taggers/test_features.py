"""Features depend on the word alone, and a window writes them with the offset of the word."""

import unicodedata
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.batch import Batch
from corpus.errors import InputError
from taggers import features as features_module
from taggers.features import FEATURES, WindowAttributes, Words, feature

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


def test_an_unknown_feature_is_an_error_before_any_word_is_seen() -> None:
    with pytest.raises(InputError, match='no feature "colour"'):
        WindowAttributes(["form", "colour"], 2)


def batch_of(*documents: Sequence[str]) -> Batch:
    """Make a batch of words as they are, whatever tokens a text would have."""
    types = tuple(dict.fromkeys(word for document in documents for word in document))
    index = {word: row for row, word in enumerate(types)}
    words = np.array([index[word] for document in documents for word in document], np.int32)
    strings = pa.array([""] * len(documents), pa.large_string())
    return Batch(
        ids=strings,
        texts=strings,
        groups=strings,
        types=types,
        words=words,
        starts=np.zeros_like(words),
        ends=np.zeros_like(words),
        documents=np.cumsum([0, *map(len, documents)], dtype=np.int64),
        tags=np.full(len(words), -1, np.int16),
        labels=(),
    )


def written(words: Sequence[str], names: Sequence[str], window: int) -> list[list[str]]:
    (rows,) = WindowAttributes(names, window).of_documents(batch_of(words))
    return [[attribute.decode() for attribute in row] for row in rows]


def test_a_window_writes_each_word_with_its_offset() -> None:
    assert written(["Sr", "Joan", "Puig"], ["form", "lower"], 1) == [
        ["-1:BOS", "0:form=Sr", "0:lower=sr", "1:form=Joan", "1:lower=joan"],
        ["-1:form=Sr", "-1:lower=sr", "0:form=Joan", "0:lower=joan", "1:form=Puig", "1:lower=puig"],
        ["-1:form=Joan", "-1:lower=joan", "0:form=Puig", "0:lower=puig", "1:EOS"],
    ]


def test_every_place_beyond_the_ends_has_its_offset() -> None:
    assert written(["a", "b"], ["form"], 3) == [
        ["-3:BOS", "-2:BOS", "-1:BOS", "0:form=a", "1:form=b", "2:EOS", "3:EOS"],
        ["-3:BOS", "-2:BOS", "-1:form=a", "0:form=b", "1:EOS", "2:EOS", "3:EOS"],
    ]


def test_a_document_of_one_token_is_all_border() -> None:
    assert written(["a"], ["form"], 2) == [["-2:BOS", "-1:BOS", "0:form=a", "1:EOS", "2:EOS"]]


def test_a_window_of_zero_is_the_word_alone() -> None:
    assert written(["a", "b"], ["form"], 0) == [["0:form=a"], ["0:form=b"]]


def test_no_tokens_have_no_attributes() -> None:
    assert written([], ["form"], 2) == []


def test_a_word_that_reads_like_a_border_is_not_one() -> None:
    (row,) = written(["BOS"], ["form"], 1)
    assert row == ["-1:BOS", "0:form=BOS", "1:EOS"]


NAMES = [*(name for name in FEATURES if name != "lemma"), "lemma", "prefix3", "suffix4"]


@pytest.mark.parametrize("word", ["Núria", "çoÑó", "Àvila", "GÜELL", "Sanıé", "ﬁnça"])
def test_a_decomposed_accent_equals_a_composed_one(word: str) -> None:
    decomposed = unicodedata.normalize("NFD", word)
    assert decomposed != word  # or this would test nothing
    assert written([decomposed], NAMES, 2) == written([word], NAMES, 2)
    assert written(["a", decomposed], NAMES, 2) == written(["a", word], NAMES, 2)


@given(
    words=st.lists(WORDS, max_size=6),
    window=st.integers(0, 3),
    names=st.lists(st.sampled_from(["form", "lower", "shape", "prefix2"]), min_size=1, unique=True),
)
def test_attributes_are_the_features_of_the_neighbours(
    words: list[str], window: int, names: list[str]
) -> None:
    expected = []
    for place in range(len(words)):
        row = []
        for offset in range(-window, window + 1):
            if place + offset < 0:
                row.append(f"{offset}:BOS")
            elif place + offset >= len(words):
                row.append(f"{offset}:EOS")
            else:
                word = unicodedata.normalize("NFC", words[place + offset])
                row += [f"{offset}:{name}={value_of(name, word)}" for name in names]
        expected.append(row)
    assert written(words, names, window) == expected


def test_documents_do_not_see_each_other() -> None:
    documents = [["a", "b"], [], ["c"], [], ["b", "a", "c"]]
    together = WindowAttributes(["form"], 2).of_documents(batch_of(*documents))
    alone = [written(document, ["form"], 2) for document in documents]
    assert [[[each.decode() for each in row] for row in rows] for rows in together] == alone


@pytest.mark.parametrize("kept", [0, 1, 2, 3, 7])
def test_how_many_words_are_kept_does_not_change_results(
    monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    batch = batch_of("abcdefa", "gab", "aaaa", "b", "", "abcdefa")
    attributes = WindowAttributes(["form", "prefix3"], 2)
    expected = list(attributes.of_documents(batch))
    monkeypatch.setattr(features_module, "_KEPT", kept)
    assert list(attributes.of_documents(batch)) == expected


def test_a_word_is_worked_on_once(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_on: list[str] = []

    def counted(words: Words) -> list[str]:
        worked_on.extend(words.forms)
        return words.forms

    monkeypatch.setitem(features_module.FEATURES, "counted", counted)
    monkeypatch.setattr(features_module, "_KEPT", 1)
    list(WindowAttributes(["counted"], 1).of_documents(batch_of("abac", "bb", "ccab")))
    assert worked_on == ["a", "b", "c"]


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
    if name == "lemma":  # its dictionaries have words that a text can have
        words = [word for word in words if word and word.isprintable()]
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

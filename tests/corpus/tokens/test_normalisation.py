"""Words are read without what hides them, and their offsets stay those of the text."""

import sys
import unicodedata
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.errors import Problems
from corpus.evaluation.scoring import GoldBatch, score, score_batches
from corpus.flat import FlatTexts
from corpus.tokens import tokenize
from corpus.tokens.characters import is_hidden, is_mark, reading
from corpus.tokens.expression import TOKEN
from corpus.tokens.normalisation import (
    Normalised,
    UnusualCharacters,
    normalise,
    normalise_all,
    normalised_text,
    normalised_texts,
)

EVERY = [chr(code) for code in range(sys.maxunicode + 1)]
HIDDEN = [character for character in EVERY if is_hidden(character)]

pieces = st.sampled_from(
    [
        *("Ana", "Puig", "l'home", "12345678Z", "col·legi", "España", "28027", "a", "Z", "1", "s"),
        *(" ", "\n", "\r\n", "\xa0", "\u3000", "\u2028", ".", "-", "’", "'", "·", "/", "l", "L"),
        *("\xad", "\u200b", "\u200d", "\u2060", "\ufeff", "\u202e", "\ufe0f", "\u034f", "\u3164"),
        *("\u0301", "\u0303", "\u0336", "\u0308\u0301", "\u20dd", "ﬁ", "Ⅻ", "㎏", "ªº", "½", "™"),
        *("Ｊｕａｎ", "１２", "𝐉𝐮", "Ⓐ", "\x02", "\x1f", "\x80", "\x9f", "²", "⁶", "…", "ŀ", "Ŀ"),
        *("-\n", "\xad\r\n ", "\u2010\x85", "\x02\u2028", "y", "VIH", "\f", "\v", "ŀ-\nl"),
        *("α", "κ", "μ", "Α", "ί", "а", "Р", "и", "й", "ё", "Ꭺ", "你", "א", "\u2011", "\u02bc"),
    ]
)  # fmt: skip
texts = st.lists(pieces | st.characters(codec="utf-8"), max_size=14).map("".join)
plain_texts = st.lists(
    st.sampled_from(["Ana", " ", "\n", ".", "12", "l'", "home", "col·legi", "é", "ñ", "X12345"]),
    max_size=10,
).map("".join)


def offsets_by_character(normalised: Normalised | None, text: str) -> list[tuple[int, int]]:
    if normalised is None:
        return [(place, place + 1) for place in range(len(text))]
    return list(zip(normalised.starts.tolist(), normalised.ends.tolist(), strict=True))


def tokens_of(text: str) -> list[tuple[str, int, int]]:
    tokens = tokenize([text])
    columns = (tokens.word_ids.tolist(), tokens.starts.tolist(), tokens.ends.tolist())
    return [
        (tokens.vocabulary[word], start, end) for word, start, end in zip(*columns, strict=True)
    ]


def words_of(text: str) -> list[str]:
    return [word for word, _, _ in tokens_of(text)]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Ju\xadan P\u200bé\u200drez\u2060", "Juan Pérez"),
        ("\u2067Ana\u2069 Pu\U000e0041ig", "Ana Puig"),
        ("Ｊｕａｎ　Ｐｅ́ｒｅｚ：１２／０５", "Juan Pérez:12/05"),
        ("Garci\u0301a Mun\u0303oz E\u0301", "García Muñoz É"),
        ("G\u0336a\u0336r\u0336cía 6\u03321\u0332", "García 61"),
        ("ﬁebre ĳ ﬄ ㎏ Ⅻ", "fiebre ij ffl kg XII"),
        ("𝐉𝐮𝐚𝐧 𝑷𝒖𝒊𝒈 𝟞𝟙 Ⓐⓝⓐ ①", "Juan Puig 61 Ana 1"),
        ("a\xa0b\u2003c\u202fd", "a b c d"),
        ("Vila\u2011real d\u02bcHebron", "Vila-real d’Hebron"),
        ("coŀlegi CoĿLEGI ŀ", "col·legi CoL·LEGI ŀ"),
        # Superscripts at the beginning of a word hide it; elsewhere, they are exponents.
        ("⁶¹²³⁴ ᴶᵘᵃⁿ ⁹⁹ᵐTc", "61234 Juan 99mTc"),
        ("m² 10⁹/L s⁻¹ CO₂ Mª 1ᵉʳ ²³", None),
        # Characters of Latin-1, and others that a token may end within.
        ("1ª nº µg ½ m³ x™ … ℃ ⑴ ß ´", None),
        ("Анна α2a TNFα NFκB μg ΔT λόγος 你 א", None),  # letters of other scripts
        ("\ufeffA\xadna Pu\x1fig\x02\x80 Vi\x9fc\n", "Ana Puig Vic\n"),
        # Words that a line end breaks, and other hyphens at line ends.
        ("Ana Gar-\ncía\nPu\xad\r\nig", "Ana García\nPuig"),
        ("Mar\u2010\n\n\t tí-\x85nez A\x1f\u2028na i\u200b-\u200b\f\u200bxe", "Martínez Ana ixe"),
        ("Jose\u0301-\nfina Pedr-\ro Ｇａｒ-\vｃía", "Joséfina Pedro García"),
        ("García-\nPérez VIH-\nno pre-\ny post -\nes 12-\na x--\na a - \nb c-", None),
        ("Ana\xad\nPuig\x02\n", "Ana\nPuig\n"),
        ("", None),
    ],
)  # fmt: skip
def test_what_is_read(text: str, plain: str | None) -> None:
    assert normalised_text(text) == (text if plain is None else plain)
    assert (normalise(text) is None) == (plain is None)


@given(texts)
@example("e\u0336\u0301 а\u0301 и\u0306")
@example("ŀ\u0336l ŀ\xadl")
@example("⁶\xad²\u0301²")
@example("a\r\u02bca\rа")
@example("Ana28027\u3164а")
@example("α\u0301llb")
@example("ŀ\xadŀl")
@example("\u02bc⁶")
@example("A-\na-\ny")
@example("Aa-\u200b \n \u200ba")
@example("a-\n\u3164a")
@example("㎏-\na ǅ-\nǆ")
def test_what_is_read_is_read_as_itself(text: str) -> None:
    once = normalised_text(text)
    assert normalised_text(once) == once


@given(texts)
@example("ﬁ\u0301n")
@example(" \xad")
def test_every_character_is_read_from_its_own_part_of_the_text(text: str) -> None:
    actual = normalise(text)
    offsets = offsets_by_character(actual, text)
    assert len(offsets) == len(normalised_text(text))
    for one, other in pairwise(offsets):
        assert one == other or one[1] <= other[0]
    assert all(0 <= start < end <= len(text) for start, end in offsets)
    inside = {place for start, end in offsets for place in range(start, end)}
    outside = {text[place] for place in set(range(len(text))) - inside}
    assert all(one in "-\u2010\u2011" or one.isspace() or is_hidden(one) for one in outside)


@given(texts)
def test_tokens_are_those_of_the_normalised_text(text: str) -> None:
    offsets = offsets_by_character(normalise(text), text)
    plain = normalised_text(text)
    place, expected = 0, []
    for match in TOKEN.finditer(plain):  # brute force: one match after the other
        assert match.start() == place
        place = match.end()
        word = match.group().removesuffix(" ")
        if word.strip() and not all(map(is_hidden, word.strip())):
            last = match.start() + len(word) - 1
            expected.append((word, offsets[match.start()][0], offsets[last][1]))
    assert tokens_of(text) == expected
    edges = [edge for _, start, end in expected for edge in (start, end)]
    assert edges == sorted(edges)


@given(plain_texts, st.data())
def test_invisible_characters_inside_words_leave_the_words_and_move_their_offsets(
    text: str, data: st.DataObject
) -> None:
    hidden = st.lists(st.sampled_from(HIDDEN), max_size=2).map("".join)
    between = [data.draw(hidden) for _ in text]
    moved = [0]
    for before in between:
        moved.append(moved[-1] + len(before) + 1)
    changed = "".join(before + letter for before, letter in zip(between, text, strict=True))
    expected = [(word, moved[start + 1] - 1, moved[end]) for word, start, end in tokens_of(text)]
    assert tokens_of(changed) == expected


@given(st.lists(texts, max_size=6))
def test_texts_are_read_alike_beside_others(corpus: list[str]) -> None:
    together = normalise_all(corpus)
    for number, text in enumerate(corpus):
        alone, beside = normalise(text), together.get(number)
        assert (alone is None) == (beside is None)
        if alone and beside:
            assert alone.text == beside.text
            assert alone.starts.tolist() == beside.starts.tolist()
            assert alone.ends.tolist() == beside.ends.tolist()
    columns = pa.array(["Pu\xadig", *corpus, "a"], pa.large_string())[1:-1]
    assert normalised_texts(columns).to_pylist() == list(map(normalised_text, corpus))


@given(plain_texts)
def test_decomposed_text_has_the_words_of_composed_text(text: str) -> None:
    decomposed = unicodedata.normalize("NFD", text)
    assert words_of(decomposed) == words_of(text)
    if decomposed != text:
        unusual = UnusualCharacters()
        unusual.add([decomposed])
        assert set(unusual.kinds) == {"decomposed accents and other combining marks"}


@pytest.mark.parametrize("span", [(9, 21), (8, 22), (9, 22)])
def test_spans_cover_the_invisible_characters_inside_words(span: tuple[int, int]) -> None:
    text = "Vist per\x1fA\xadn\u200bna P\ufeffuig\u200b."
    note = Document("1", text, (Span(*span, "PERSON"),))
    problems = Problems()
    batch = make_batch([note], labelled=True, problems=problems)
    assert not problems.counts
    assert batch.spans() == [[Span(9, 21, "PERSON")]]
    assert score([note], batch.to_documents()).counts().f1 == 1
    gold = GoldBatch.from_documents([note], batch)
    assert score_batches(gold, batch).counts().f1 == 1
    assert text[9:21] == "A\xadn\u200bna P\ufeffuig"
    assert set(batch.vocabulary) == {"Vist", "per", "Anna", "Puig", "."}


def test_no_character_is_read_as_more_than_one_token_or_as_a_gap() -> None:
    for character in EVERY:
        plain = reading(character)
        if plain in ("", " ", character):
            continue
        assert TOKEN.fullmatch(plain)
        assert not plain.isspace()
        assert normalised_text(plain) == plain or is_mark(plain)
        for before, after in (("a", "a"), ("A", "1"), ("1234567", "."), ("X1234567", "")):
            whole = f"{before}{plain}{after}"
            ends = {match.end() for match in TOKEN.finditer(whole)}
            assert not ends & set(range(len(before) + 1, len(before) + len(plain)))


@pytest.mark.slow
def test_a_long_run_of_characters_takes_linear_time() -> None:
    for piece in (
        "\xad",
        "a\xad",
        "e\u0301",
        "ﬁ",
        "а",
        "Rо",
        "⁶",
        "α",
        "\u0301",
        "\xa0",
        "a-\n",
        "A-\n",
    ):
        text = piece * (300_000 // len(piece))
        assert len(normalised_text(text)) <= 2 * len(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("A\xadn\u200ba\ufe0f", "invisible characters (U+00AD, U+200B, U+FE0F)"),
        ("A\x80n\x02a\x02", "control characters (U+0002, U+0080)"),
        ("Gar-\ncía", "words that a hyphen breaks at the end of a line"),
        ("Ａ𝐧ⓐﬁ⁶ſ\u2011", "unusual forms of letters, digits and signs"),
        ("Ana\xa0P", "no-break and other unusual spaces"),
        ("Jose\u0301", "decomposed accents and other combining marks"),
    ],
)
def test_unusual_characters_are_counted_by_kind(text: str, kind: str) -> None:
    unusual = UnusualCharacters()
    unusual.add([text, "\ufeffJosé Muñoz 1ª nº 3 «½ m²» 50 µg α2a TNFα 10⁹/L – “x”…", text])
    assert list(unusual.lines()) == [f"{kind} in 2 of 3 notes"]


LATIN_1 = st.lists(st.sampled_from([*map(chr, range(256)), "-\n"]), max_size=8).map("".join)


@given(st.lists(texts | LATIN_1, max_size=4), st.integers(0, 2))
def test_only_unusual_rows_are_changed(rows: list[str], start: int) -> None:
    column = pa.array(rows, pa.large_string())[start:]
    unusual = FlatTexts(column).unusual_rows()
    assert {*normalise_all(column)} <= {*unusual.tolist()}
    whole, part = UnusualCharacters(), UnusualCharacters(len(column) - len(unusual))
    whole.add(column)
    part.add(column.take(pa.array(unusual)))
    assert part == whole


def test_notes_of_spanish_and_catalan_are_usual() -> None:
    text = "L'Àngela té 3 ºC, ¿sí?\r\n\tcol·legi «Núñez»\nübler\r"
    assert not len(FlatTexts(pa.array([text, ""], pa.large_string())).unusual_rows())

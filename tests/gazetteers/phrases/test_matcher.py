"""The longest phrases, against trying every phrase at every place."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.batch import Batch, make_batch
from corpus.document import Document
from gazetteers.gazetteer import terms_by_class
from gazetteers.phrases.matcher import BLOCKED, PhraseMatcher, blocked

Found = list[tuple[str, str]]


def batch_of(*texts: str) -> Batch:
    documents = [Document(str(row), text) for row, text in enumerate(texts)]
    return make_batch(documents, labelled=False)


def found_in(text: str, matcher: PhraseMatcher) -> Found:
    """Return the text and the class of each match."""
    batch = batch_of(text)
    matches = matcher.find(batch)
    spans = zip(batch.starts[matches.first], batch.ends[matches.last], matches.classes, strict=True)
    return [(text[start:end], matcher.classes[kind]) for start, end, kind in spans]


def test_a_phrase_is_found_whatever_characters_hide_it() -> None:
    matcher = PhraseMatcher({"A": ["Calle Mar", "Hosp. Sta. María"]})
    for text in ("C\xad/\u200b Mar", "Hosp\xad. Sta\u200b. Mari\u0301a", "Ｃ／ Ｍａｒ"):
        assert found_in(f"en {text}.", matcher) == [(text, "A")]


# Against a matcher that tries everything

#: What counts for the words of these tests, where nothing follows and where a full stop does.
READINGS = {
    **{word: (word, word) for word in ("maria", "mar", "12", "la", "x", "parkinson")},
    **dict.fromkeys(("hospital", "hosp"), ("hospital", "hospital")),
    **dict.fromkeys(("san", "santa", "sta"), ("san", "san")),
    "h": ("h", "hospital"),
    "s": ("s", "san"),
    "c": ("c", "calle"),
    "calle": ("calle", "calle"),
}
SHORT = {"hosp", "sta", "h", "s", "c", "x"}
NO_NAME = {*SHORT, "la", "calle"}
ALIKE = {"d'": "d", "maría": "maria"}
MARKS = {"'", "-", "/", "«"}
PASSED = {"de", "d"}

#: Phrases of those words, a class for each, and what counts of them.
PHRASES = [
    ("Hosp. Sta. María", "A", ("hospital", "san", "maria")),
    ("H. Mar", "A", ("hospital", "mar")),
    ("hospital de la Mar", "B", ("hospital", "la", "mar")),
    ("MARIA", "B", ("maria",)),
    ("Mar 12", "A", ("mar", "12")),
    ("12 Mar 12", "B", ("12", "mar", "12")),
    ("C/ S. X Mar", "B", ("calle", "san", "x", "mar")),
    ("C/ la X", "B", ("calle", "la", "x")),
    ("Parkinson", BLOCKED, ("parkinson",)),
    ("maría", BLOCKED, ("maria",)),
    ("Mar-María", BLOCKED, ("mar", "maria")),
    ("Hospital Parkinson", "A", ("hospital", "parkinson")),
]
PIECES = [
    *("Hosp", "hospital", "H", "Sta", "san", "S", "María", "maria", "Mar", "mar", "12", "La", "X"),
    *("C", "calle", "Parkinson", "de ", "d'", "D.", "otro", *MARKS, "C/", "H.", "S. ", "Sta. "),
    *(".", ". ", " . ", ",", "(", "\n", "\r\n", " ", " ", " ", "  ", "\t", "Hosp. Sta. María"),
    *("Hospital de la Mar", "12 Mar 12", "Mar 12", "Mar - María", "c/ S. X. Mar", "hospital mar"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


class Tokens:
    """The tokens of one text, one by one."""

    def __init__(self, batch: Batch, row: int) -> None:
        part = slice(*batch.document_offsets[row : row + 2].tolist())
        text = batch.texts[row].as_py()
        self.written = [batch.vocabulary[word] for word in batch.word_ids[part].tolist()]
        lower = [word.lower() for word in self.written]
        self.words = [ALIKE.get(word, word) for word in lower]
        self.starts, self.ends = batch.starts[part].tolist(), batch.ends[part].tolist()
        self.lines = [len(re.findall(r"[\r\n]", text[:start])) for start in self.starts]

    def touches(self, place: int, marks: str) -> bool:
        """Return whether one of some marks follows a token without a gap."""
        following = place + 1
        return (
            following < len(self.words)
            and self.words[following] in marks
            and self.starts[following] == self.ends[place]
        )

    def reading(self, place: int) -> str | None:
        readings = READINGS.get(self.words[place])
        return readings and readings[self.touches(place, "./")]

    def next_word(self, place: int) -> int | None:
        """Pass over what may stand within a phrase."""
        marks = passed = 0
        for after in range(place + 1, len(self.words)):
            word = self.words[after]
            if self.lines[after] != self.lines[place]:
                return None
            if word == ".":
                before = self.words[after - 1]
                if before not in SHORT | {"d"} or not self.touches(after - 1, "."):
                    return None
                marks += 1
            elif word in MARKS:
                marks += 1
            elif word in PASSED:
                passed += 1
            else:
                return after if marks <= 2 and passed <= 2 else None
        return None

    def end(self, phrase: tuple[str, ...], place: int) -> int | None:
        """Return the last token of a phrase that begins at a token, if it does."""
        places: list[int] = []
        at: int | None = place
        for word in phrase:
            if at is None or self.reading(at) != word:
                return None
            places.append(at)
            at = self.next_word(at)
        last = places[-1]
        if len(phrase) == 1:
            return last if self.words[last] == phrase[0] else None
        if all(self.words[each] in NO_NAME for each in places):
            return None
        return last + (self.words[last] in SHORT and self.touches(last, "."))

    def has_capital(self, phrase: tuple[str, ...], place: int) -> bool:
        at: int | None = place
        for _ in phrase:
            assert at is not None
            if self.written[at] != self.written[at].lower():
                return True
            at = self.next_word(at)
        return False


def tried(batch: Batch) -> list[tuple[int, int, str]]:
    """Return matches by trying all phrases everywhere, the longest first."""
    actual = []
    for row in range(len(batch)):
        tokens, place, origin = Tokens(batch, row), 0, int(batch.document_offsets[row])
        while place < len(tokens.words):
            ends = [
                (end, kind == BLOCKED, -number, kind)
                for number, (_, kind, phrase) in enumerate(PHRASES)
                if (end := tokens.end(phrase, place)) is not None
                and (kind == BLOCKED or tokens.has_capital(phrase, place))
            ]
            if ends:
                end, _, _, kind = max(ends)
                actual.append((origin + place, origin + end, kind))
                place = end
            place += 1
    return actual


def matcher_of_phrases() -> PhraseMatcher:
    phrases: dict[str, list[str]] = {}
    for term, kind, _ in PHRASES:
        phrases.setdefault(kind, []).append(term)
    return PhraseMatcher(phrases)


MATCHER = matcher_of_phrases()


def assert_is_what_is_tried(batch: Batch) -> None:
    matches = MATCHER.find(batch)
    names = [MATCHER.classes[kind] for kind in matches.classes.tolist()]
    assert [*zip(matches.first.tolist(), matches.last.tolist(), names, strict=True)] == tried(batch)


@settings(max_examples=60)
@given(st.lists(TEXTS, max_size=4))
@example([])
@example(["", ""])
@example(["Hosp. Sta", "María"])
@example(["H. 'de' - Mar, H. -- -Mar H. de de de Mar", "C/ S. X. Mar"])
@example(["hospital mar. Hospital. Mar S. D. María", "maria María Mar-María Parkinson"])
@example(["Hosp.. Sta. María Hosp . Sta . María Hospital D. Sta.. María"])
@example(["C / La X. C . La X. H.D. Mar Hosp.D Mar"])
@example(["C/ la X. C/ La X", "12 Mar 12 Mar 12"])
def test_the_longest_phrases_are_those_that_trying_all_finds(texts: list[str]) -> None:
    assert_is_what_is_tried(batch_of(*texts))


@settings(max_examples=30)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_a_stream_says_what_was_found(texts: list[str]) -> None:
    batch = batch_of(*texts)
    found, stream = MATCHER.find(batch), MATCHER.match(batch)
    assert stream.values.dtype == np.int32
    said = [stream.vocabulary[value] if value >= 0 else None for value in stream.values.tolist()]
    expected: list[str | None] = [None] * batch.n_tokens
    spans = zip(found.first.tolist(), found.last.tolist(), found.classes.tolist(), strict=True)
    for first, last, kind in spans:
        name = MATCHER.classes[kind]
        expected[first : last + 1] = [f"B-{name}", *([f"I-{name}"] * (last - first))]
    assert said == expected
    kinds = [value and value[2:] for value in expected]
    assert blocked(stream).tolist() == [kind == BLOCKED for kind in kinds]


# What is tolerated

PLACES = PhraseMatcher(
    {
        "HOSPITAL": [
            "Hospital Universitario Santa María",
            "HOSPITAL 12 DE OCTUBRE",
            "Hospital Virg. Macarena",
            "H. U. Vall d'Hebron",
            "hospital de l'esperança.",
            "Hospital Nuestra Señora del Carmen",
        ],
        "CENTRE": ["Centro de Salud Chantrea", "CAP Sants", "C.S. Norte"],
        "TOWN": ["Elche/Elx", "Escorial, El", "Hospitalet de Llobregat, l'", "Alba", "Nogal (CP)"],
        "STREET": ["C/ SAN LEONARDO, Nº 7", "Plaza del Frontón s/n", "Av. Blondel 3", "Plaza, 8"],
    }
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("hospital universitario SANTA MARIA", "HOSPITAL"),
        ("Hosp. Univ. Sta. María", "HOSPITAL"),
        ("HU Santa María", "HOSPITAL"),
        ("Hospital Universitario D. Santa María", "HOSPITAL"),
        ("Hospital Universitari «Santa Mari\u0301a", "HOSPITAL"),
        ("Hospital de 12 Octubre", "HOSPITAL"),
        ('Hospital "12 de Octubre', "HOSPITAL"),
        ("Hospital Universitari Vall d’Hebron", "HOSPITAL"),
        ("Hospital de l’Esperança", "HOSPITAL"),
        ("Hospital Nª Sª Carmen", "HOSPITAL"),
        ("CS Chantrea", "CENTRE"),
        ("Centre d'Atenció Primària de Sants", "CENTRE"),
        ("C.A.P. Sants", "CENTRE"),
        ("El Escorial", "TOWN"),
        ("L'Hospitalet de Llobregat", "TOWN"),
        ("l' Hospitalet del Llobregat", "TOWN"),
        ("Nogal", "TOWN"),
        ("c/San Leonardo", "STREET"),
        ("C. S. Leonardo", "STREET"),
        ("Carrer de Sant Leonardo", "STREET"),
        ("Pza. Frontón", "STREET"),
        ("Avgda. de Blondel", "STREET"),
        ("Plaza 8", "STREET"),
    ],
)
def test_a_phrase_is_found_as_notes_write_it(text: str, name: str) -> None:
    assert found_in(f"x {text} x", PLACES) == [(text, name)]
    assert found_in(f"{text}, x. {text}", PLACES) == [(text, name)] * 2


@pytest.mark.parametrize(
    "text",
    [
        "alba",  # a word like others
        "hospital universitario santa maría",  # nothing of it is written as a name
        "Hospital Universitario. Santa Mar",
        "Hospital Universitario\nSanta María",
        "Hospital Univ.. Santa María",
        "Hospital d... Universitario",
        "C . San Leonardo",
        "Hospital Universitario - - - Santa María",
        "Hospital Universitario de de del Santa María",
        "Hospital del Universitario",
        "H U S María",  # letters are no abbreviations without their full stop
        "C San Leonardo",
        "C.A.P. x",
    ],
)
def test_what_is_another_thing_is_not_found(text: str) -> None:
    assert found_in(text, PLACES) == []


def test_a_match_ends_with_the_full_stop_of_an_abbreviation() -> None:
    matcher = PhraseMatcher({"A": ["Hospital Mar General", "Zona Mar"]})
    assert found_in("H. Mar Gral. Sí", matcher) == [("H. Mar Gral.", "A")]
    assert found_in("Hospital Mar General. Sí", matcher) == [("Hospital Mar General", "A")]
    assert found_in("Zona Mar.", matcher) == [("Zona Mar", "A")]


def test_abbreviations_alone_are_no_name() -> None:
    matcher = PhraseMatcher({"A": ["Hospital Universitario", "La Calle", "Hospital", "A Rúa"]})
    assert found_in("H. U. H. La C. hptal. A.C.", matcher) == []
    assert found_in("Hosp. Universitario, Hospital", matcher) == [
        ("Hosp. Universitario", "A"),
        ("Hospital", "A"),
    ]


# Classes


def test_of_classes_of_a_phrase_the_first_counts_and_blocked_before_all() -> None:
    two = PhraseMatcher({"A": ["Sta. Ana", "Vic"], "B": ["santa Ana", "vic", "Olot"]})
    assert found_in("Santa Ana Vic Olot", two) == [("Santa Ana", "A"), ("Vic", "A"), ("Olot", "B")]
    more = PhraseMatcher({**two.phrases, BLOCKED: ["Santa Ana", "VIC"]})
    assert found_in("S. Ana vic Vic", more) == [
        (each, BLOCKED) for each in ("S. Ana", "vic", "Vic")
    ]


def test_a_longer_phrase_wins_over_one_that_is_blocked() -> None:
    matcher = PhraseMatcher({"H": ["Hospital Doctor Parkinson"], BLOCKED: ["Parkinson", "doctor"]})
    assert found_in("Hosp. Dr. Parkinson con parkinson", matcher) == [
        ("Hosp. Dr. Parkinson", "H"),
        ("parkinson", BLOCKED),
    ]


def test_phrases_of_gazetteers_have_the_classes_in_their_order(make_gazetteer) -> None:
    one = make_gazetteer(("olot", "B", 1), ("vic", "A", 1))
    other = make_gazetteer(("vic", "C", 1), ("vic", "B", 1))
    matcher = PhraseMatcher(terms_by_class([one, other]))
    assert matcher.phrases == {"B": ("olot", "vic"), "A": ("vic",), "C": ("vic",)}
    assert found_in("Vic", PhraseMatcher(terms_by_class([one]))) == [("Vic", "A")]
    assert found_in("Vic", matcher) == [("Vic", "B")]


def test_phrases_of_nothing_are_none() -> None:
    for matcher in (PhraseMatcher({}), PhraseMatcher({"A": ["", "de", "...", "(x", "s/n"]})):
        assert found_in("de la Mar ... ()", matcher) == []
        assert found_in("", matcher) == []

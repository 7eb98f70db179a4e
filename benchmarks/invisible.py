"""Covered recall on MEDDOCAN whose names are hidden: the table of docs/reference/documents.md.

A CRF is trained on lines of the training split as they are. The development split is tagged by line
as it is, and after each of the transformations: characters that are not displayed inside words,
control characters, compatibility forms, decomposed accents. Then it is tagged by note, as it is and
with hyphens and line ends in the middle of the words of annotations. Gold spans move with their
characters.

    python benchmarks/invisible.py recall
    python benchmarks/invisible.py recall --lines 16000 --only "soft hyphen|full-width"
    python benchmarks/invisible.py speed

The second measure is the time to tokenize both splits, which have nothing to normalise, with and
without looking for it.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from unittest.mock import patch

import numpy as np
from meddocan_lines import DATA, lines_of, plain

from corpus import tokens
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.errors import Problems
from corpus.evaluation.scoring import score
from corpus.formats import read
from corpus.tokens.expression import Expression
from corpus.tokens.normalisation import UnusualCharacters
from corpus.tokens.scanner import Scanner
from corpus.units import Unit, split_documents
from taggers import Tagger, make_tagger
from taggers.crf import CRFOptions

#: What is put before each character of a text, and what replaces it.
Pieces = list[tuple[str, str]]
Transformation = Callable[[Document], Pieces]

_INVISIBLE = {
    "control U+0002": "\u0002",
    "control U+001F": "\u001f",
    "control U+0080": "\u0080",
    "control U+009F": "\u009f",
    "soft hyphen": "\u00ad",
    "combining grapheme joiner": "\u034f",
    "Arabic letter mark": "\u061c",
    "Hangul choseong filler": "\u115f",
    "Khmer inherent vowel": "\u17b4",
    "Mongolian variation selector": "\u180b",
    "Mongolian vowel separator": "\u180e",
    "zero-width space": "\u200b",
    "zero-width non-joiner": "\u200c",
    "zero-width joiner": "\u200d",
    "left-to-right mark": "\u200e",
    "right-to-left mark": "\u200f",
    "left-to-right embedding": "\u202a",
    "pop directional formatting": "\u202c",
    "right-to-left override": "\u202e",
    "word joiner": "\u2060",
    "function application": "\u2061",
    "invisible separator": "\u2063",
    "left-to-right isolate": "\u2066",
    "pop directional isolate": "\u2069",
    "inhibit symmetric swapping": "\u206a",
    "Hangul filler": "\u3164",
    "variation selector 1": "\ufe00",
    "variation selector 16": "\ufe0f",
    "byte-order mark": "\ufeff",
    "PDFium's hyphen": "\ufffe",
    "half-width Hangul filler": "\uffa0",
    "interlinear annotation anchor": "\ufff9",
    "shorthand format overlap": "\U0001bca0",
    "musical beam": "\U0001d173",
    "language tag": "\U000e0001",
    "tag letter": "\U000e0061",
    "variation selector 17": "\U000e0100",
}
_SPACES = {
    "no-break spaces": "\u00a0",
    "en quads": "\u2000",
    "em spaces": "\u2003",
    "figure spaces": "\u2007",
    "thin spaces": "\u2009",
    "hair spaces": "\u200a",
    "narrow no-break spaces": "\u202f",
    "mathematical spaces": "\u205f",
    "ideographic spaces": "\u3000",
}
_MARKS = {
    "strike-through": "\u0336",
    "underline": "\u0332",
    "dots above": "\u0358",
    "enclosing circles": "\u20dd",
}
#: The code points of A, a and 0 in blocks of letters and digits.
_ALPHABETS = {
    "full-width": (0xFF21, 0xFF41, 0xFF10),
    "mathematical bold": (0x1D400, 0x1D41A, 0x1D7CE),
    "mathematical italic": (0x1D434, 0x1D44E, None),
    "mathematical bold italic": (0x1D468, 0x1D482, None),
    "mathematical bold script": (0x1D4D0, 0x1D4EA, None),
    "mathematical bold fraktur": (0x1D56C, 0x1D586, None),
    "mathematical double-struck": (None, 0x1D552, 0x1D7D8),
    "mathematical sans-serif": (0x1D5A0, 0x1D5BA, 0x1D7E2),
    "mathematical sans-serif bold": (0x1D5D4, 0x1D5EE, 0x1D7EC),
    "mathematical monospace": (0x1D670, 0x1D68A, 0x1D7F6),
    "circled": (0x24B6, 0x24D0, None),
}
_LIGATURES = ("ffi", "ffl", "ff", "fi", "fl", "st")
_LIGATURE_CHARACTERS = dict(zip(_LIGATURES, "ﬃﬄﬀﬁﬂﬆ", strict=True))


def main() -> None:
    """Print a table of recall, or of times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("recall", "speed"))
    parser.add_argument("--lines", type=int, default=4000, help="lines to train on")
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--rounds", type=int, default=20, help="of times")
    arguments = parser.parse_args()
    if arguments.what == "speed":
        print_times(arguments.rounds)
    else:
        print_recall(arguments.lines, arguments.only)


def print_recall(lines: int, only: str) -> None:
    """Print the covered recall of each transformation, and what is named."""
    train = lines_of("train", None)
    chosen = np.random.default_rng(0).choice(len(train), min(lines, len(train)), replace=False)
    seed = make_batch([train[index] for index in chosen], labelled=True)
    options = plain(CRFOptions, streams=("patterns", "header"))
    tagger = make_tagger("crf", options).fit(seed, rng=np.random.default_rng(0))
    dev = list(read(DATA / "dev", problems=Problems()))
    clean, _ = recall_of(tagger, dev)
    print(f"{'as it is':62} {clean:.4f}", flush=True)
    by_note, _ = recall_of(tagger, dev, "document")
    print(f"{'whole notes as they are':62} {by_note:.4f}", flush=True)
    worst = 0.0
    rows: list[tuple[str, Transformation, Unit]] = [
        *((name, transform, "line") for name, transform in transformations()),
        *((name, transform, "document") for name, transform in breaks()),
    ]
    of_unit = {"line": clean, "document": by_note}
    for name, transform, unit in rows:
        if not re.search(only, name):
            continue
        changed = [transformed(note, transform(note)) for note in dev]
        (recall, named), clean = recall_of(tagger, changed, unit), of_unit[unit]
        kept = recall >= clean - 0.01
        worst = min(worst, recall - clean)
        print(
            f"{name:62} {recall:.4f} {recall - clean:+.4f}{' ' if kept else '*'} {named}",
            flush=True,
        )
    print(f"worst difference {worst:+.4f}; * more than one point")


def recall_of(tagger: Tagger, notes: Sequence[Document], unit: Unit = "line") -> tuple[float, str]:
    """Return the covered recall on notes, and the most frequent kind of unusual characters."""
    gold = list(split_documents(notes, unit, Problems()))
    batch = make_batch([replace(line, spans=()) for line in gold], labelled=False)
    found = tagger.tag(batch)
    documents = batch.with_tags(found.tags, found.labels).to_documents()
    unusual = UnusualCharacters()
    unusual.add([note.text for note in notes])
    return score(gold, documents).counts("covered").recall, next(unusual.lines(), "")


def transformed(note: Document, pieces: Pieces) -> Document:
    """Return a note with other characters, and its spans moved to them."""
    starts, ends, place = [], [], 0
    for before, instead in pieces:
        starts.append(place + len(before))
        place += len(before) + len(instead)
        ends.append(place)
    spans = (Span(starts[s.start], ends[s.end - 1], s.label) for s in note.spans)
    return Document(note.id, "".join(map("".join, pieces)), tuple(spans), note.group)


# Transformations


def transformations() -> Iterator[tuple[str, Transformation]]:
    """Yield the name of each transformation, and the transformation."""
    for name, mark in _INVISIBLE.items():
        yield f"{name} between all letters", inserted(mark, inside_words)
    for name in ("soft hyphen", "zero-width space", "zero-width joiner", "byte-order mark"):
        yield f"{name} in the middle of words", inserted(_INVISIBLE[name], in_the_middle)
        yield f"{name} inside names", inserted(_INVISIBLE[name], inside_names)
        yield f"{name} between all characters", inserted(_INVISIBLE[name], everywhere)
    yield "many invisible characters in turn", inserted("", inside_words, _INVISIBLE.values())
    for name, alphabet in _ALPHABETS.items():
        yield f"{name} letters and digits", replaced(alphabet_of(*alphabet))
    yield "full-width ASCII and ideographic spaces", replaced(full_width())
    yield "superscript digits", replaced(dict(zip("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True)))
    yield "subscript digits", replaced(dict(zip("0123456789", "₀₁₂₃₄₅₆₇₈₉", strict=True)))
    yield "ligatures", ligatures
    yield "decomposed accents", decomposed
    for name, mark in _MARKS.items():
        yield name, marked(mark)
    for name, space in _SPACES.items():
        yield name, replaced({" ": space})
    yield "hyphens", replaced({"-": "\u2010"})
    yield "no-break hyphens", replaced({"-": "\u2011"})
    yield from combined()


def combined() -> Iterator[tuple[str, Transformation]]:
    """Yield transformations of two kinds at once."""
    hyphens = inserted("\u00ad", inside_words)
    yield "decomposed accents, soft hyphens", both(decomposed, hyphens)
    yield (
        "full-width, zero-width spaces",
        both(replaced(full_width()), inserted("\u200b", inside_words)),
    )
    yield (
        "mathematical bold, joiners",
        both(
            replaced(alphabet_of(*_ALPHABETS["mathematical bold"])),
            inserted("\u200d", inside_words),
        ),
    )
    yield (
        "no-break spaces, byte-order marks",
        both(replaced({" ": "\u00a0"}), inserted("\ufeff", inside_words)),
    )
    yield "ligatures, soft hyphens", both(ligatures, hyphens)


def breaks() -> Iterator[tuple[str, Transformation]]:
    """Yield transformations that break words of annotations at line ends."""
    for name, mark in (
        ("hyphens and line ends", "-\n"),
        ("Unicode hyphens, line ends and indentation", "\u2010\r\n   "),
        ("soft hyphens and line ends", "\xad\n"),
    ):
        yield f"{name} in the middle of capitalized words", inserted(mark, in_capitalized)


def inserted(
    mark: str, places: Callable[[Document], Iterable[int]], marks: Iterable[str] = ()
) -> Transformation:
    """Return a transformation that adds a mark, or several in turn, before characters."""
    several = [*marks] or [mark]

    def transform(note: Document) -> Pieces:
        pieces = [("", character) for character in note.text]
        for number, place in enumerate(places(note)):
            pieces[place] = (several[number % len(several)], pieces[place][1])
        return pieces

    return transform


def inside_words(note: Document) -> Iterator[int]:
    """Yield the places between two letters or digits."""
    text = note.text
    pairs = range(1, len(text))
    return (place for place in pairs if text[place - 1].isalnum() and text[place].isalnum())


def in_the_middle(note: Document) -> Iterator[int]:
    """Yield the middle of each run of letters and digits."""
    run: list[int] = []
    for place in inside_words(note):
        if run and place != run[-1] + 1:
            yield run[len(run) // 2]
            run = []
        run.append(place)
    if run:
        yield run[len(run) // 2]


def inside_names(note: Document) -> Iterator[int]:
    """Yield the places between two letters or digits of a span."""
    inside = {place for span in note.spans for place in range(span.start + 1, span.end)}
    return (place for place in inside_words(note) if place in inside)


def in_capitalized(note: Document) -> Iterator[int]:
    """Yield the middle of each word of four letters or more that has one capital, its first."""
    for span in note.spans:
        for match in re.finditer(r"\b[^\W\d_]{4,}", note.text[span.start : span.end]):
            if match.group().istitle():
                yield span.start + (match.start() + match.end()) // 2


def everywhere(note: Document) -> Iterator[int]:
    """Yield the places between two characters that are not line ends."""
    text = note.text
    return (p for p in range(1, len(text)) if not {text[p - 1], text[p]} & {"\n", "\r", "\ufeff"})


def replaced(letters: Mapping[str, str], *, only_names: bool = False) -> Transformation:
    """Replace characters."""

    def transform(note: Document) -> Pieces:
        inside = {place for span in note.spans for place in range(span.start, span.end)}
        return [
            ("", letters.get(each, each) if place in inside or not only_names else each)
            for place, each in enumerate(note.text)
        ]

    return transform


def marked(mark: str) -> Transformation:
    """Return a transformation that adds a combining mark to every letter and digit."""

    def transform(note: Document) -> Pieces:
        return [("", each + mark if each.isalnum() else each) for each in note.text]

    return transform


def decomposed(note: Document) -> Pieces:
    """Decompose letters with accents."""
    return [("", unicodedata.normalize("NFD", each)) for each in note.text]


def ligatures(note: Document) -> Pieces:
    """Replace pairs and triples of letters by ligatures."""
    pieces = [("", character) for character in note.text]
    place = 0
    while place < len(pieces):
        here = (each for each in _LIGATURES if note.text.startswith(each, place))
        found = next(here, "")
        for number in range(len(found)):
            pieces[place + number] = ("", "" if number else _LIGATURE_CHARACTERS[found])
        place += len(found) or 1
    return pieces


def both(first: Transformation, second: Transformation) -> Transformation:
    """Replace as the first transformation does, and insert as the second one does."""

    def transform(note: Document) -> Pieces:
        pairs = zip(first(note), second(note), strict=True)
        # A part of a ligature has no place of its own.
        return [(before if instead else "", instead) for (_, instead), (before, _) in pairs]

    return transform


def alphabet_of(upper: int | None, lower: int | None, digits: int | None) -> dict[str, str]:
    """Return the letters and digits of a block by their ASCII counterparts."""
    found = {}
    for first, start, number in (("A", upper, 26), ("a", lower, 26), ("0", digits, 10)):
        if start is not None:
            found |= {chr(ord(first) + place): chr(start + place) for place in range(number)}
    # The italic h has been encoded before, as the constant of Planck.
    return {key: each if unicodedata.name(each, "") else "\u210e" for key, each in found.items()}


def full_width() -> dict[str, str]:
    """Return the full-width forms of ASCII."""
    return {" ": "\u3000"} | {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)}


# Times


def print_times(rounds: int) -> None:
    """Print the time of tokenizing clean text, and its ratio to that without normalisation."""
    notes = [
        note.text for split in ("train", "dev") for note in read(DATA / split, problems=Problems())
    ]
    lines = [line for note in notes for line in note.splitlines()]
    for finder in (Scanner, Expression):
        for name, texts in (("notes", notes), ("lines", lines)):
            ratio, least, seconds = _ratio(texts, finder, rounds)
            print(
                f"{finder.__name__:10} {name}: {seconds:.4f} s, ratio of the medians {ratio:.4f}, "
                f"of the shortest {least:.4f}",
                flush=True,
            )


def _ratio(
    texts: Sequence[str], finder: Callable[[], Scanner | Expression], rounds: int
) -> tuple[float, float, float]:
    """Time both ways in turn; return the ratios of their medians and minima, and the median."""
    with_it: list[float] = []
    without: list[float] = []
    ways = [(without, lambda *_: None), (with_it, tokens.normalise_joined)]
    for number in range(rounds):
        for seconds, normalise in ways if number % 2 else ways[::-1]:
            with (
                patch.object(tokens, "_finder", lambda _: finder()),
                patch.object(tokens, "normalise_joined", normalise),
            ):
                begin = time.process_time()
                tokens.tokenize(texts)
                seconds.append(time.process_time() - begin)
    medians = statistics.median(with_it), statistics.median(without)
    return medians[0] / medians[1], min(with_it) / min(without), medians[0]


if __name__ == "__main__":
    main()

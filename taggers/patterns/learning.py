r"""Rules: rows of tables that are learned from annotated notes (paper 002, section 3.2).

Each annotated entity is generalised step by step to candidates: a context before the span, such as
``(?i:nombre){GAP}:{GAP}``, an expression of the span, such as ``{PROPER_NAME}``, and a context
after it. Entities of a class that have all three in common support the same candidate.

The candidate that finds most entities becomes the first rule, then the one that finds most of the
others. Two patients or more support a rule: it would have been the same without the notes of any
one of them. What it finds in the notes of each patient thus shows how precise it is in other notes.
"""

from __future__ import annotations

import functools
import heapq
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import number_of
from corpus.patients import patient_numbers
from corpus.tags import classes_of, find_entities
from corpus.units import line_numbers
from taggers import patterns
from taggers.base import Progress
from taggers.patterns.matcher import Hits, PatternMatcher
from taggers.patterns.pattern import FRAGMENTS, Pattern
from taggers.patterns.tables import table_of
from taggers.patterns.windows import TokenWindows
from taggers.privacy.patient_counts import patients_of_words

Indices: TypeAlias = npt.NDArray[np.int64]

#: The modules whose compiled functions are called; see `taggers.base.kernels_of`.
KERNELS = ("corpus.tokens.scanner", *patterns.KERNELS, "taggers.privacy.patient_counts")

#: The most words of a context before a span, and of one that is the beginning of a line.
_CONTEXT, _HEADER = 3, 8
#: A rule finds this share of the entities, and at least one, that the rules before it do not find.
_LEAST_SHARE = 1e-4
#: The price of a wrong span, in right ones: of the spans that a rule adds, 80 % are right.
_PRICE = 4.0
#: The most characters of a candidate.
_LONGEST = 500

_SIGN, _NUMBER = re.compile(r"[^\w\s]|_"), re.compile(r"([XYZ]?)(\d+)([A-Za-z]?)")
_KINDS = {name: re.compile(FRAGMENTS[name]) for name in ("CAPITALIZED", "LOWERCASE")}
_PART = re.compile(r"([\w.-]+)")  # of an e-mail address, a URL or a date
#: In expressions: capitalized words with hyphens or short words between them, and borders of words.
_NAME = re.compile(
    r"\{CAPITALIZED\}(?:(?: \+|\\-)(?:\(\?i:[^\W\d]{1,3}\) \+){0,2}\{CAPITALIZED\})*"
)
_BORDER = re.compile(r"(?<!\\)\)( \+|\{GAP\})\(\?i:")


class Rule(NamedTuple):
    """A row that was learned.

    Parameters
    ----------
    pattern : Pattern
        The row. Its confidence is the posterior mean of its precision, with a uniform prior.
    found, right : int
        The number of spans that it finds in the notes, and of those that are annotated.
    patients : int
        The number of patients in whose notes it is right.
    """

    pattern: Pattern
    found: int
    right: int
    patients: int


def learn(batch: Batch, *, min_patients: int = 5, progress: Progress | None = None) -> list[Rule]:
    """Learn rules, and return those that are right most often first.

    Parameters
    ----------
    batch : Batch
        Annotated notes.
    min_patients : int
        Rules contain only words that occur in the notes of at least so many patients. A note
        without a known patient counts as one of its own.
    progress : callable, optional
        Called with the number of candidates that are done, and of all.
    """
    notes = _Notes(batch, min_patients)
    candidates = notes.candidates()
    spans: dict[int, Indices] = {}
    chosen: list[_Candidate] = []
    heap = [(-notes.gain(of.entities), number) for number, of in enumerate(candidates)]
    heapq.heapify(heap)
    while heap:
        if progress:
            progress(len(candidates) - len(heap), len(candidates))
        bound, number = heapq.heappop(heap)
        # Until its spans are found, a candidate has at most the entities that support it.
        own = spans.get(number, candidates[number].entities)
        gain = notes.gain(own)
        if gain == -bound and number not in spans:
            own = spans[number] = notes.spans(candidates[number])
            gain = notes.gain(own)
        elif gain == -bound:  # gains decrease, so that no other candidate gains more
            chosen.append(candidates[number])
            notes.add(own)
            continue
        if gain >= notes.least_gain:
            heapq.heappush(heap, (-gain, number))
    return sorted(notes.rules(chosen), key=lambda rule: -rule.right)


class _Candidate(NamedTuple):
    """The parts of a row, the step of generalisation, and the entities that support it."""

    label: str
    before: str
    expression: str
    after: str
    level: int
    entities: Indices

    def pattern(self, confidence: float = 0.5) -> Pattern:
        """Return the row."""
        before, expression, after = (_BORDER.sub(r"\1", part) for part in self[1:4])
        return Pattern(
            label=self.label,
            before=before,
            expression=expression,
            after=after,
            confidence=round(confidence, 4),
            digits=False,
        )


class _Notes:
    """Annotated notes as parts of expressions, and what the chosen rules find in them.

    Spans are an array with the number of the entity that each is, or else the complement of its
    first token.
    """

    def __init__(self, batch: Batch, min_patients: int) -> None:
        self._entities = find_entities(batch.tags, batch.document_offsets, batch.labels)
        owners = np.searchsorted(batch.document_offsets, self._entities.first, side="right") - 1
        self._classes, self.patients = classes_of(batch.labels), patient_numbers(batch)[owners]
        self._is_found, self._is_wrong = np.zeros(len(owners), bool), np.zeros(batch.n_tokens, bool)
        self.least_gain = max(1.0, _LEAST_SHARE * len(owners))
        self._batch, self._windows = batch, TokenWindows(batch)
        self._entity_at = np.full(batch.n_tokens, -1, np.int64)
        self._entity_at[self._entities.first] = np.arange(len(owners))
        words, numbers = batch.vocabulary, dict[str, int]()
        folded = np.array([numbers.setdefault(w.lower(), len(numbers)) for w in words], np.int64)
        counts = patients_of_words(batch, len(numbers), lambda _: folded)
        is_known = (counts[folded] >= min_patients).tolist()
        exact, loose = ([*map(piece, words, is_known)] for piece in (_piece, _loose_piece))
        self._words, self._exact, self._loose = (
            [of[word] for word in batch.word_ids.tolist()] for of in (words, exact, loose)
        )
        # A piece that matches a token is one of three: its word, its kind, or the loose one.
        kinds = ([piece(word, False) for word in words] for piece in (_piece, _loose_piece))
        pieces = np.array([exact, *kinds])
        self._pieces, numbers_of = np.unique(pieces, return_inverse=True)
        self._matching = numbers_of.reshape(3, -1)[:, batch.word_ids]
        self._tokens_of = functools.cache(self._tokens_with)
        lines = line_numbers(batch)
        is_begin = np.diff(lines, prepend=-1) > 0
        borders = np.append(np.flatnonzero(is_begin), batch.n_tokens)
        line = np.cumsum(is_begin) - 1
        self._begins, self._ends = borders[line], borders[line + 1]
        # A token is glued to the next one if there is no space between them.
        self._is_glued = np.zeros(batch.n_tokens, bool)
        self._is_glued[:-1] = (batch.starts[1:] == batch.ends[:-1]) & ~is_begin[1:]

    def candidates(self) -> list[_Candidate]:
        """Return the candidates that entities of two patients or more support."""
        first, last = self._entities.first.tolist(), self._entities.last.tolist()
        columns: list[list[list[Any]]] = [
            [*map(list, map(self._contexts, first))],
            [*map(list, map(self._expressions, first, last))],
            [*map(list, map(self._followers, last))],
        ]
        counts = [Counter(chain.from_iterable(column)) for column in columns]
        support = defaultdict(list)
        for entity, parts in enumerate(zip(*columns, strict=True)):
            pairs = zip(parts, counts, strict=True)
            shared = [[part for part in of if count[part] > 1] for of, count in pairs]
            label = self._classes[self._entities.classes[entity]]
            for before, (level, expression), after in product(*shared):
                is_bounded = expression != "{TEXT}" or (before and after)
                if is_bounded and len(before + expression + after) <= _LONGEST:
                    support[label, before, expression, after, level].append(entity)
        candidates = [_Candidate(*key, np.array(entities)) for key, entities in support.items()]
        return [of for of in candidates if len({*self.patients[of.entities].tolist()}) > 1]

    def _contexts(self, token: int) -> Iterator[str]:
        """Yield the contexts before a token, which are in its line."""
        number = token - int(self._begins[token])
        pieces = [piece + "{GAP}" for piece in self._exact[token - min(number, _HEADER) : token]]
        for size in range(min(number, _CONTEXT) + 1):
            yield "".join(pieces[len(pieces) - size :])
        if number <= _HEADER:
            yield "^" + "".join(pieces)

    def _expressions(self, first: int, last: int) -> Iterator[tuple[int, str]]:
        """Yield the expressions of a span, each after its level."""
        gaps = ["" if is_glued else " +" for is_glued in self._is_glued[first:last]] + [""]
        exact, loose = (
            "".join(chain.from_iterable(zip(pieces[first : last + 1], gaps, strict=True)))
            for pieces in (self._exact, self._loose)
        )
        yield 0, exact
        yield 1, _NAME.sub("{PROPER_NAME}", loose)
        parts = _PART.split("".join(self._words[first : last + 1]))  # with odd indices
        if len(parts) > 3 and not any(gaps):
            pieces = [r"[\w.-]*\w" if n % 2 else re.escape(part) for n, part in enumerate(parts)]
            yield 2, "".join(pieces)
        yield 3, "{TEXT}"

    def _followers(self, last: int) -> Iterator[str]:
        """Yield the contexts after a token, which are in its line."""
        begin, end = last + 1, int(self._ends[last])
        yield ""
        if end - begin <= 2 and all(word in ".,;:" for word in self._words[begin:end]):
            yield "{LINE_END}"
        if begin < end:
            pieces = [*self._exact[begin : min(begin + 2, end)], r"[\r\n]"]
            yield "{GAP}" + pieces[0]
            yield "{GAP}" + "{GAP}".join(pieces[:2])

    def spans(self, candidate: _Candidate) -> Indices:
        """Find the spans of a candidate."""
        matcher = PatternMatcher([candidate.pattern()])
        hits = matcher.find_at(self._windows, self._places(candidate))
        own = self._entities_of(hits, self._entities.classes[candidate.entities[0]])
        return np.where(own >= 0, own, ~hits.first)

    def _entities_of(self, hits: Hits, kinds: Indices) -> Indices:
        """Return the entity of a class that each span is, or -1."""
        own = self._entity_at[hits.first]
        is_right = (self._entities.last[own] == hits.last) & (self._entities.classes[own] == kinds)
        return np.where(is_right, own, -1)

    def _places(self, candidate: _Candidate) -> Indices:
        """Find the tokens at which the context of a candidate may begin."""
        pieces = candidate.before.removeprefix("^").split("{GAP}")[:-1]
        number, first = len(pieces), self._entities.first[candidate.entities[0]]
        if candidate.level < 2:
            pieces.append((self._exact, self._loose)[candidate.level][first])
        tokens = (self._tokens_of(piece) - place for place, piece in enumerate(pieces))
        inside = np.flatnonzero(np.arange(len(self._words)) + number < self._ends)
        places = functools.reduce(  # the rarest piece first
            lambda few, more: few[np.isin(few, more, kind="table")],
            [*sorted(tokens, key=len), inside],
        )
        if candidate.before[:1] == "^":
            places = places[self._begins[places] == places]
        return places[self._is_glued[places + number]] if candidate.level == 2 else places

    def _tokens_with(self, piece: str) -> Indices:
        """Find the tokens that a piece matches."""
        is_piece = self._matching == np.searchsorted(self._pieces, piece)
        return np.flatnonzero(is_piece[0] | is_piece[1] | is_piece[2])

    def gain(self, spans: Indices) -> float:
        """Return the number of entities that spans add, less the price of wrong spans."""
        added = np.count_nonzero(~self._is_found[spans[spans >= 0]])
        return added - _PRICE * np.count_nonzero(~self._is_wrong[~spans[spans < 0]])

    def add(self, spans: Indices) -> None:
        """Add the spans of a row that was chosen."""
        self._is_found[spans[spans >= 0]] = True
        self._is_wrong[~spans[spans < 0]] = True

    def rules(self, chosen: Sequence[_Candidate]) -> Iterator[Rule]:
        """Yield the rules of candidates, with what they find in all notes."""
        hits = PatternMatcher([candidate.pattern() for candidate in chosen]).find(self._batch)
        kinds = [self._entities.classes[candidate.entities[0]] for candidate in chosen]
        own = self._entities_of(hits, np.array(kinds, np.int64)[hits.patterns])
        for number, candidate in enumerate(chosen):
            spans = own[hits.patterns == number]
            right = spans[spans >= 0]
            pattern = candidate.pattern((len(right) + 1) / (len(spans) + 2))
            yield Rule(pattern, len(spans), len(right), len({*self.patients[right].tolist()}))


def _piece(word: str, is_known: bool) -> str:
    """Return the expression of a word, or of its kind."""
    if _SIGN.fullmatch(word):
        return re.escape(word)
    if number := _NUMBER.fullmatch(word):
        return rf"{number[1]}\d{{{len(number[2])}}}{'[A-Za-z]' * len(number[3])}"
    if is_known:
        return f"(?i:{re.escape(word.lower())})"
    kinds = (f"{{{name}}}" for name, kind in _KINDS.items() if kind.fullmatch(word))
    return next(kinds, "[^ -~]+")  # of another script


def _loose_piece(word: str, is_known: bool) -> str:
    """Return the expression of the kind of a word, or of a word in lower case."""
    if word.isdecimal():
        return r"\d{1,4}" if len(word) < 5 else r"\d{5,}"
    return _piece(word, is_known and word.islower())


def rules_table(rules: Iterable[Rule]) -> str:
    """Return rules as a table in TOML, with their counts as comments."""
    return "\n".join(
        f"# found {number_of(rule.found, 'time')}, {rule.right:,} right, "
        f"in {number_of(rule.patients, 'patient')}\n[[pattern]]\n"
        + "".join(f"{key} = {_toml(value)}\n" for key, value in row.items())
        for rule in rules
        for row in table_of([rule.pattern])["pattern"]
    )


def _toml(value: str | float) -> str:
    is_literal = isinstance(value, str) and "'" not in value
    return f"'{value}'" if is_literal else json.dumps(value, ensure_ascii=False)

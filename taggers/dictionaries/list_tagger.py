"""A tagger of people and places that is built from lists and the words of the notes alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from corpus.batch import Batch, Stream
from corpus.kernels.hash_index import ABSENT
from corpus.kernels.hashing import MOST_KEY
from gazetteers.builtin import read_gazetteer
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from gazetteers.gazetteer import merge, terms_by_class
from gazetteers.phrases.matcher import BLOCKED, PhraseMatcher, surface_hashes
from taggers.annotators.phrases import joined_terms, split_terms
from taggers.certainties import Certainties
from taggers.dictionaries.dictionary_options import NOT_TAGGED, ListOptions
from taggers.dictionaries.divergence import WordDivergence
from taggers.dictionaries.list_decoding import OUTSIDE, ListDecoder, WordEvidence
from taggers.dictionaries.name_tagger import NameTagger
from taggers.dictionaries.place_grammar import (
    CAPITALIZED,
    COMMON,
    NAME,
    PLACE,
    POSTAL_CODE,
    RARE,
    STREET,
    SURNAME,
    TOWN,
    WORD,
    CueWords,
    SymbolLines,
    among,
    place_classes,
)
from taggers.dictionaries.town_odds import TownOdds, common_words
from taggers.dictionaries.word_usage import CASES, NoteWords, Uses, case_numbers
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles
from taggers.privacy.annotator_content import words_in_phrases
from taggers.privacy.pruning import PHRASES, Pruning
from taggers.privacy.public_lists import PublicLists
from taggers.trained_tagger import Traces

#: Shorter words are never rare: they are abbreviations.
_MIN_RARE = 3
_PLACE_PHRASES = "phrases of places"
#: The limits between the levels of certainty in a stream.
_CERTAINTIES = (0.5, 0.9)


@dataclass(frozen=True, slots=True, eq=False)
class ListModel:
    """The parts of a fitted tagger.

    `classes` are the classes of places, the classes of the matcher first.
    """

    persons: WordDivergence
    towns: TownOdds
    common: KeyedTable
    words: CueWords
    matcher: PhraseMatcher
    classes: tuple[str, ...]

    def evidence(self, types: Sequence[str], thresholds: tuple[float, float]) -> WordEvidence:
        """Return the properties of word types, from the lists and the notes."""
        folded = fold(types)
        hashes, cases = word_hashes(folded), case_numbers(types)
        judged = self.persons.judge_words(types, hashes, cases)
        towns, odds = self.towns.classes_and_odds(hashes, cases)
        symbols, kinds = self.words.symbols_and_kinds(types, surface_hashes(folded))
        common = self.common.rows(hashes) != ABSENT
        long = np.array([len(word) >= _MIN_RARE and word.isalpha() for word in types], bool)
        rare = long & (cases == CASES.index("first")) & ~common
        some, few = (judged.divergence < threshold for threshold in reversed(thresholds))
        people = np.where(among(symbols, ".:,PpTtJjI"), symbols, np.uint8(ord("?")))
        people[among(symbols, "TJ")] |= 0x20
        joins = judged.joins & ~among(symbols, "PI")
        for symbol, where in (
            ("p", joins), ("R", rare), ("W", some), ("V", some & rare), ("N", few)
        ):  # fmt: skip
            people[where & ~among(symbols, "Tt")] = ord(symbol)
        unlisted = among(symbols, "L")
        towns[~among(symbols, CAPITALIZED + WORD)] = OUTSIDE
        shouted = common & (cases == CASES.index("upper"))
        town = towns != OUTSIDE
        likely = town & (odds > 0)
        for symbol, where in (
            (NAME, some), (RARE, rare), (COMMON, shouted), (SURNAME, town), (TOWN, likely)
        ):  # fmt: skip
            symbols[unlisted & where] = ord(symbol)
        kind_numbers = np.array([*map(self.classes.index, self.words.kinds), OUTSIDE], np.int32)
        return WordEvidence(symbols, people, kind_numbers[kinds], towns, odds, judged.divergence)

    def contents(self) -> dict[str, int]:
        """Return the number of entries of each part."""
        return {
            **self.persons.contents(),
            f"words of {self.towns.origin}": len(self.towns.table),
            "words of the notes": len(self.common),
            _PLACE_PHRASES: sum(map(len, self.matcher.phrases.values())),
            "cue words": sum(map(len, self.words.terms.values())),
        }

    def pruned(self, pruning: Pruning) -> Self:
        """Return the model without words of few patients and private lists."""
        phrases, cues = self.matcher.phrases, self.words.terms
        if PHRASES not in pruning.keep:
            phrases, cues = map(pruning.lists.public_phrases, (phrases, cues))
        return replace(
            self,
            persons=self.persons.pruned(pruning),
            towns=self.towns.pruned(pruning),
            common=self.common.pruned(pruning),
            words=CueWords(cues),
            matcher=PhraseMatcher(phrases),
        )

    def traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        """Return which words left traces in each part."""
        return {
            **self.persons.traces(words, lists),
            **self.towns.traces(words, lists),
            "common words": self.common.rows(word_hashes(fold(words))) != ABSENT,
            _PLACE_PHRASES: words_in_phrases(words, self.matcher.phrases, lists),
            "cue words": words_in_phrases(words, self.words.terms, lists),
        }

    def description(self) -> dict[str, Any]:
        """Return the lists and the parts that are not files, as JSON values."""
        return {
            "persons": self.persons.description(),
            "places": self.towns.description(),
            "phrases": joined_terms(self.matcher.phrases),
            "cue_words": joined_terms(self.words.terms),
            "key": self.common.key,
            "classes": self.classes,
        }

    def files(self) -> dict[str, bytes]:
        """Return the content of the files; words of the notes are stored as hashes."""
        return {**self.persons.files(), **self.towns.files(), **self.common.files("common")}

    @classmethod
    def from_model(cls, model: ModelFiles) -> Self:
        """Read the parts from the files of a model.

        Raises
        ------
        InputError
            If a file or the description of the model is not what was saved.
        """
        fields = model.fields.fields("words")
        classes = fields.distinct_texts("classes")
        words = CueWords(split_terms(fields.text_by_key("cue_words")))
        matcher = PhraseMatcher(split_terms(fields.text_by_key("phrases")))
        # Phrases and words refer to classes by their indices.
        if matcher.classes != classes[: len(matcher.classes)]:
            raise fields.error("classes", "the classes of phrases, in their order")
        if not {*words.kinds, STREET, POSTAL_CODE, PLACE} <= set(classes):
            raise fields.error("classes", "the classes of all cue words")
        key = fields.integer("key", least=0, most=MOST_KEY)
        return cls(
            WordDivergence.from_model(model, fields.fields("persons")),
            TownOdds.from_model(model, fields.fields("places"), len(classes)),
            KeyedTable.from_model(model, "common", {}, key=key),
            words,
            matcher,
            classes,
        )


class ListTagger(NameTagger[ListOptions, ListModel]):
    """A tagger of names of people and places (paper 003, section 3.6, extended to places).

    Names of people are decoded as by `taggers.dictionaries.divergence.DivergenceTagger`. Places are
    phrases of gazetteers, words after a kind of place (``calle``, ``hospital``) with house numbers,
    towns and countries whose context supports them, and postal codes; see
    `taggers.dictionaries.list_decoding`.
    """

    kind: ClassVar[str] = "lists"
    options_type: ClassVar[type[ListOptions]] = ListOptions
    model_format = 2
    kernels: ClassVar[tuple[str, ...]] = ("corpus.tokens.scanner", "gazetteers.phrases.matching")

    def _classes(self) -> list[str]:
        options = self.options
        return [options.label, options.place_label, *options.place_labels.values()]

    def _fitted(self, names: Frequencies, notes: NoteWords) -> ListModel:
        options = self.options
        persons = WordDivergence.from_uses(names, Uses.from_notes(names, notes), options.smoothing)
        places, cue_words = (
            [read_gazetteer(path) for path in paths]
            for paths in (options.places, options.cue_words)
        )
        phrases = {name: terms for name, terms in terms_by_class(places).items() if name != BLOCKED}
        frequencies = (
            Frequencies.from_gazetteer(merge(places), tuple(phrases)) if places else _NO_PLACES
        )
        return ListModel(
            persons,
            TownOdds.from_counts(frequencies, names, persons, notes, options.smoothing),
            common_words(notes, options.smoothing * np.expm1(options.threshold_after)),
            CueWords(terms_by_class(cue_words)),
            PhraseMatcher(phrases),
            place_classes(places, cue_words),
        )

    def _from_model(self, model: ModelFiles) -> ListModel:
        return ListModel.from_model(model)

    def _decoded(self, batch: Batch) -> Certainties:
        classes, begins, certainty = self.decoder(batch).decode()
        own = self.options.place_labels
        places = [own.get(name, self.options.place_label) for name in self.model.classes]
        # `PERSON` and `OUTSIDE` index the last two columns.
        table = [
            [
                0 if name == NOT_TAGGED else self.labels.index(f"{side}-{name}")
                for name in (*places, self.options.label, NOT_TAGGED)
            ]
            for side in "BI"
        ]
        tags = np.array(table, np.int16)[np.where(begins, 0, 1), classes]
        # A name that belongs to no class is outside of the entities of the notes for sure.
        certainty[(classes != OUTSIDE) & (tags == 0)] = 1.0
        return tags, certainty

    def stream(self, batch: Batch) -> Stream:
        """Return the class of each token in the lists, and a level of certainty.

        The values are such as ``B-street-2`` and ``I-person-0``, or ``O-1`` outside of all names.
        They do not depend on the classes that the tagger tags.
        """
        classes, begins, certainty = self.decoder(batch).decode()
        # `PERSON` and `OUTSIDE` index the last two columns.
        names = (*self.model.classes, "person", "")
        values = [
            f"{side}-{name}-{level}" if name else f"O-{level}"
            for level in range(len(_CERTAINTIES) + 1)
            for side in "BI"
            for name in names
        ]
        numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
        table = np.array([numbers[value] for value in values], np.int32).reshape(-1, len(names))
        rows = 2 * np.searchsorted(_CERTAINTIES, certainty, side="right") + ~begins
        return Stream(tuple(numbers), table[rows, classes])

    def decoder(self, batch: Batch) -> ListDecoder:
        """Return the decoder of the documents of a batch."""
        thresholds = self.options.threshold, self.options.threshold_after
        return ListDecoder(
            SymbolLines(batch),
            self.model.evidence(batch.vocabulary, thresholds),
            self.model.matcher.find(batch, surface_hashes(fold(batch.vocabulary))),
            blocked=self._blocked(batch),
            thresholds=thresholds,
            classes=self.model.classes,
        )


_NO_PLACES = Frequencies((), (), np.zeros((0, 1), np.int64), np.zeros((0, 1), np.int64))

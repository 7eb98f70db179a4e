"""A tagger of people and places that is built from lists and the words of the notes alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import ABSENT
from corpus.kernels.hashing import MOST_KEY
from corpus.tags import TokenSpans, bio_labels
from gazetteers.builtin import read_gazetteer
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from gazetteers.gazetteer import merge, terms_by_class
from gazetteers.phrases.matcher import BLOCKED, PhraseMatcher, surface_hashes
from taggers.base import Detail, Progress, Tagging
from taggers.confidence import check_measure
from taggers.dictionaries.dictionary_options import NOT_TAGGED, ListOptions
from taggers.dictionaries.greedy_decoding import tagging_of
from taggers.dictionaries.list_decoding import OUTSIDE, ListDecoder, WordEvidence
from taggers.dictionaries.name_lists import read_names
from taggers.dictionaries.place_symbols import (
    CAPITALIZED,
    COMMON,
    NAME,
    PLACE,
    POSTAL_CODE,
    RARE,
    STREET,
    SURNAME,
    TOWN,
    CueWords,
    SymbolLines,
    among,
    place_classes,
)
from taggers.dictionaries.town_odds import TownOdds, common_words
from taggers.dictionaries.word_divergence import WordDivergence
from taggers.dictionaries.word_usage import CASES, Uses, case_numbers, words_of_notes
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles
from taggers.privacy.annotator_content import words_in_phrases
from taggers.privacy.pruning import PHRASES, Pruning
from taggers.privacy.public_lists import PublicLists
from taggers.trained_tagger import Traces, TrainedTagger

#: Separates terms in a model.
_SEPARATOR = "\n"
#: Shorter words are never rare: they are abbreviations.
_MIN_RARE = 3
#: Log-odds above which a word is rather a town than a surname.
_TOWN_ODDS = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class ListModel:
    """The parts of a fitted tagger.

    The order of the classes of places is that of the matcher, without `BLOCKED`.
    """

    persons: WordDivergence
    towns: TownOdds
    common: KeyedTable
    words: CueWords
    matcher: PhraseMatcher
    classes: tuple[str, ...]

    @classmethod
    def from_model(cls, model: ModelFiles) -> Self:
        """Read the parts from the files of a model.

        Raises
        ------
        InputError
            If a file or the description of the model is not what was saved.
        """
        fields = model.fields
        classes = fields.distinct_texts("classes")
        words = CueWords(_split(fields.text_by_key("cue_words")))
        matcher = PhraseMatcher(_split(fields.text_by_key("phrases")))
        # Phrases and words refer to classes by their indices.
        if matcher.classes != (*classes[: len(matcher.classes) - 1], BLOCKED):
            raise fields.error("classes", f"the classes of phrases but {BLOCKED}, in their order")
        if not {*words.kinds, STREET, POSTAL_CODE, PLACE} <= set(classes):
            raise fields.error("classes", "the classes of all cue words")
        key = fields.integer("key", least=0, most=MOST_KEY)
        return cls(
            WordDivergence.of_model(model, fields.fields("persons")),
            TownOdds.from_model(model, fields.fields("places"), len(classes)),
            KeyedTable.from_model(model, "common", {}, key=key),
            words,
            matcher,
            classes,
        )


class ListTagger(TrainedTagger[ListOptions]):
    """A tagger of names of people and places (paper 003, section 3.6, extended to places).

    Names of people are decoded as by `taggers.dictionaries.divergence.DivergenceTagger`. Places are
    phrases of gazetteers, words after a kind of place (``calle``, ``hospital``) with house numbers,
    towns and countries whose context supports them, and postal codes.

    Parameters
    ----------
    options : ListOptions
        Lists and thresholds.

    Attributes
    ----------
    labels : tuple of str
        ``O``, and ``B-`` and ``I-`` of the class of names and of those of places, as far as they
        are tagged.
    training : None
        Fitting optimises no objective.
    """

    kind: ClassVar[str] = "lists"
    options_type: ClassVar[type[ListOptions]] = ListOptions
    #: The modules whose compiled functions are called; see `taggers.base.kernels_of`.
    kernels: ClassVar[tuple[str, ...]] = ("corpus.tokens.scanner", "gazetteers.phrases.matching")

    def __init__(self, options: ListOptions | None = None) -> None:
        super().__init__(options)
        self.labels = self._own_labels()
        self._model: ListModel | None = None

    def _own_labels(self) -> tuple[str, ...]:
        options = self.options
        names = {options.label, options.place_label, *options.place_labels.values()}
        return bio_labels(names - {NOT_TAGGED})

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Compare the lists with the word counts of the notes.

        The parameters and the errors are those of
        `taggers.dictionaries.name_tagger.NameTagger.fit`.
        """
        options = self.options
        names = read_names(options.names, options.classes)
        notes = words_of_notes(train, options.counts)
        uses = Uses.of(names, notes.types, notes.counts, notes.patients)
        persons = WordDivergence.of(names, uses, options.smoothing)
        places, blocking, cue_words = (
            [read_gazetteer(path) for path in paths]
            for paths in (options.places, options.blocked, options.cue_words)
        )
        terms = {name: each for name, each in terms_by_class(places).items() if name != BLOCKED}
        blocked = [term for each in terms_by_class(blocking).values() for term in each]
        frequencies = (
            Frequencies.from_gazetteer(merge(places), tuple(terms)) if places else _NO_PLACES
        )
        self._model = ListModel(
            persons,
            TownOdds.from_counts(frequencies, names, persons, notes, options.smoothing),
            common_words(notes, options.smoothing * np.expm1(options.threshold_after)),
            CueWords.from_gazetteers(cue_words),
            PhraseMatcher(terms | {BLOCKED: blocked}),
            place_classes(places, cue_words),
        )
        if progress:
            progress(1, 1)
        return self

    def tag(
        self,
        batch: Batch,
        *,
        measure: str = "min_marginal",
        detail: Detail = "document",
        progress: Progress | None = None,
    ) -> Tagging:
        """Predict the tags of documents; see `taggers.dictionaries.list_decoding`.

        The confidence in documents is computed from the certainty of tokens as by
        `taggers.dictionaries.greedy_decoding.tag_greedily`.
        """
        check_measure(measure)
        model = self._fitted()
        classes, begins, certainty = self.decoder(batch).decode()
        tags = self._tags_of(model.classes)[np.where(begins, 0, 1), classes]
        # What is found but belongs to no class is outside of the entities of the notes for sure.
        certainty[(classes != OUTSIDE) & (tags == 0)] = 1.0
        if progress:
            progress(len(batch), len(batch))
        return tagging_of(batch, tags, certainty, self.labels, measure=measure, detail=detail)

    def decoder(self, batch: Batch) -> ListDecoder:
        """Return the decoder of the documents of a batch."""
        model, thresholds = self._fitted(), (self.options.threshold, self.options.threshold_after)
        found = model.matcher.find(batch, surface_hashes(fold(batch.vocabulary)))
        blocks = found.classes == model.matcher.classes.index(BLOCKED)
        # Changes in the number of open phrases mark the tokens within them.
        changes = np.zeros(batch.n_tokens + 1, np.int64)
        np.add.at(changes, found.first[blocks], 1)
        np.add.at(changes, found.last[blocks] + 1, -1)
        return ListDecoder(
            SymbolLines(batch),
            _evidence(model, batch.vocabulary, thresholds),
            TokenSpans(found.first[~blocks], found.last[~blocks], found.classes[~blocks]),
            blocked=np.cumsum(changes[:-1]) > 0,
            thresholds=thresholds,
            classes=model.classes,
        )

    def _tags_of(self, classes: Sequence[str]) -> npt.NDArray[np.int16]:
        """Return the ``B-`` and the ``I-`` tag of each class of places, of people, and ``O``.

        `PERSON` and `OUTSIDE` index the last two columns.
        """
        own = self.options.place_labels
        places = [own.get(name, self.options.place_label) for name in classes]
        table = [
            [
                0 if name == NOT_TAGGED else self.labels.index(f"{side}-{name}")
                for name in (*places, self.options.label, NOT_TAGGED)
            ]
            for side in "BI"
        ]
        return np.array(table, np.int16)

    def _is_trained(self) -> bool:
        return self._model is not None

    def _learned_contents(self) -> dict[str, int]:
        model = self._fitted()
        return {
            "words of lists of names": model.persons.size,
            "words of lists that occur in the notes": model.persons.occurring,
            "words of lists of places": len(model.towns.table),
            "words of the notes": len(model.common),
            "phrases": sum(map(len, model.matcher.phrases.values())),
            "cue words": sum(map(len, model.words.terms.values())),
        }

    def _prune(self, pruning: Pruning, whole: Self) -> None:
        model = whole._fitted()
        phrases, cues = model.matcher.phrases, model.words.terms
        if PHRASES not in pruning.keep:
            phrases, cues = map(pruning.lists.public_phrases, (phrases, cues))
        self._model = replace(
            model,
            persons=model.persons.pruned(pruning),
            towns=model.towns.pruned(pruning),
            common=model.common.pruned(pruning),
            words=CueWords(cues),
            matcher=PhraseMatcher(phrases),
        )

    def _learned_traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        model = self._fitted()
        return {
            **model.persons.traces(words, lists),
            **model.towns.traces(words, lists),
            "common words": model.common.rows(word_hashes(fold(words))) != ABSENT,
            PHRASES: words_in_phrases(words, model.matcher.phrases, lists),
            "cue words": words_in_phrases(words, model.words.terms, lists),
        }

    def _fitted(self) -> ListModel:
        if self._model is None:
            raise ValueError("the tagger has not been fitted")
        return self._model

    def _saved_options(self) -> dict[str, Any]:
        return super()._saved_options() | {"counts": ""}

    def _saved(self, folder: Path) -> tuple[dict[str, Any], Mapping[str, bytes]]:
        """Return the model; words of the notes are stored as hashes."""
        model = self._fitted()
        description = {
            "persons": model.persons.description(),
            "places": model.towns.description(),
            "phrases": _joined(model.matcher.phrases),
            "cue_words": _joined(model.words.terms),
            "key": model.common.key,
            "classes": model.classes,
        }
        return description, {
            **model.persons.files(),
            **model.towns.files(),
            **model.common.files("common"),
        }

    def _read(self, model: ModelFiles) -> None:
        self.labels = self._own_labels()
        self._model = ListModel.from_model(model)


_NO_PLACES = Frequencies((), (), np.zeros((0, 1), np.int64), np.zeros((0, 1), np.int64))


def _joined(terms: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {name: _SEPARATOR.join(phrases) for name, phrases in terms.items()}


def _split(terms: Mapping[str, str]) -> dict[str, list[str]]:
    return {name: text.split(_SEPARATOR) if text else [] for name, text in terms.items()}


def _evidence(
    model: ListModel, types: Sequence[str], thresholds: tuple[float, float]
) -> WordEvidence:
    """Return what the lists and the notes show of word types."""
    folded = fold(types)
    hashes, cases = word_hashes(folded), case_numbers(types)
    judged = model.persons.judge_words(types, hashes, cases)
    towns, odds = model.towns.of_words(hashes, cases)
    symbols, kinds = model.words.of_types(types, surface_hashes(folded))
    common = model.common.rows(hashes) != ABSENT
    long = np.array([len(word) >= _MIN_RARE and word.isalpha() for word in types], bool)
    rare = long & (cases == CASES.index("first")) & ~common
    some, few = (judged.divergence < threshold for threshold in reversed(thresholds))
    people = np.where(among(symbols, ".:,PpTtJjI"), symbols, np.uint8(ord("?")))
    people[among(symbols, "TJ")] |= 0x20
    joins = judged.joins & ~among(symbols, "PI")
    for symbol, where in (("p", joins), ("R", rare), ("W", some), ("V", some & rare), ("N", few)):
        people[where & ~among(symbols, "Tt")] = ord(symbol)
    unlisted = among(symbols, "L")
    towns[~among(symbols, CAPITALIZED)] = OUTSIDE
    town = towns != OUTSIDE
    shouted = common & (cases == CASES.index("upper")) & ~town
    likely = town & (odds > _TOWN_ODDS)
    for symbol, where in (
        (NAME, some), (RARE, rare), (COMMON, shouted), (SURNAME, town), (TOWN, likely)
    ):  # fmt: skip
        symbols[unlisted & where] = ord(symbol)
    kind_numbers = np.array([*map(model.classes.index, model.words.kinds), OUTSIDE], np.int32)
    return WordEvidence(symbols, people, kind_numbers[kinds], towns, odds, judged.divergence)

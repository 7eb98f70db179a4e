"""A tagger of people and places that is built from lists and the words of the notes alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.compiled import kernel_array
from corpus.kernels.hashing import Hashes
from corpus.lines import line_numbers
from corpus.tags import bio_labels
from gazetteers.builtin import read_gazetteer
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from gazetteers.gazetteer import merge, terms_by_class
from gazetteers.phrases.automaton import surface_hashes
from gazetteers.phrases.matcher import BLOCKED, PhraseMatcher
from taggers.annotators.content import words_in_phrases
from taggers.base import Detail, Progress, Tagging, Training
from taggers.confidence import check_measure
from taggers.dictionaries.greedy_decoding import tagging_of
from taggers.dictionaries.name_lists import read_names
from taggers.dictionaries.places.decoding import OUTSIDE, decode
from taggers.dictionaries.places.grammar import LINE, PHRASE, PHRASE_END, ROLE
from taggers.dictionaries.places.options import NOT_TAGGED, ListOptions
from taggers.dictionaries.places.place_classes import PLACE, POSTAL_CODE, place_classes
from taggers.dictionaries.places.roles import BLOCKS, JOINS, STREET, TOUCHES, CueWords
from taggers.dictionaries.places.word_weights import PlaceWeights, WordUsage
from taggers.dictionaries.word_divergence import WordDivergence
from taggers.dictionaries.word_usage import Uses, case_numbers, words_of_notes
from taggers.model_folder import ModelFiles, errors_of_model, write_model
from taggers.option_values import options_of_fields
from taggers.options import INSIDE_MODEL
from taggers.pruning import PHRASES, Pruning
from taggers.public_lists import PublicLists

#: Separates terms in a model.
_SEPARATOR = "\n"


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """The parts of a fitted tagger.

    `classes` are the classes of places. Their order is that of `matcher`, without `BLOCKED`.
    """

    persons: WordDivergence
    places: PlaceWeights
    usage: WordUsage
    words: CueWords
    matcher: PhraseMatcher
    classes: tuple[str, ...]

    @classmethod
    def of_model(cls, model: ModelFiles) -> Self:
        """Read the parts from the files of a model.

        Raises
        ------
        InputError
            If a file or the description of the model is not what was saved.
        """
        found = model.fields
        classes = found.distinct_texts("classes")
        words = CueWords(_split(found.text_by_key("cue_words")))
        matcher = PhraseMatcher(_split(found.text_by_key("phrases")))
        # Phrases and words refer to classes by their indices.
        if matcher.classes != (*classes[: len(matcher.classes) - 1], BLOCKED):
            raise found.error("classes", f"the classes of phrases but {BLOCKED}, in their order")
        if not {*words.kinds, STREET, POSTAL_CODE, PLACE} <= set(classes):
            raise found.error("classes", "the classes of all cue words")
        return cls(
            WordDivergence.of_model(model, found.fields("persons")),
            PlaceWeights.of_model(model, found.fields("places"), len(classes)),
            WordUsage.of_model(model),
            words,
            matcher,
            classes,
        )


class ListTagger:
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
    kernels: ClassVar[tuple[str, ...]] = (
        "corpus.tokens.scanner",
        "gazetteers.phrases.matching",
        "taggers.dictionaries.places.decoding",
    )

    def __init__(self, options: ListOptions) -> None:
        self.options = options
        names = {options.label, options.place_label, *options.place_labels.values()}
        self.labels = bio_labels(names - {NOT_TAGGED})
        self.training: Training | None = None
        self._model: _Model | None = None

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
        lists = [read_gazetteer(path) for path in options.places]
        blocking = [read_gazetteer(path) for path in options.blocked]
        word_lists = [read_gazetteer(path) for path in options.cue_words]
        terms = {name: each for name, each in terms_by_class(lists).items() if name != BLOCKED}
        blocked = [term for each in terms_by_class(blocking).values() for term in each]
        matcher = PhraseMatcher(terms | {BLOCKED: blocked})
        frequencies = Frequencies.of(merge(lists), tuple(terms)) if lists else _NO_PLACES
        places = PlaceWeights.of(frequencies, names, persons, notes, options.smoothing)
        most = options.smoothing * np.expm1(options.threshold_after)
        usage = WordUsage.of(notes, most)
        words = CueWords.of(word_lists)
        self._model = _Model(
            persons, places, usage, words, matcher, place_classes(lists, word_lists)
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
        """Predict the tags of documents in one pass over their tokens.

        See `taggers.dictionaries.places.decoding.decode`. The confidence in documents is computed
        from the certainty of tokens as by `taggers.dictionaries.greedy_decoding.tag_greedily`.
        """
        check_measure(measure)
        model = self._fitted()
        classes, begins, certainty = _decoded(
            model, batch, (self.options.threshold, self.options.threshold_after)
        )
        tags = self._tags_of(model.classes)[np.where(begins, 0, 1), classes]
        # What is found but belongs to no class is outside of the entities of the notes for sure.
        certainty[(classes != OUTSIDE) & (tags == 0)] = 1.0
        if progress:
            progress(len(batch), len(batch))
        return tagging_of(batch, tags, certainty, self.labels, measure=measure, detail=detail)

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

    def contents(self) -> dict[str, int]:
        """Return the number of words of lists, of words of the notes, and of phrases."""
        model = self._fitted()
        return {
            "words of lists of names": model.persons.size,
            "words of lists that occur in the notes": model.persons.occurring,
            "words of lists of places": len(model.places.hashes),
            "words of the notes": model.usage.size,
            "phrases": sum(map(len, model.matcher.phrases.values())),
            "cue words": sum(map(len, model.words.terms.values())),
        }

    def pruned(self, pruning: Pruning) -> ListTagger:
        """Return a model that reveals less of the notes."""
        model = self._fitted()
        phrases, cues = model.matcher.phrases, model.words.terms
        if PHRASES not in pruning.keep:
            phrases, cues = map(pruning.lists.public_phrases, (phrases, cues))
        tagger = ListTagger(self.options)
        tagger._model = replace(
            model,
            persons=model.persons.pruned(pruning),
            places=model.places.pruned(pruning),
            usage=model.usage.pruned(pruning),
            words=CueWords(cues),
            matcher=PhraseMatcher(phrases),
        )
        return tagger

    def traces(self, words: Sequence[str], lists: PublicLists) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words left traces; see `taggers.pruning.PrunableTagger`."""
        model = self._fitted()
        return {
            **model.persons.traces(words, lists),
            **model.places.traces(words, lists),
            **model.usage.traces(words),
            PHRASES: words_in_phrases(words, model.matcher.phrases, lists),
            "cue words": words_in_phrases(words, model.words.terms, lists),
        }

    def _fitted(self) -> _Model:
        if self._model is None:
            raise ValueError("the tagger has not been fitted")
        return self._model

    def save(self, folder: Path) -> None:
        """Write the model into a folder, without the paths of the lists.

        Words of the notes are stored as hashes.
        """
        model = self._fitted()
        options = asdict(self.options) | {"counts": ""}
        lists = [name for name in ("names", "blocked", "places", "cue_words") if options[name]]
        options |= {name: [INSIDE_MODEL] for name in lists}
        description = {
            "kind": self.kind,
            "options": options,
            "persons": model.persons.description(),
            "places": model.places.description(),
            "phrases": _joined(model.matcher.phrases),
            "cue_words": _joined(model.words.terms),
            "key": model.usage.key,
            "classes": model.classes,
        }
        files = model.persons.files() | model.places.files() | model.usage.files()
        write_model(folder, description, files)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a model that `save` wrote.

        Raises
        ------
        InputError
            If the folder holds no model of this kind, or a damaged one.
        """
        with errors_of_model(folder, cls.kind):
            model = ModelFiles(folder, cls.kind)
            tagger = cls(options_of_fields(ListOptions, model.fields.fields("options")))
            tagger._model = _Model.of_model(model)
        return tagger


_NO_PLACES = Frequencies((), (), np.zeros((0, 1), np.int64), np.zeros((0, 1), np.int64))


def _joined(terms: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {name: _SEPARATOR.join(each) for name, each in terms.items()}


def _split(terms: Mapping[str, str]) -> dict[str, list[str]]:
    return {name: each.split(_SEPARATOR) if each else [] for name, each in terms.items()}


def _decoded(
    model: _Model, batch: Batch, thresholds: tuple[float, float]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Return the class of each token, whether it begins a name, and its certainty."""
    types, size = batch.vocabulary, batch.n_tokens
    folded = fold(types)
    hashes, cases, surfaces = word_hashes(folded), case_numbers(types), surface_hashes(folded)
    form = model.words.of_types(types, surfaces)
    judged = model.persons.judge_words(types, hashes, cases)
    singles, weights = model.places.of_words(hashes, cases)
    kind_numbers = np.array(
        [*(model.classes.index(name) for name in model.words.kinds), OUTSIDE], np.int32
    )
    roles = form.roles | judged.joins * JOINS
    roles |= model.usage.of_words(hashes, cases, form.may_be_rare)
    of_types = np.stack([roles, kind_numbers[form.kinds], kind_numbers[form.dotted], singles], 1)
    rows = np.empty((size, 7), np.int32)
    rows[:, :LINE] = of_types.astype(np.int32)[batch.word_ids]
    rows[:, LINE] = line_numbers(batch)
    phrases, phrase_ends, blocked = _listed(model.matcher, batch, surfaces)
    rows[:, PHRASE], rows[:, PHRASE_END] = phrases, phrase_ends
    rows[:, ROLE] |= np.where(blocked, BLOCKS, 0).astype(np.int32)
    touches = batch.visible_starts()[1:] == batch.ends[:-1]
    rows[:-1, ROLE] |= np.where(touches, TOUCHES, 0).astype(np.int32)
    reals = np.stack([judged.divergence, weights], 1)[batch.word_ids]
    classes, begins = np.full(size, OUTSIDE, np.int32), np.zeros(size, bool)
    certainty = np.ones(size)
    street, code, unlisted = map(model.classes.index, (STREET, POSTAL_CODE, PLACE))
    decode(
        rows,
        kernel_array(reals),
        (street, code, unlisted),
        (float(thresholds[0]), float(thresholds[1])),
        classes,
        begins,
        certainty,
    )
    return classes, begins, certainty


def _listed(
    matcher: PhraseMatcher, batch: Batch, surfaces: Hashes
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the class and the end of the phrase that begins at each token, and blocked tokens."""
    found = matcher.find(batch, surfaces)
    phrases = np.full(batch.n_tokens, OUTSIDE, np.int32)
    phrase_ends = np.zeros(batch.n_tokens, np.int64)
    blocks = found.classes == matcher.classes.index(BLOCKED)
    phrases[found.first[~blocks]] = found.classes[~blocks]
    phrase_ends[found.first[~blocks]] = found.last[~blocks]
    # Changes in the number of open phrases mark the tokens within them.
    changes = np.zeros(batch.n_tokens + 1, np.int64)
    changes[found.first[blocks]] += 1
    changes[found.last[blocks] + 1] -= 1
    return phrases, phrase_ends, np.cumsum(changes[:-1]) > 0

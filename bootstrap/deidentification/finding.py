"""What is found in notes: by a model, by patterns, and as words of what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anonymizers.known_patients import Known, NoteTokens, find_known
from anonymizers.spans import Spans
from bootstrap.deidentification.repeated import REPEATED, PatientWords, may_tell, recurring_tokens
from bootstrap.tagging import tag_in_chunks
from corpus.batch import batch_of_texts
from corpus.errors import Problems
from corpus.tags import TokenSpans, classes_of, find_entities, tags_of_tokens
from corpus.units import Unit, split_batch
from gazetteers.phrases.matcher import BLOCKED
from taggers import Tagger, Tagging
from taggers.annotators import Phrases
from taggers.base import Detail
from taggers.patterns.labelled import LabelledPatterns, entities_of

Indices: TypeAlias = npt.NDArray[np.int64]

#: What has found spans, for the report.
MODEL, PATTERN, PHRASE = "model", "pattern", "phrase"


class TaggedNotes:
    """Notes in units that a tagger tags separately.

    Parameters
    ----------
    notes : RecordBatch
        The notes.
    unit : {"document", "line", "sentence"}
        The unit.
    tagger : Tagger
        The tagger.
    marginals : bool
        Whether to compute the marginals of tokens.
    """

    def __init__(
        self, notes: pa.RecordBatch, unit: Unit, tagger: Tagger, *, marginals: bool
    ) -> None:
        self._units = split_batch(notes, unit, Problems())
        ids, texts, groups = self._units.batch.columns[:3]
        self.batch = batch_of_texts(texts, ids, groups)
        detail: Detail = "labels" if marginals else "tags"
        self._tagging = tag_in_chunks(tagger, self.batch, "probability", detail)

    @property
    def outside(self) -> npt.NDArray[np.float64]:
        """The probability of each token of being outside of all entities."""
        assert self._tagging.marginals is not None
        return self._tagging.marginals[:, 0]

    def model_spans(self, threshold: float = 0.0) -> Spans:
        """Return the spans that the tagger finds; see `widened` for the threshold."""
        tagging, offsets = self._tagging, self.batch.document_offsets
        tags = widened(tagging, offsets, threshold) if threshold else tagging.tags
        entities = find_entities(tags, offsets, tagging.labels)
        return self._spans(entities, classes_of(tagging.labels), MODEL)

    def pattern_spans(self, patterns: LabelledPatterns) -> Spans:
        """Return the spans of patterns."""
        return self._spans(entities_of(patterns.find(self.batch)[0]), patterns.classes, PATTERN)

    def phrase_spans(self, phrases: Phrases) -> Spans:
        """Return the phrases of lists, with the classes of the lists."""
        stream = phrases.annotate(self.batch)
        labels = ("O", *stream.vocabulary)
        tags = (stream.values + 1).astype(np.int16)
        entities = find_entities(tags, self.batch.document_offsets, labels)
        classes = classes_of(labels)
        kept = np.array([name != BLOCKED for name in (*classes, "")])[entities.classes]
        entities = TokenSpans(entities.first[kept], entities.last[kept], entities.classes[kept])
        return self._spans(entities, classes, PHRASE)

    def repeated_spans(self, patients: Indices, words: PatientWords) -> Spans:
        """Return the words of the mentions of patients, wherever they stand."""
        of_documents = patients[self._units.owners]
        tokens, labels = recurring_tokens(self.batch, of_documents, words)
        classes = tuple(dict.fromkeys(labels))
        numbers = np.array([classes.index(label) for label in labels], np.int64)
        return self._spans(TokenSpans(tokens, tokens, numbers), classes, REPEATED)

    def known_spans(self, known: Sequence[Known]) -> Spans:
        """Return what is known of the patient of each note."""
        words = np.array([*self.batch.vocabulary, ""], object)[self.batch.word_ids].tolist()
        return find_known(NoteTokens(*self.tokens(), words), known)

    def tokens(self) -> tuple[Indices, Indices, Indices]:
        """Return the row of the note of each token, and its half-open offsets there."""
        units = np.repeat(np.arange(len(self.batch)), self.batch.lengths)
        origins = self._units.offsets[units]
        return self._units.owners[units], origins + self.batch.starts, origins + self.batch.ends

    def _spans(self, entities: TokenSpans, classes: Sequence[str], source: str) -> Spans:
        """Return entities of the units as spans of the notes."""
        batch, names = self.batch, np.array([*classes, ""], object)
        units = np.searchsorted(batch.document_offsets, entities.first, side="right") - 1
        origins = self._units.offsets[units]
        return Spans(
            self._units.owners[units],
            origins + batch.starts[entities.first],
            origins + batch.ends[entities.last],
            names[entities.classes],
            np.full(len(units), source, object),
        )


def widened(tagging: Tagging, document_offsets: Indices, threshold: float) -> npt.NDArray[np.int16]:
    """Return tags in which more tokens are in entities.

    Parameters
    ----------
    tagging : Tagging
        With the detail ``"labels"``.
    document_offsets : ndarray of int64, shape (D + 1,)
        Where the tokens of each document begin.
    threshold : float
        Tokens outside of entities are in one if their probability of being outside is lower. It is
        of the class that is most probable there, and joins entities of this class beside it.
    """
    assert tagging.marginals is not None
    classes, labels = classes_of(tagging.labels), tagging.labels
    of_labels = np.array([-1, *(classes.index(label[2:]) for label in labels[1:])], np.int64)
    begins, of_tokens = np.char.startswith(labels, "B-")[tagging.tags], of_labels[tagging.tags]
    added = (of_tokens < 0) & (tagging.marginals[:, 0] < threshold)
    of_tokens[added] = of_labels[1 + tagging.marginals[added, 1:].argmax(axis=1)]
    goes_on = np.zeros(len(added), bool)
    goes_on[1:] = of_tokens[1:] == of_tokens[:-1]
    goes_on[document_offsets[:-1][document_offsets[:-1] < len(added)]] = False
    after_added = np.append(False, added[:-1])
    begins = np.where(added | after_added, ~goes_on, begins)
    return tags_of_tokens(of_tokens, begins, labels)


def outside(spans: Spans, done: Spans, texts: Sequence[str]) -> Spans:
    """Return what spans cover outside of others.

    Parameters
    ----------
    spans : Spans
        Spans in any order.
    done : Spans
        Spans in order that do not overlap.
    texts : sequence of str
        The texts of the notes.

    Returns
    -------
    Spans
        Spans that overlap none of the others, and the pieces of the rest that have a word that may
        identify somebody, or a number.
    """
    # Most are within one of the others.
    spans = spans.take(np.flatnonzero(~within(spans.rows, spans.starts, spans.ends, done)))
    size = 1 + max(map(len, texts), default=0)
    begins, reach = done.rows * size + done.starts, done.rows * size + done.ends
    starts, ends = spans.rows * size + spans.starts, spans.rows * size + spans.ends
    first, last = np.searchsorted(reach, starts, side="right"), np.searchsorted(begins, ends)
    kept: list[tuple[int, int, int]] = []  # the span, and the offsets of a piece
    for number in range(len(starts)):
        borders = [starts[number]]
        for other in range(first[number], last[number]):
            borders += [max(begins[other], starts[number]), min(reach[other], ends[number])]
        borders.append(ends[number])
        origin = spans.rows[number] * size
        for start, end in zip(borders[::2], borders[1::2], strict=True):
            text = texts[spans.rows[number]][start - origin : end - origin]
            if len(borders) == 2 or may_tell(text):
                blank = len(text) - len(text.lstrip())
                start_of_words = start - origin + blank
                kept.append((number, start_of_words, start_of_words + len(text.strip())))
    rows, new_starts, new_ends = np.array(kept, np.int64).reshape(-1, 3).T
    return replace(spans.take(rows), starts=new_starts, ends=new_ends)


def within(rows: Indices, starts: Indices, ends: Indices, spans: Spans) -> npt.NDArray[np.bool_]:
    """Return which places, each a row and half-open offsets there, are within one of some spans.

    The spans are in order and do not overlap.
    """
    size = 1 + max(int(ends.max(initial=0)), int(spans.ends.max(initial=0)))
    begins, reach = spans.starts + spans.rows * size, spans.ends + spans.rows * size
    near = np.searchsorted(begins, starts + rows * size, side="right") - 1
    result: npt.NDArray[np.bool_] = (near >= 0) & (ends + rows * size <= np.append(reach, -1)[near])
    return result

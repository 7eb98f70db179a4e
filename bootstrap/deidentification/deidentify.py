"""De-identified notes: found, replaced, and searched again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from anonymizers.anonymizer import Anonymized, Counts, Mentions, anonymize
from anonymizers.keys import VARIABLE, Key
from anonymizers.known_patients import Known, KnownPatients
from anonymizers.policy import Policy, read_policy
from anonymizers.spans import Spans
from bootstrap.deidentification.doubts import NO_DOUBTS, Doubts, doubts_of
from bootstrap.deidentification.finding import TaggedNotes, outside
from bootstrap.deidentification.repeated import Indices, PatientWords, words_of
from bootstrap.tagging import applied
from corpus.errors import InputError
from corpus.formats.batches import SCHEMA, unlabelled, with_annotations
from corpus.patients import number_patients
from corpus.units import Unit
from taggers import Tagger
from taggers.annotators import Phrases
from taggers.patterns import KERNELS
from taggers.patterns.labelled import LabelledPatterns

#: What has found the spans that the notes came with, for the report.
ANNOTATION = "annotation"

#: The column of what is known of the patient of a note, which `deidentify` receives.
_KNOWN = "known"


@dataclass(frozen=True, slots=True)
class DeidentifyOptions:
    """How notes are de-identified.

    Parameters
    ----------
    policy : Policy
        What replaces the mentions of each class.
    key : Key
        The key from which replacements follow.
    unit : {"document", "line", "sentence"}
        The unit that is tagged separately.
    patterns : LabelledPatterns, optional
        Patterns whose spans are also replaced.
    phrases : Phrases, optional
        Phrases that are also replaced.
    threshold : float
        Tokens whose probability of being outside of all entities is lower are also replaced.
    checks : bool
        Whether the output is searched again.
    doubts : bool
        Whether to name the places at which the model was in doubt, which takes longer.
    """

    policy: Policy
    key: Key
    unit: Unit = "document"
    patterns: LabelledPatterns | None = None
    phrases: Phrases | None = None
    threshold: float = 0.0
    checks: bool = True
    doubts: bool = False

    @property
    def kernels(self) -> tuple[str, ...]:
        """The modules whose compiled functions are called; see `taggers.base.kernels_of`."""
        return (*KERNELS, *(("gazetteers.phrases.matching",) if self.phrases else ()))

    def tagged(self, notes: pa.RecordBatch, tagger: Tagger) -> TaggedNotes:
        """Tag notes in units."""
        marginals = self.doubts or self.threshold > 0
        return TaggedNotes(notes, self.unit, tagger, marginals=marginals)


def deidentify_options(
    policy: str, key: Key | None, unit: Unit, *, threshold: float = 0.0
) -> DeidentifyOptions:
    """Return how a model de-identifies notes, with all patterns of the package.

    Parameters
    ----------
    policy : str
        As for `anonymizers.policy.read_policy`.
    key : Key, optional
        A random one if the policy needs none.
    unit, threshold
        As in `DeidentifyOptions`.

    Raises
    ------
    InputError
        If the policy is invalid, or needs a key and there is none, or the threshold is none.
    """
    parsed = read_policy(policy)
    if not 0 <= threshold <= 1:
        raise InputError(f"the threshold is {threshold}; expected a probability from 0 to 1")
    if parsed.needs_key and key is None:
        raise InputError(
            f"the policy {policy} needs a key: make one with `bootstrap key FILE`, and name it in "
            f"--key-file, or set {VARIABLE}"
        )
    return DeidentifyOptions(
        parsed,
        key or Key.random(),
        unit,
        patterns=LabelledPatterns(),
        phrases=Phrases.from_files(parsed.phrases) if parsed.phrases else None,
        threshold=float(threshold),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Deidentified:
    """De-identified notes, and what was replaced in them.

    Parameters
    ----------
    notes : RecordBatch
        The notes with new texts, and with spans where these are.
    originals, spans : Spans
        What was replaced, in order: where it was in the old texts, and where its replacement is.
    counts : Counts
        What was replaced.
    second : Counts
        What was found and replaced in the output.
    doubts : Doubts
        Where the model was in doubt, in the new texts.
    """

    notes: pa.RecordBatch
    originals: Spans
    spans: Spans
    counts: Counts
    second: Counts
    doubts: Doubts

    @property
    def annotated(self) -> pa.RecordBatch:
        """The notes with the spans of what was replaced by a text that is not empty."""
        spans = self.spans.take(np.flatnonzero(self.spans.ends > self.spans.starts))
        return with_annotations(self.notes, spans.lists(len(self.notes)), {})

    def beside(self, notes: pa.RecordBatch, *, spans: bool = False) -> pa.RecordBatch:
        """Return the new texts with the other columns of the notes, and perhaps the spans."""
        new = self.annotated if spans else unlabelled(self.notes)
        others = notes.set_column(1, SCHEMA.field("text"), new.column("text"))
        return with_annotations(others, new.columns[3:6], {})


def deidentify(options: DeidentifyOptions, tagger: Tagger, notes: pa.RecordBatch) -> Deidentified:
    """De-identify notes, which may be done in another process; their own spans are ignored."""
    notes, known = without_known(notes)
    tagged = options.tagged(notes, tagger)
    mentions, words = first_mentions(options, notes, tagged, known)
    result = first = anonymize(notes, mentions, options.policy, options.key)
    doubts = doubts_of(tagged, mentions.spans) if options.doubts else NO_DOUBTS
    second = Counts()
    if options.checks:
        searched = np.unique(first.spans.rows)  # notes in which nothing was found are the same
        overlooked = _overlooked(options, tagger, first, searched, (words, known))
        second = Counts(notes=len(searched), changed=len(np.unique(overlooked.rows)))
        if len(overlooked.rows):
            # With those before them: of numbered placeholders, each person has one number.
            mentions = mentions.joined(Mentions.of_spans(notes, overlooked, options.policy))
            result = anonymize(notes, mentions, options.policy, options.key)
            doubts = doubts.without(mentions.spans)
            second.mentions = result.counts.mentions - first.counts.mentions
    return Deidentified(
        result.notes,
        mentions.spans,
        result.spans,
        first.counts,
        second,
        doubts.moved(result.offsets),
    )


def with_known(known: KnownPatients | None, notes: pa.RecordBatch) -> pa.RecordBatch:
    """Return notes with a column for what is known of their patients, and without others."""
    plain = notes.select(SCHEMA.names)
    return plain.append_column(_KNOWN, known.of_notes(notes)) if known else plain


def without_known(notes: pa.RecordBatch) -> tuple[pa.RecordBatch, list[Known]]:
    """Return notes without this column, and its values."""
    if _KNOWN not in notes.schema.names:
        return notes, []
    return notes.drop_columns(_KNOWN), notes.column(_KNOWN).to_pylist()


def first_mentions(
    options: DeidentifyOptions,
    notes: pa.RecordBatch,
    tagged: TaggedNotes,
    known: Sequence[Known] = (),
) -> tuple[Mentions, PatientWords]:
    """Return the mentions of notes, and their words, which must not stand elsewhere."""
    patients = _patients(notes)
    mentions = Mentions.of_spans(notes, _found(options, tagged, known), options.policy)
    words = words_of(mentions.items, patients)
    repeated = tagged.repeated_spans(patients, words)
    others = outside(repeated, mentions.spans, notes.column("text").to_pylist())
    return mentions.joined(Mentions.of_spans(notes, others, options.policy)), words


def _patients(notes: pa.RecordBatch) -> Indices:
    """Return the number of the patient of each note."""
    rows = pa.array(np.arange(len(notes))).cast(pa.large_string())  # ids may be repeated
    return number_patients(notes.column("group"), rows)


def _found(options: DeidentifyOptions, tagged: TaggedNotes, known: Sequence[Known]) -> Spans:
    """Return what the model and the patterns find, and what is known of the patients."""
    spans = [tagged.model_spans(options.threshold)]
    if known:
        spans.append(tagged.known_spans(known))
    if options.patterns:
        spans.append(tagged.pattern_spans(options.patterns))
    if options.phrases:
        spans.append(tagged.phrase_spans(options.phrases))
    return Spans.joined(spans)


def _overlooked(
    options: DeidentifyOptions,
    tagger: Tagger,
    first: Anonymized,
    searched: Indices,
    sought: tuple[PatientWords, Sequence[Known]],
) -> Spans:
    """Search some of the new texts, and return what was overlooked, where it is in the old ones."""
    notes = first.notes.take(pa.array(searched))
    words, known = sought[0], [sought[1][row] for row in searched.tolist()] if sought[1] else ()
    tagged = options.tagged(notes, tagger)
    repeated = tagged.repeated_spans(_patients(first.notes)[searched], words)
    spans = Spans.joined([_found(options, tagged, known), repeated])
    done = replace(first.spans, rows=np.searchsorted(searched, first.spans.rows))
    left = outside(spans, done, notes.column("text").to_pylist())
    return replace(left, rows=searched[left.rows]).moved(first.offsets.inverse)


def deidentified_batches(
    batches: Iterable[pa.RecordBatch], tagger: Tagger | None, options: DeidentifyOptions
) -> Iterator[tuple[pa.RecordBatch, Deidentified]]:
    """Yield notes in batches of a fixed size, and what they are without the patient.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Notes as in `corpus.formats.batches`.
    tagger : Tagger, optional
        What finds mentions, in its processes if it is a `ParallelTagger`. Without one, the spans
        of the notes are replaced, and nothing else.
    options : DeidentifyOptions
        How they are de-identified.
    """
    if tagger is not None:
        return _deidentified(batches, tagger, options)
    return ((notes, _annotations_replaced(options, notes)) for notes in batches)


def _deidentified(
    batches: Iterable[pa.RecordBatch], tagger: Tagger, options: DeidentifyOptions
) -> Iterator[tuple[pa.RecordBatch, Deidentified]]:
    known = KnownPatients(options.policy.known) if options.policy.known else None
    sent = partial(with_known, known)
    yield from applied(partial(deidentify, options), tagger, batches, sent)
    if known:
        known.refuse_missing()


def _annotations_replaced(options: DeidentifyOptions, notes: pa.RecordBatch) -> Deidentified:
    """Replace the spans that notes have."""
    mentions = Mentions.of_spans(notes, Spans.of_notes(notes, ANNOTATION), options.policy)
    result = anonymize(notes, mentions, options.policy, options.key)
    return Deidentified(
        result.notes, mentions.spans, result.spans, result.counts, Counts(), NO_DOUBTS
    )

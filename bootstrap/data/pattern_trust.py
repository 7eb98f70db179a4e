"""Which patterns of a run are trusted, and the class of their spans in its annotated documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from bootstrap.config.options import TrustedPatternOptions
from corpus.batch import Batch
from corpus.patients import number_patients
from corpus.tags import classes_of, find_entities
from taggers.patterns.labelled import OUTSIDE, LabelledPatterns
from taggers.patterns.merging import merged
from taggers.patterns.pattern import Pattern

if TYPE_CHECKING:
    from taggers.patterns.matcher import PatternMatcher

#: What the confidence of a pattern counts as: a number of spans.
PRIOR_SPANS = 30
#: The probability that the precision of a pattern is below its lower bound.
_TAIL = 0.05

#: What a span is that an entity overlaps, but is not.
_CROSSING = "\n"  # no class has this name

#: The number of spans of each pattern by what they are: a class, `OUTSIDE` or `_CROSSING`.
_Counts = list[Counter[str]]


class PatternTrust(msgspec.Struct, frozen=True):
    """What was decided about a pattern.

    Attributes
    ----------
    label : str
        The class of the pattern in its table.
    expression : str
        Its expression.
    tagged_as : str
        The class of its spans; empty for spans outside of entities.
    spans, right : int
        The number of its spans in the documents that decide, and how many of them are an entity of
        the class, or outside of all entities.
    other_spans, other_right : int
        The same in the other half of the validation documents.
    lower : float
        The lower bound of its precision.
    is_trusted : bool
        Whether its spans are found first.
    """

    label: str
    expression: str
    tagged_as: str
    spans: int
    right: int
    other_spans: int
    other_right: int
    lower: float
    is_trusted: bool


@dataclass(frozen=True, slots=True)
class TrustedPatterns:
    """The patterns that are found before the taggers of a run, and what was decided about all."""

    decisions: tuple[PatternTrust, ...]
    patterns: LabelledPatterns | None


def trusted_patterns(
    options: TrustedPatternOptions, seed: Batch, validation: Batch
) -> TrustedPatterns:
    """Decide which patterns are trusted.

    The seed and one half of the validation documents decide; no patient is in both halves. The
    precision of a pattern has the prior distribution Beta(30 c, 30 (1 - c)), where c is its own
    confidence, and is trusted if the quantile 0.05 of its posterior is at least ``options.trust``.

    Parameters
    ----------
    options : TrustedPatternOptions
        Their tables, classes and limit.
    seed, validation : Batch
        The annotated documents of a run.
    """
    from taggers.patterns.matcher import PatternMatcher  # noqa: PLC0415 - numba is slow to import

    if not options.files:
        return TrustedPatterns((), None)
    patterns = options.read()
    matcher = PatternMatcher(patterns)
    sides = number_patients(validation.groups, validation.ids) % 2
    halves = [validation.take(np.flatnonzero(sides == side)) for side in (0, 1)]
    deciding = _counts(matcher, [seed, halves[0]])
    others = _counts(matcher, [halves[1]])
    classes = {*classes_of(seed.labels), *classes_of(validation.labels)}
    labels = _labels(patterns, deciding, classes) | dict(options.labels)
    decisions = tuple(
        _decision(pattern, labels[pattern.label], decided, other, options.trust)
        for pattern, decided, other in zip(patterns, deciding, others, strict=True)
    )
    trusted = [p for p, decision in zip(patterns, decisions, strict=True) if decision.is_trusted]
    used = {name: labels[name] for name in dict.fromkeys(pattern.label for pattern in trusted)}
    return TrustedPatterns(decisions, LabelledPatterns(trusted, used) if trusted else None)


def _counts(matcher: PatternMatcher, batches: Sequence[Batch]) -> _Counts:
    """Count what the spans of each pattern are in annotated documents."""
    counts: _Counts = [Counter() for _ in matcher.patterns]
    for batch in batches:
        hits, names = matcher.find(batch), classes_of(batch.labels)
        # Of the pieces of a longer span, merging keeps none.
        extents = hits.first * batch.n_tokens + hits.last
        kept = extents[merged(hits.first, hits.last, hits.confidences)]
        hits = hits.take(np.flatnonzero(np.isin(extents, kept)))
        entities = find_entities(batch.tags, batch.document_offsets, batch.labels)
        places = zip(entities.first.tolist(), entities.last.tolist(), strict=True)
        exact = dict(zip(places, (names[kind] for kind in entities.classes.tolist()), strict=True))
        inside = np.concatenate([[0], np.cumsum(batch.tags > 0)])
        touched = inside[hits.last + 1] > inside[hits.first]
        for pattern, first, last, is_touched in zip(
            hits.patterns.tolist(), hits.first.tolist(), hits.last.tolist(), touched, strict=True
        ):
            is_what = exact.get((first, last), _CROSSING if is_touched else OUTSIDE)
            counts[pattern][is_what] += 1
    return counts


def _labels(patterns: Sequence[Pattern], counts: _Counts, classes: set[str]) -> dict[str, str]:
    """Return what most spans of each class of patterns are."""
    of_class: dict[str, Counter[str]] = {}
    for pattern, counted in zip(patterns, counts, strict=True):
        of_class.setdefault(pattern.label, Counter()).update(counted)
    for name, counted in of_class.items():
        del counted[_CROSSING]
        if not counted:
            counted[name if name in classes else OUTSIDE] = 0
    return {name: counted.most_common(1)[0][0] for name, counted in of_class.items()}


def _decision(
    pattern: Pattern, tagged_as: str, deciding: Counter[str], others: Counter[str], trust: float
) -> PatternTrust:
    from scipy.special import betaincinv  # noqa: PLC0415 - slow to import

    spans, right = deciding.total(), deciding[tagged_as]
    # Of the spans outside of entities, the confidence of the pattern says nothing.
    confidence = 0.5 if tagged_as == OUTSIDE else pattern.confidence
    alpha = PRIOR_SPANS * confidence + right
    beta = PRIOR_SPANS * (1 - confidence) + spans - right
    lower = float(betaincinv(alpha, beta, _TAIL))
    return PatternTrust(
        pattern.label, pattern.expression, tagged_as, spans, right,
        others.total(), others[tagged_as], lower, lower >= trust,
    )  # fmt: skip

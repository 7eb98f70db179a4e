"""How well the splits of a run represent each other.

A seed is compared with validation separately among documents with and without entities, so that a
seed that is merely enriched with entities does not count as different. Validation is compared with
the unlabeled documents as a whole, which needs no predicted tags of them.

A classifier two-sample test decides whether two samples are of the same kind: a classifier learns
to tell their documents apart. Its area under the ROC curve (AUC) on held-out documents is 0.5 if
both are samples of the same documents (Lopez-Paz and Oquab, "Revisiting classifier two-sample
tests", ICLR 2017).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bootstrap.data.samples import token_shares
from corpus.batch import Batch, concatenate
from corpus.patients import number_patients
from corpus.ragged import count_by_row
from corpus.tags import classes_of, find_entities

#: A seed is enriched if its share of documents with entities exceeds validation's by this.
_ENRICHED = 0.15
#: A seed with at least this number of validation-like documents is not biased.
_ENOUGH = 50
#: Samples are of different kinds if the AUC is at least this, ...
_LEAST_AUC = 0.6
#: ... and exceeds 0.5 by at least this number of standard errors.
_STANDARD_ERRORS = 4.0

_QUANTILE = 0.25  # of the scores of the second sample
_LEAST_UNITS = 10  # patients, or documents without one, of a sample that are compared
_FOLDS = 5
_LONGEST = 12  # log2 of the number of tokens from which on lengths are equal
_DIGITS = re.compile(r"\d")
_REPEATED = re.compile(r"(.)\1+")


@dataclass(frozen=True, slots=True)
class Profile:
    """Figures of a sample of documents, without any of their text.

    Parameters
    ----------
    length : float
        The median number of tokens of a document.
    beginnings : mapping of str to float
        The share of documents by the shapes of their first two words, such as ``Xx :``.
    with_entities : float or None
        The share of documents with entities; None if the documents are not annotated.
    per_document : mapping of str to float
        The mean number of entities of each class in a document.
    tokens : mapping of str to float
        The share of tokens in entities of each class.
    """

    length: float
    beginnings: Mapping[str, float]
    with_entities: float | None = None
    per_document: Mapping[str, float] = field(default_factory=dict)
    tokens: Mapping[str, float] = field(default_factory=dict)


def profile(batch: Batch) -> Profile:
    """Compute the figures of a sample; `batch` has no labels if it is not annotated."""
    number = max(len(batch), 1)
    length = float(np.median(batch.lengths)) if len(batch) else 0.0
    beginnings = {name: count / number for name, count in Counter(_beginnings(batch)).items()}
    if not batch.labels:
        return Profile(length, beginnings)
    names = classes_of(batch.labels)
    entities = find_entities(batch.tags, batch.document_offsets, batch.labels)
    counts = np.bincount(entities.classes, minlength=len(names))
    return Profile(
        length,
        beginnings,
        with_entities=float(has_entities(batch).sum() / number),
        per_document=dict(zip(names, (counts / number).tolist(), strict=True)),
        tokens=token_shares(batch),
    )


def _beginnings(batch: Batch) -> Iterator[str]:
    """Yield the shapes of the first two words of each document that has a word."""
    shapes = list(map(short_shape, batch.vocabulary))
    for words in np.split(batch.word_ids, batch.document_offsets[1:-1]):
        if len(words):
            yield " ".join(shapes[word] for word in words[:2])


@dataclass(frozen=True, slots=True)
class Representativeness:
    """How well the splits of a run represent each other.

    Parameters
    ----------
    profiles : mapping of str to Profile
        The figures of each split.
    seed : Separation or None
        Seed and validation documents, compared with and without entities; None without a seed, or
        if there are too few documents.
    seed_to_pool : Separation or None
        Seed and unlabeled documents as a whole.
    validation : Separation or None
        Validation and unlabeled documents as a whole.
    """

    profiles: Mapping[str, Profile]
    seed: Separation | None
    seed_to_pool: Separation | None
    validation: Separation | None

    @property
    def seed_is_biased(self) -> bool:
        """Whether the seed differs in kind from the documents that it represents.

        A seed with `_ENOUGH` validation-like documents is not biased, whatever else it contains. If
        validation differs from the unlabeled documents, a seed that does not is not biased either.
        """
        if self.seed is None or not self.seed.is_significant or self.seed.alike >= _ENOUGH:
            return False
        like_pool = self.seed_to_pool is not None and not self.seed_to_pool.is_significant
        return not (self.validation_is_biased and like_pool)

    @property
    def validation_is_biased(self) -> bool:
        """Whether the validation documents differ in kind from the unlabeled ones."""
        return self.validation is not None and self.validation.is_significant

    @property
    def seed_is_enriched(self) -> bool:
        """Whether the seed has many more documents with entities than validation."""
        if "seed" not in self.profiles:
            return False
        seed, validation = (self.profiles[split].with_entities for split in ("seed", "validation"))
        return (seed or 0) - (validation or 0) > _ENRICHED

    def lines(self) -> Iterator[str]:
        """Yield warnings about splits that do not represent the others, a line each."""
        yield from self.seed_lines()
        if self.validation and self.validation_is_biased:
            yield (
                "validation: its documents differ from the unlabeled ones: "
                f"{self._words(self.validation, 'validation', 'unlabeled')}. The scores and "
                "proportions of validation may not hold for the unlabeled notes; annotate "
                "documents drawn from them at random"
            )

    def seed_lines(self) -> Iterator[str]:
        """Yield the warnings about the seed."""
        if self.seed and self.seed_is_biased:
            yield (
                "seed: its documents differ from the validation documents: "
                f"{self._words(self.seed, 'seed', 'validation')}. Self-training "
                "reaches a higher F1 if 100 unlabeled documents drawn at random are annotated as "
                "well"
            )
        if self.seed_is_enriched:
            shares = [self.profiles[split].with_entities or 0 for split in ("seed", "validation")]
            yield (
                f"seed: {percent(shares[0])} of its documents have entities, and "
                f"{percent(shares[1])} of validation: a model of such a seed finds too many "
                "entities. Documents without entities cost little to annotate, and teach it where "
                "there are none"
            )

    def _words(self, separated: Separation, first: str, second: str) -> str:
        """Describe a separation: the AUC, and the beginning that the first has most in excess."""
        left, right = (self.profiles[split].beginnings for split in (first, second))
        name = max(sorted(left), key=lambda name: left[name] - right.get(name, 0), default="")
        return (
            f"given a document of each, a classifier tells which is from {first} in "
            f"{percent(separated.auc)} of cases (chance is 50 %); {percent(left.get(name, 0))} of "
            f"{first} and {percent(right.get(name, 0))} of {second} begin with words of the shape "
            f'"{name}"'
        )


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share as a percentage with a number of decimals; None as an empty string."""
    return "" if share is None else f"{100 * share:.{digits}f} %"


def compare(samples: Mapping[str, Batch]) -> Representativeness:
    """Compare samples of the splits of a run.

    Parameters
    ----------
    samples : mapping of str to Batch
        Tagged documents of ``"seed"`` and ``"validation"``, and documents of ``"unlabeled"``.
        Missing splits are not compared.
    """

    def separated(first: str, second: str, *, by_entities: bool = False) -> Separation | None:
        if first not in samples or second not in samples:
            return None
        return separation(samples[first], samples[second], by_entities=by_entities)

    to_validation = separated("seed", "validation", by_entities=True)
    significant = to_validation is not None and to_validation.is_significant
    return Representativeness(
        profiles={name: profile(batch) for name, batch in samples.items()},
        seed=to_validation,
        seed_to_pool=separated("seed", "unlabeled") if significant else None,
        validation=separated("validation", "unlabeled"),
    )


@dataclass(frozen=True, slots=True)
class Separation:
    """How well a classifier tells the documents of two samples apart.

    Parameters
    ----------
    auc : float
        The probability that it ranks a document of the first sample before one of the second.
    standard_error : float
        The standard error of the AUC if both are samples of the same documents.
    alike : float
        The estimated number of documents of the first sample that resemble the second.
    """

    auc: float
    standard_error: float
    alike: float = 0.0

    @property
    def is_significant(self) -> bool:
        """Whether the samples are of different kinds, more than by chance."""
        return self.auc >= max(_LEAST_AUC, 0.5 + _STANDARD_ERRORS * self.standard_error)


def separation(first: Batch, second: Batch, *, by_entities: bool) -> Separation | None:
    """Measure how well the documents of two samples can be told apart.

    Parameters
    ----------
    first, second : Batch
        The samples. Documents without tokens are ignored.
    by_entities : bool
        Whether only documents with entities are compared with each other, and documents without
        entities with each other. The batches are tagged then. The AUC is the mean of both,
        weighted by the number of documents of `first`.

    Returns
    -------
    Separation or None
        None if the samples are too small to compare.
    """
    samples = [batch.take(np.flatnonzero(batch.lengths > 0)) for batch in (first, second)]
    both = concatenate(samples)
    is_first = np.arange(len(both)) < len(samples[0])
    strata = has_entities(both) if by_entities else np.zeros(len(both), bool)
    measured = []
    for stratum in (False, True):
        rows = np.flatnonzero(strata == stratum)
        if part := _auc(both.take(rows), is_first[rows]):
            measured.append((part.auc, part.standard_error, part.alike, is_first[rows].sum()))
    if not measured:
        return None
    aucs, errors, alike, numbers = np.array(measured).T
    shares = numbers / numbers.sum()
    error = np.sqrt(shares**2 @ errors**2)
    return Separation(float(shares @ aucs), float(error), float(alike.sum()))


def has_entities(batch: Batch) -> npt.NDArray[np.bool_]:
    """Return which documents of a tagged batch have an entity, shape (D,)."""
    return count_by_row(batch.tags > 0, batch.document_offsets) > 0


def _auc(batch: Batch, is_first: npt.NDArray[np.bool_]) -> Separation | None:
    """Cross-validate a logistic regression; no patient is both trained on and held out."""
    units = number_patients(batch.groups, batch.ids)
    # Documents of a patient are alike: the standard error counts patients.
    sizes = [len(np.unique(units[is_first == side])) for side in (True, False)]
    if min(sizes) < _LEAST_UNITS:
        return None
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow to import
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 - the same
    from sklearn.model_selection import StratifiedGroupKFold  # noqa: PLC0415 - the same

    features = _features(batch)
    scores = np.zeros(len(batch))
    folds = StratifiedGroupKFold(_FOLDS, shuffle=True, random_state=0)
    for train, held_out in folds.split(features, is_first, units):
        if len(np.unique(is_first[train])) > 1:
            model = LogisticRegression(
                C=0.1, class_weight="balanced", max_iter=200, solver="liblinear"
            )
            model.fit(features[train], is_first[train])
            scores[held_out] = model.decision_function(features[held_out])
    left, right = sizes
    error = np.sqrt((left + right + 1) / (12 * left * right))
    auc = float(roc_auc_score(is_first, scores))
    return Separation(auc, float(error), _alike(scores[is_first], scores[~is_first]))


def _alike(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> float:
    """Estimate the number of documents of the first sample that resemble the second."""
    # A quarter of these score below the first quartile of the second sample: mixture proportion
    # estimation at one threshold (Blanchard, Lee and Scott, "Semi-supervised novelty detection",
    # JMLR 2010).
    below = first < np.quantile(second, _QUANTILE)
    return float(min(below.sum() / _QUANTILE, len(first)))


def _features(batch: Batch) -> Any:
    """Build a sparse matrix of word types, first two words, shapes and length, shape (D, F)."""
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415 - slow to import

    forms = np.array([*map(plain_form, batch.vocabulary), ""], object)
    shapes = np.array([*map(short_shape, batch.vocabulary), ""], object)
    lengths = np.minimum(np.log2(batch.lengths + 1).astype(np.int64), _LONGEST)

    def features(document: int) -> Iterator[tuple[str, object]]:
        words = batch.word_ids[slice(*batch.document_offsets[document : document + 2])]
        yield from (("word", form) for form in forms[words])
        for place, word in enumerate(words[:2]):
            yield f"form {place}", forms[word]
            yield f"shape {place}", shapes[word]
        yield "length", lengths[document]

    return CountVectorizer(analyzer=features, binary=True).fit_transform(range(len(batch)))


def plain_form(word: str) -> str:
    """Return a word in lower case, with all digits as 0."""
    return _DIGITS.sub("0", word.lower())


def short_shape(word: str) -> str:
    """Return the shape of a word, without repetitions: ``Xx0`` for ``Sala12``."""
    return _REPEATED.sub(r"\1", "".join(map(_shape_of, word)))


def _shape_of(character: str) -> str:
    if character.isalpha():
        return "X" if character.isupper() else "x"
    if character.isdigit():
        return "0"
    return character if character in string.punctuation else "*"

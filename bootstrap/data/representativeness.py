"""How well the splits of a run represent each other.

A seed is compared with validation separately among documents with and without entities, so that a
seed that is only enriched with entities is not taken for one of another kind. Validation is
compared with the unlabeled documents as a whole, which needs no predicted tags of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from bootstrap.data.predicted_shares import token_shares
from bootstrap.data.separation import Separation, has_entities, separation, short_shape
from corpus.batch import Batch
from corpus.tags import classes_of, find_entities

#: A seed is enriched if its share of documents with entities exceeds that of validation by this.
_ENRICHED = 0.15
#: A seed is not biased if it has at least this number of documents like those of validation.
_ENOUGH = 50


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
    begun = Counter(_beginnings(batch))
    beginnings = {name: count / number for name, count in begun.items()}
    if not batch.labels:
        return Profile(length, beginnings)
    names = classes_of(batch.labels)
    found = find_entities(batch.tags, batch.document_offsets, batch.labels)
    counts = np.bincount(found.classes, minlength=len(names))
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
    for first, last in zip(
        batch.document_offsets[:-1].tolist(), batch.document_offsets[1:].tolist(), strict=True
    ):
        if last > first:
            words = batch.word_ids[first : min(first + 2, last)].tolist()
            yield " ".join(shapes[word] for word in words)


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
        """Whether the documents of the seed are of another kind than those they stand for.

        A seed with `_ENOUGH` documents like those of validation is not biased, whatever else it
        contains. Where validation differs from the unlabeled documents, neither is a seed that does
        not.
        """
        if self.seed is None or not self.seed.is_significant or self.seed.alike >= _ENOUGH:
            return False
        like_pool = self.seed_to_pool is not None and not self.seed_to_pool.is_significant
        return not (self.validation_is_biased and like_pool)

    @property
    def validation_is_biased(self) -> bool:
        """Whether the validation documents are of another kind than the unlabeled ones."""
        return self.validation is not None and self.validation.is_significant

    @property
    def seed_is_enriched(self) -> bool:
        """Whether the seed has many more documents with entities than validation."""
        if "seed" not in self.profiles:
            return False
        seed, validation = (self.profiles[split].with_entities for split in ("seed", "validation"))
        return (seed or 0) - (validation or 0) > _ENRICHED

    def beginning(self, first: str, second: str) -> str:
        """Return the beginning that is most over-represented in the first of two splits."""
        left, right = (self.profiles[split].beginnings for split in (first, second))
        return max(sorted(left), key=lambda name: left[name] - right.get(name, 0), default="")

    def lines(self) -> Iterator[str]:
        """Yield warnings about splits that do not represent the others, a line each."""
        yield from self.seed_lines()
        if self.validation and self.validation_is_biased:
            yield (
                "validation: its documents are of another kind than the unlabeled ones: "
                f"{self._words(self.validation, 'validation', 'unlabeled')}. The scores and "
                "proportions of validation may not hold for the unlabeled notes; annotate "
                "documents drawn from them at random"
            )

    def seed_lines(self) -> Iterator[str]:
        """Yield the warnings about the seed."""
        if self.seed and self.seed_is_biased:
            yield (
                "seed: its documents are of another kind than those of validation: "
                f"{self._words(self.seed, 'seed', 'validation')}. Self-training "
                "reaches a higher F1 if 100 unlabeled documents drawn at random are annotated as "
                "well"
            )
        elif self.seed_is_enriched:
            shares = [self.profiles[split].with_entities or 0 for split in ("seed", "validation")]
            yield (
                f"seed: {percent(shares[0])} of its documents have entities, and "
                f"{percent(shares[1])} of validation: a model of such a seed tends to find too "
                "many entities"
            )

    def _words(self, found: Separation, first: str, second: str) -> str:
        """Describe a separation: the AUC, and the beginning that differs most."""
        name = self.beginning(first, second)
        left, right = (self.profiles[each].beginnings.get(name, 0) for each in (first, second))
        return (
            f"of one document of each, a classifier knows which is of {first} in "
            f"{percent(found.auc)} of cases (chance is 50 %); {percent(left)} of {first} and "
            f'{percent(right)} of {second} begin with words of the shape "{name}"'
        )


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share as a percentage with so many decimals; None as an empty string."""
    return "" if share is None else f"{100 * share:.{digits}f} %"


def compare(samples: Mapping[str, Batch]) -> Representativeness:
    """Compare samples of the splits of a run.

    Parameters
    ----------
    samples : mapping of str to Batch
        Documents of ``"seed"`` and ``"validation"``, tagged, and of ``"unlabeled"``; those that
        are missing are not compared.

    Returns
    -------
    Representativeness
    """
    seed, validation, pool = (samples.get(name) for name in ("seed", "validation", "unlabeled"))

    def separated(
        first: Batch | None, second: Batch | None, by_entities: bool = False
    ) -> Separation | None:
        if first is None or second is None:
            return None
        return separation(first, second, by_entities=by_entities)

    to_validation = separated(seed, validation, by_entities=True)
    significant = to_validation is not None and to_validation.is_significant
    return Representativeness(
        profiles={name: profile(batch) for name, batch in samples.items()},
        seed=to_validation,
        seed_to_pool=separated(seed, pool) if significant else None,
        validation=separated(validation, pool),
    )

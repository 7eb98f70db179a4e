"""What more annotated documents would bring: a learning curve of the seed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from bootstrap.config.configuration import Configuration
from bootstrap.data.representativeness import percent
from bootstrap.data.splits import Notes
from bootstrap.execution.parallel_tagger import ReportStage
from bootstrap.runs.embeddings import embeddings_of_notes
from bootstrap.runs.folder import Run
from bootstrap.self_training.state import Views
from corpus.errors import InputError, number_of
from corpus.evaluation.error_analysis import MISSED, entity_errors
from corpus.evaluation.scoring import GoldBatch
from taggers import make_tagger

#: The shares of the seed that are trained on.
SHARES = (0.25, 0.5, 1.0)

# Part of the seed of the random generator; every stage has a different one.
_STAGE = 5

#: A curve is extrapolated to at most so many times the seed.
_FARTHEST = 10


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """The validation entities that models of parts of the seed miss.

    Parameters
    ----------
    documents : tuple of int
        The number of documents of each part.
    missed : tuple of int
        The number of entities that no predicted entity overlaps.
    entities : int
        The number of all entities.
    """

    documents: tuple[int, ...]
    missed: tuple[int, ...]
    entities: int

    @classmethod
    def trained(
        cls, run: Run, configuration: Configuration, notes: Notes, report: ReportStage
    ) -> Self:
        """Train the tagger of a run on nested random parts of its seed, without self-training.

        It has the embeddings of the run. Nothing is written.

        Raises
        ------
        InputError
            If the seed has too few documents.
        """
        seed, validation = notes.seed.batch, notes.validation
        if len(seed) < 1 / SHARES[0]:
            raise InputError(
                f"{run.folder}: the seed has {number_of(len(seed), 'document')}, which cannot be "
                "divided for a learning curve"
            )
        gold = GoldBatch.from_documents(validation.documents, validation.batch)
        section, random_state = configuration.tagger, configuration.loop.random_state
        embeddings = partial(
            embeddings_of_notes, run.embeddings_folder, notes, random_state, jobs=1, report=report
        )
        lists = run.list_model_folder if run.list_model_folder.is_dir() else None
        options = section.options.with_embeddings(embeddings).with_list_model(lambda: lists)
        order = np.random.default_rng([random_state, _STAGE]).permutation(len(seed))
        sizes = [round(share * len(seed)) for share in SHARES]
        missed = []
        for number, size in enumerate(sizes, start=1):
            report(f"training on {size:,} documents", number, len(sizes))
            part = seed.take(np.sort(order[:size]))
            rng = np.random.default_rng([random_state, 0])
            tagger = make_tagger(section.kind, options).fit(part, validation.batch, rng=rng)
            tagging = Views(tagger).tag(validation.batch)
            errors = entity_errors(gold, validation.batch.with_tags(tagging.tags, tagging.labels))
            missed.append(sum(error.kind == MISSED for error in errors))
        return cls(tuple(sizes), tuple(missed), len(gold.entities.rows))

    @property
    def to_halve(self) -> int | None:
        """The number of further documents that halve what is missed; None if there are too many.

        The share of missed entities is a power of the number of documents (Hestness et al., "Deep
        Learning Scaling is Predictable, Empirically", 2017), fitted by least squares.
        """
        shares = (np.array(self.missed) + 0.5) / (self.entities + 1)  # of none, there is no log
        exponent = -float(np.polyfit(np.log(self.documents), np.log(shares), 1)[0])
        if exponent < math.log(2) / math.log(1 + _FARTHEST):
            return None
        return round(self.documents[-1] * (2 ** (1 / exponent) - 1))

    def lines(self) -> Iterator[str]:
        """Describe the curve and its extrapolation."""
        points = ", ".join(
            f"{percent(missed / max(self.entities, 1), 1)} with {size:,}"
            for size, missed in zip(self.documents, self.missed, strict=True)
        )
        yield f"Of the validation entities, models of a part of the seed alone miss: {points}."
        if self.to_halve is None:
            yield (
                f"More documents like those of the seed would hardly help: {_FARTHEST} times as "
                "many would not halve this. Annotate others, drawn at random."
            )
        else:
            yield (
                f"Annotate about {self.to_halve:,} more documents like those of the seed to halve "
                "this."
            )

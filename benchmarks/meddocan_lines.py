"""Lines of MEDDOCAN as documents, seeds sampled from them, and the scores of taggers on them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bootstrap.config.presets import PAPER, PRESETS, with_preset
from corpus.batch import make_batch
from corpus.document import Document
from corpus.errors import Problems
from corpus.evaluation.measures import Scores
from corpus.evaluation.scoring import GoldBatch, score_batches
from corpus.formats import read
from corpus.units import Unit, split_documents
from taggers.base import Tagger
from taggers.options import TaggerOptions

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "meddocan"

PERSON = dict.fromkeys(("NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO"), "PERSON")
MERGED = {
    **PERSON,
    **dict.fromkeys(
        ("TERRITORIO", "CALLE", "HOSPITAL", "PAIS", "INSTITUCION", "CENTRO_SALUD"), "LOCATION"
    ),
}

#: The type of the options of a tagger.
OptionsT = TypeVar("OptionsT", bound=TaggerOptions)

HEADER = re.compile(r"\s*[A-ZÁÉÍÓÚÑ]\w*:")
ANY_HEADER = re.compile(r"\s*[A-ZÁÉÍÓÚÑ][^:.]{0,40}:")


def plain(options: type[OptionsT], **values: Any) -> OptionsT:
    """Return options without lists and embeddings, as in the paper, with some replaced."""
    return options(**with_preset("tagger", values, PRESETS[PAPER], options))


def lines_of(split: str, classes: dict[str, str] | None) -> list[Document]:
    """Read the lines of a split."""
    return units_of(split, classes, "line")


def units_of(split: str, classes: dict[str, str] | None, unit: Unit) -> list[Document]:
    """Read the units of a split: whole notes, lines or sentences."""
    documents = read(DATA / split, problems=Problems())
    return list(split_documents((d.with_classes(classes) for d in documents), unit, Problems()))


def small_seed(lines: Sequence[Document], rng: np.random.Generator) -> np.ndarray:
    """Sample 331 lines, 80 % of them with entities (paper 003, table 4.1)."""
    return _sampled(lines, 265, 66, rng)


def _sampled(
    lines: Sequence[Document], positive: int, negative: int, rng: np.random.Generator
) -> np.ndarray:
    """Sample numbers of lines with and without entities."""
    has = np.array([bool(line.spans) for line in lines])
    with_entities = rng.choice(np.flatnonzero(has), positive, replace=False)
    return np.concatenate(
        [with_entities, rng.choice(np.flatnonzero(~has), negative, replace=False)]
    )


def biased_seed(lines: Sequence[Document], rng: np.random.Generator) -> np.ndarray:
    """Sample 600 lines that begin with a header of one word such as ``Nombre:``."""
    return _headed(lines, HEADER, rng)


def headers_seed(lines: Sequence[Document], rng: np.random.Generator) -> np.ndarray:
    """Sample 600 lines that begin with a header of any words."""
    return _headed(lines, ANY_HEADER, rng)


def _headed(
    lines: Sequence[Document], header: re.Pattern[str], rng: np.random.Generator
) -> np.ndarray:
    headed = np.array([header.match(line.text) is not None for line in lines])
    return rng.choice(np.flatnonzero(headed), 600, replace=False)


def hundred_seed(lines: Sequence[Document], rng: np.random.Generator) -> np.ndarray:
    """Sample 100 lines, 80 of them with entities."""
    return _sampled(lines, 80, 20, rng)


def biased_and_random_seed(lines: Sequence[Document], rng: np.random.Generator) -> np.ndarray:
    """Sample the biased seed and 100 other lines."""
    biased = biased_seed(lines, rng)
    others = np.setdiff1d(np.arange(len(lines)), biased)
    return np.concatenate([biased, rng.choice(others, 100, replace=False)])


SEEDS = {
    "small": small_seed,
    "biased": biased_seed,
    "hundred": hundred_seed,
    "biased-hundred": biased_and_random_seed,
}


def scores_of(tagger: Tagger, lines: Sequence[Document]) -> Scores:
    """Score a tagger on annotated lines."""
    gold = GoldBatch.from_documents(lines, make_batch(lines, labelled=True))
    tagging = tagger.tag(gold.batch)
    return score_batches(gold, gold.batch.with_tags(tagging.tags, tagging.labels))

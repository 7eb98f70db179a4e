"""Seeds drawn at random from annotated documents, by size and rule."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bootstrap.config.errors import ConfigurationError
from bootstrap.config.experiment_options import SeedOptions
from corpus.document import Document

Indices = npt.NDArray[np.int64]


def draw_seed(
    documents: Sequence[Document], options: SeedOptions, rng: np.random.Generator
) -> Indices:
    """Draw the documents of a seed.

    Parameters
    ----------
    documents : sequence of Document
        The annotated documents, with the classes of the runs.
    options : SeedOptions
        The size and the rules.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    ndarray of int64, shape (n,)
        The indices of the documents, each once.

    Raises
    ------
    ConfigurationError
        If there are too few documents that follow the rules.
    """
    expression = re.compile(options.pattern)
    matching = np.array([expression.match(each.text) is not None for each in documents], bool)
    has_entities = np.array([bool(each.spans) for each in documents], bool)
    if options.with_entities:
        number = round(options.documents * options.with_entities)
        drawn = [
            _drawn(matching & has_entities, number, "with entities", options, rng),
            _drawn(
                matching & ~has_entities,
                options.documents - number,
                "without entities",
                options,
                rng,
            ),
        ]
    else:
        drawn = [_drawn(matching, options.documents, "", options, rng)]
    left = np.ones(len(documents), bool)
    left[np.concatenate(drawn)] = False
    return np.concatenate([*drawn, _drawn(left, options.others, "beside them", options, rng)])


def _drawn(
    candidates: npt.NDArray[np.bool_],
    number: int,
    what: str,
    options: SeedOptions,
    rng: np.random.Generator,
) -> Indices:
    """Draw a number of candidates without replacement."""
    indices = np.flatnonzero(candidates)
    if number > len(indices):
        of = f" {what}" if what else ""
        rule = f" that match pattern = {options.pattern!r}" if options.pattern else ""
        raise ConfigurationError(
            f"[seed] needs {number:,} documents{of}{rule}; there are {len(indices):,} of "
            f"{len(candidates):,} in [data] seed, without those that are held out"
        )
    return rng.choice(indices, number, replace=False)

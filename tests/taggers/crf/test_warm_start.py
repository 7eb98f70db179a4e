"""Training that begins with the weights of before, on real lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from corpus.batch import Batch, make_batch
from corpus.formats import read
from corpus.problems import Problems
from corpus.units import split_documents
from taggers import CRFOptions, CRFTagger

OPTIONS = CRFOptions(max_iterations=1000)


@pytest.fixture(scope="module")
def lines(meddocan: Path) -> Batch:
    documents = split_documents(read(meddocan / "train", problems=Problems()), "line", Problems())
    batch = make_batch(documents, labelled=True)
    return batch.take(np.random.default_rng(0).permutation(len(batch))[:1100])


def trained(batch: Batch, start: CRFTagger | None = None) -> CRFTagger:
    return CRFTagger(OPTIONS).fit(batch, warm_start=start, rng=np.random.default_rng(0))


@pytest.mark.slow
def test_after_more_lines_it_ends_as_low_in_less_than_half_of_the_steps(lines: Batch) -> None:
    before = trained(lines.slice(0, 1000))
    cold, warm = trained(lines).training, trained(lines, before).training
    assert cold is not None and warm is not None
    assert cold.converged and warm.converged
    assert warm.loss < 1.001 * cold.loss
    assert warm.iterations < cold.iterations / 2


@pytest.mark.slow
def test_from_its_own_end_training_ends_soon_and_tags_alike(lines: Batch) -> None:
    first = trained(lines)
    again = trained(lines, first)
    assert first.training is not None and again.training is not None
    assert again.training.iterations <= 11  # the improvement is looked at over ten steps
    assert again.training.loss <= first.training.loss * 1.0001
    assert (again.tag(lines).tags == first.tag(lines).tags).mean() > 0.999

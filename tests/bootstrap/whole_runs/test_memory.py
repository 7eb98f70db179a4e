"""Memory does not depend on how many unlabeled notes there are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from corpus.counts import WordCounts
from corpus.document import Document
from corpus.formats import write
from tests.measuring import measured

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")

#: A loop over all notes with a tagger that learns and finds nothing, and is sure of a few.
LOOP = """
import sys
import numpy as np
from pathlib import Path
from bootstrap.config.configuration import load_configuration
from bootstrap.selection.strategies import strategy_for
from bootstrap.self_training.candidates import Candidates
from bootstrap.self_training.loop import Ended, self_train
from bootstrap.self_training.stopping import Limits
from bootstrap.self_training.training import Trainer
from corpus.evaluation.scoring import GoldBatch
from bootstrap.data.preparation import prepare
from taggers import Tagging

class Calm:
    kind = "calm"
    labels, training = ("O", "B-PERSON", "I-PERSON"), None
    def fit(self, train, validation=None, *, warm_start=None, rng, progress=None):
        return self
    def tag(self, batch, *, measure="probability", detail="document"):
        confidence = np.where(np.arange(len(batch)) < 5, 0.9, 0.1)
        return Tagging(np.zeros(batch.n_tokens, np.int16), self.labels, confidence)

options = load_configuration(Path(sys.argv[1]), sys.argv[2:])
notes, _ = prepare(options)
tagged = 0
loop, gold = options.loop, GoldBatch.from_tags(notes.validation.batch)
candidates = Candidates([strategy_for(options.select, None)], loop)
trainer = Trainer(lambda iteration: Calm(), gold, loop)
seed = notes.seed.batch
for step in self_train(lambda _: seed, notes.unlabeled, candidates, trainer, stop=Limits(loop)):
    if not isinstance(step, Ended) and step.labelling:
        tagged += sum(map(len, step.labelling.confidence))
print(step.reason, tagged)
"""

#: The command, for one process that does it all.
TAG = """
import sys
from bootstrap.cli.main import main
assert main(["tag", *sys.argv[1:], "--jobs", "1"]) == 0
"""


@pytest.fixture(scope="module")
def pools(tmp_path_factory, make_project, notes) -> dict[int, Path]:
    """A project with 50,000 unlabeled notes, and their first 10,000.

    They are long, but of few words, and the same words: what they weigh is their text.
    """
    folder = make_project(tmp_path_factory.mktemp("pools"), unlabeled=0)
    some = [
        Document(f"u{i}", f"{note.text}{' ' * 2000}{i % 500}")
        for i, note in enumerate(notes(5000, 9) * 10)
    ]
    paths = {number: folder / f"pool{number}.parquet" for number in (10_000, 50_000)}
    for number, path in paths.items():
        write(some[:number], path)
    return paths


@pytest.mark.slow
def test_the_loop_holds_a_batch_at_a_time(pools: dict[int, Path]) -> None:
    """The texts of 40,000 more notes are 80 MB."""
    peaks = {}
    for number, path in pools.items():
        settings = [f"data.unlabeled={path}", "loop.batch=1000", "loop.iterations=1000"]
        settings += ["loop.patience=1000", "select.confidence=0.5", "select.proportions=false"]
        said, peaks[number] = measured(LOOP, path.with_name("config.toml"), *settings)
        assert said == f"exhausted {number}"
    assert peaks[50_000] - peaks[10_000] < 60, peaks


@pytest.mark.slow
def test_tagging_holds_a_bounded_number_at_a_time(pools, finished, tmp_path) -> None:
    """As few here as it takes to tell: the texts of the others alone are 80 MB."""
    code = f"from bootstrap import tagging\ntagging._ROWS = 2000\n{TAG}"
    peaks = {
        number: measured(code, finished, path, tmp_path / f"{number}.parquet")[1]
        for number, path in pools.items()
    }
    assert peaks[50_000] - peaks[10_000] < 60, peaks


COUNT = """
import sys
from bootstrap.cli.main import main
assert main(["count", *sys.argv[1:]]) == 0
"""


@pytest.mark.slow
def test_counting_holds_each_word_in_few_bytes(tmp_path: Path) -> None:
    """A dictionary of strings would take about 250 bytes for each."""
    peaks = {}
    for words in (60_000, 1_200_000):
        path, target = tmp_path / f"{words}.jsonl", tmp_path / f"{words}.parquet"
        texts = (
            " ".join(f"{number:07}" for number in range(begin, begin + 500))
            for begin in range(0, words, 500)
        )
        write((Document(str(number), text) for number, text in enumerate(texts)), path)
        _, peaks[words] = measured(COUNT, path, "-o", target)
        assert len(WordCounts.load(target)) == words
    assert (peaks[1_200_000] - peaks[60_000]) * 2**20 / (1_200_000 - 60_000) < 170, peaks

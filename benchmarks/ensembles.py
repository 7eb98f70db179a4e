"""An ensemble and its members, trained on all of MEDDOCAN's training split and scored on dev.

The members are a CRF and several networks from different random states. Two networks train at the
same time. All members are scored, each network with the CRF, and the ensemble of all, alone and
after the patterns that train shows to be right, as in a run.

    python benchmarks/ensembles.py
    python benchmarks/ensembles.py --unit line          # documents are lines, not whole notes
    python benchmarks/ensembles.py --classes merged --networks 1
    python benchmarks/ensembles.py --text train         # embeddings without the text of dev
    python benchmarks/ensembles.py --set units=128      # options of the networks
"""

from __future__ import annotations

import argparse
import tempfile
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from meddocan_lines import MERGED, lines_of, scores_of, units_of

from bootstrap.config.configuration import Configuration, parse_configuration
from bootstrap.config.options import TrustedPatternOptions
from bootstrap.config.overrides import Source
from bootstrap.data.pattern_trust import trusted_patterns
from bootstrap.execution.processes import default_jobs
from bootstrap.runs.embeddings import trained_embeddings
from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.formats.batches import batch_of
from corpus.units import UNITS
from taggers import make_tagger
from taggers.base import Tagger
from taggers.ensemble.tagger import EnsembleTagger
from taggers.patterns.first import PatternsFirst

SIDE_BY_SIDE = 2


def trained(options: Configuration, train: Batch, state: int) -> tuple[Tagger, float]:
    """Return a trained tagger, and the minutes that it took."""
    start = time.monotonic()
    tagger = make_tagger(options.tagger.kind, options.tagger.options)
    tagger.fit(train, rng=np.random.default_rng(state))
    return tagger, (time.monotonic() - start) / 60


def ensemble(members: Sequence[Tagger]) -> Tagger:
    """Return an ensemble of trained taggers."""
    found = EnsembleTagger()
    found.members, found.labels = tuple(members), members[0].labels
    return found


def print_scores(
    name: str, tagger: Tagger, gold: Sequence[Document], minutes: float | None = None
) -> None:
    """Print the scores of a tagger, and its time of training."""
    scores = scores_of(tagger, gold)
    counts = scores.counts()
    low, high = scores.interval("ner", np.random.default_rng(0))
    took = "" if minutes is None else f"; trained in {minutes:.1f} minutes"
    print(
        f"{name:26} P {counts.precision:.4f} R {counts.recall:.4f} F1 {counts.f1:.4f} "
        f"({low:.4f}-{high:.4f}){took}",
        flush=True,
    )


def configuration(kind: str, folder: Path, text: Sequence[str], **options: object) -> Configuration:
    """Return the configuration of a tagger with the preset "auto" and embeddings."""
    tables = {"tagger": {"kind": kind, **options}}
    found = parse_configuration(tables, Source("benchmark", Path()))
    embeddings = trained_embeddings(
        folder,
        lambda: [batch_of(lines_of(split, {})).column("text") for split in text],
        0,
        jobs=default_jobs(),
        report=lambda stage, done, total: None,
    )
    return parse_configuration(
        {
            "tagger": found.tagger.options.with_embeddings(lambda: embeddings).as_table()
            | {"kind": kind}
        },
        Source("benchmark", Path()),
    )


def main() -> None:
    """Train the members and print all scores."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--classes", choices=("all", "merged"), default="all")
    parser.add_argument("--unit", choices=UNITS, default="document")
    parser.add_argument("--networks", type=int, default=3)
    parser.add_argument("--text", nargs="+", default=["train", "dev"], help="splits of embeddings")
    parser.add_argument("--set", dest="overrides", action="append", default=[])
    arguments = parser.parse_args()
    settings = tomllib.loads("\n".join(arguments.overrides))
    classes = MERGED if arguments.classes == "merged" else None
    train, gold = (units_of(split, classes, arguments.unit) for split in ("train", "dev"))
    batch = make_batch(train, labelled=True)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "embeddings"
        crf_options = configuration("crf", made, arguments.text)
        options = configuration("bilstm-crf", made, arguments.text, **settings)
        crf, minutes = trained(crf_options, batch, 0)
        print_scores("CRF", crf, gold, minutes)
        networks = []
        with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
            trainings = [
                threads.submit(trained, options, batch, state)
                for state in range(arguments.networks)
            ]
            for state, training in enumerate(trainings):
                network, minutes = training.result()
                networks.append(network)
                print_scores(f"network {state}", network, gold, minutes)
                print_scores(f"CRF and network {state}", ensemble([crf, network]), gold)
        if len(networks) > 1:
            print_scores("networks", ensemble(networks), gold)
            everything = ensemble([crf, *networks])
            print_scores("CRF and networks", everything, gold)
            patterns = trusted_patterns(TrustedPatternOptions(), batch, batch.slice(0, 0)).patterns
            if patterns:
                print_scores("after patterns", PatternsFirst(everything, patterns), gold)


if __name__ == "__main__":
    main()

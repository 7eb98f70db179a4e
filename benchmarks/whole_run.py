"""A whole self-training run with both trainers of the CRF: seconds per stage and peak memory.

Synthetic notes, 20 iterations of 50,000, at most 20,000 of each selected. Training by CRFsuite is
timed in three iterations, and extrapolated in proportion to the documents of the training set. The
other stages are the same for both.

    python benchmarks/whole_run.py                      # one core: more than half an hour
    python benchmarks/whole_run.py --iterations 5 --batch 10000 --most 4000
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

MEASURED = 3  # iterations of python-crfsuite
STAGES = ("read", "tag", "select", "train", "validate")

CONFIGURATION = """
[data]
seed = "synthetic:300?random_state=0&part=seed"
validation = "synthetic:4000?random_state=1"
unlabeled = "synthetic:{notes}?random_state=3"

[tagger]
trainer = "{trainer}"

[loop]
preset = "paper"
iterations = {iterations}
batch = {batch}
patience = 1000

[select]
confidence = 0.5
max_selected = {most}
"""

#: Runs the command line and prints the peak memory of its largest processes.
RUN = """
import json, resource, sys
from bootstrap.cli.main import main
code = main(["run", sys.argv[1], "--out", sys.argv[2], "--jobs", "1"])
kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
print(json.dumps([resource.getrusage(kind).ru_maxrss / 1e6 for kind in kinds]))
sys.exit(code)
"""


def run(trainer: str, options: argparse.Namespace, iterations: int) -> dict[str, Any]:
    """Train a tagger in a new process, and return its metrics and peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.toml"
        config.write_text(
            CONFIGURATION.format(
                trainer=trainer,
                notes=options.iterations * options.batch,
                iterations=iterations,
                batch=options.batch,
                most=options.most,
            )
        )
        out = Path(folder) / "run"
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        done = subprocess.run(
            [sys.executable, "-c", RUN, str(config), str(out)],
            check=True, capture_output=True, text=True, env={**os.environ, **one},
        )  # fmt: skip
        shown = subprocess.run(
            [str(Path(sys.executable).with_name("bootstrap")), "show", str(out), "--json"],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
    memory = json.loads(done.stdout.splitlines()[-1])
    return {"rows": json.loads(shown.stdout), "memory": memory}


def seconds(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Add up the seconds of each stage."""
    return {stage: sum(row.get(f"seconds_{stage}") or 0.0 for row in rows) for stage in STAGES}


def extrapolated(rows: list[dict[str, Any]], sizes: list[int]) -> float:
    """Extrapolate the seconds of training to training sets of these sizes."""
    measured = rows[1:]
    documents = sum(row["training_documents"] for row in measured)
    return sum(row["seconds_train"] for row in measured) * sum(sizes) / documents


def main() -> None:
    """Print a table of the durations and the memory of both trainers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--batch", type=int, default=50_000)
    parser.add_argument("--most", type=int, default=20_000)
    options = parser.parse_args()
    fast = run("wordtype", options, options.iterations)
    sizes = [row["training_documents"] for row in fast["rows"][1:]]
    slow = run("crfsuite", options, min(MEASURED, options.iterations))
    own = seconds(fast["rows"])
    other = {**own, "train": extrapolated(slow["rows"], sizes)}
    print(f"training sets of {sizes[0]:,} to {sizes[-1]:,} documents")
    print("| seconds | wordtype | crfsuite, extrapolated | ratio |\n|---|---|---|---|")
    own["all"], other["all"] = sum(own.values()), sum(other.values())
    for stage, own_seconds in own.items():
        ratio = other[stage] / max(own_seconds, 1e-9)
        print(f"| {stage} | {own_seconds:,.0f} | {other[stage]:,.0f} | {ratio:.1f} |")
    for name, found in (("wordtype", fast), ("crfsuite", slow)):
        print(f"{name}: {found['memory'][0]:.2f} GB in the run, {found['memory'][1]:.2f} GB in "
              f"training, F1 {[round(row['f1'], 3) for row in found['rows']]}")  # fmt: skip


if __name__ == "__main__":
    main()

"""The final models of an experiment beside the best ones: strict F1 on the test documents.

    bootstrap experiment docs/experiments/defaults.toml
    python benchmarks/final_models.py runs/defaults

A final model has learned from the validation documents, too; see `[loop] refit`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from bootstrap.runs.folder import Run


def main() -> None:
    """Print a row for each variant with final models: means, and the least gain of a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiment", type=Path)
    variants: dict[str, list[tuple[float, float]]] = {}
    for folder in sorted(parser.parse_args().experiment.glob("runs/*/*")):
        run = Run(folder)
        final = run.final.test_counts() if run.has_begun() else None
        if final and (best := run.test_counts(run.best_iteration())):
            variants.setdefault(folder.parent.name, []).append((best.total.f1, final.total.f1))
    print("| seed | runs | best model | final model | least difference |")
    print("|---|---|---|---|---|")
    for name, rows in variants.items():
        best, final = np.array(rows).T
        least = (final - best).min()
        print(f"| {name} | {len(rows)} | {best.mean():.3f} | {final.mean():.3f} | {least:+.3f} |")


if __name__ == "__main__":
    main()

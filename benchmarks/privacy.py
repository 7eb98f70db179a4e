"""Names of MEDDOCAN's training notes that a stranger confirms in exported models, and F1.

python benchmarks/privacy.py
python benchmarks/privacy.py lists
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from bootstrap.audit import audit
from bootstrap.export import export_model
from bootstrap.runs.runner import UNIT_FILE
from corpus.batch import make_batch
from corpus.corpora import read_corpus
from corpus.document import Document
from corpus.problems import Problems
from corpus.units import split_documents
from gazetteers.builtin import CENSUS
from taggers import CRFOptions, make_tagger
from taggers.pruning import Pruning

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "meddocan"
THRESHOLDS = (1, 2, 3, 5, 10)

#: The classes of MEDDOCAN that are names of people.
PEOPLE = ("NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO", "FAMILIARES_SUJETO_ASISTENCIA")


def notes_of(split: str) -> list[Document]:
    """Read the notes of a split."""
    return list(read_corpus(str(DATA / split), problems=Problems()))


def main() -> None:
    """Train on the lines of train, export with each threshold, and audit all models."""
    train, dev = notes_of("train"), notes_of("dev")
    lines = make_batch(split_documents(train, "line", Problems()), labelled=True)
    lists = sys.argv[1:] == ["lists"]
    options = CRFOptions(names=(CENSUS,)) if lists else CRFOptions()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        model.mkdir(mode=0o700)
        make_tagger("crf", options).fit(lines, rng=np.random.default_rng(0)).save(model)
        (model / UNIT_FILE).write_text(json.dumps({"unit": "line"}))
        targets, values = [model], []
        for least in THRESHOLDS:
            target = Path(folder) / f"{least}"
            found = export_model(model, target, pruning=Pruning.of(least), gold=[])
            values.append(found.contents[1]["feature values"])
            targets.append(target)
        report = audit(targets, [CENSUS], train, classes=PEOPLE, gold=dev)
    values.insert(0, found.contents[0]["feature values"])
    print(f"{report.documents:,} documents, {report.listed:,} names in the list")
    for (name, each), number in zip(report.models.items(), values, strict=True):
        groups = (each.names, each.rare, each.other, each.absent)
        print(
            f"{Path(name).name:6} {number:7,} values",
            *(f"{group.confirmed:,}/{group.total:,}" for group in groups),
            f"{each.documents} documents, F1 {each.f1:.4f};",
            *(f"{g.by_part['affixes'] / max(g.total, 1):.3f}" for g in groups),
        )


if __name__ == "__main__":
    main()

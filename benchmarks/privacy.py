"""Names of MEDDOCAN's training notes that an attacker confirms in exported models, and F1.

python benchmarks/privacy.py             # a CRF
python benchmarks/privacy.py names       # a CRF with names of the census as features
python benchmarks/privacy.py clusters    # a CRF with clusters of words of train and dev
python benchmarks/privacy.py network     # a BiLSTM-CRF with vectors of words of train and dev
python benchmarks/privacy.py lists       # the tagger of lists; F1 of people and places
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from meddocan_lines import DATA, MERGED, plain

from bootstrap.audit import audit
from bootstrap.cli.main import main as bootstrap
from bootstrap.export import export_model
from bootstrap.runs.loop_parts import UNIT_FILE
from corpus.batch import make_batch
from corpus.document import Document
from corpus.errors import Problems
from corpus.formats import read, write
from corpus.units import split_documents
from gazetteers.builtin import CENSUS
from taggers import CRFOptions, make_tagger
from taggers.dictionaries.dictionary_options import ListOptions
from taggers.embeddings.automatic import AUTO, KS, NORMALISATION, WINDOWS
from taggers.model_folder import add_to_model
from taggers.networks.network_options import BiLSTMCRFOptions
from taggers.options import TaggerOptions
from taggers.privacy.pruning import AFFIXES, Pruning

THRESHOLDS = (1, 2, 3, 5, 10)

#: The classes of MEDDOCAN that are names of people.
PEOPLE = ("NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO", "FAMILIARES_SUJETO_ASISTENCIA")


def notes_of(split: str) -> list[Document]:
    """Read the notes of a split."""
    return list(read(DATA / split, problems=Problems()))


def entries(contents: Mapping[str, int]) -> int:
    """Return the number of values that are removed: of a CRF, or the words of a tagger of lists."""
    parts = (
        "feature values",
        "words",
        "words of lists that occur in the notes",
        "words of the notes",
    )
    return sum(contents.get(part, 0) for part in parts)


#: The kind and the options of each tagger, and the classes of its gold notes; None for all.
TAGGERS: dict[str, tuple[str, TaggerOptions, dict[str, str] | None]] = {
    "crf": ("crf", plain(CRFOptions), None),
    "names": ("crf", plain(CRFOptions, names=(CENSUS,)), None),
    "clusters": ("crf", plain(CRFOptions, clusters=AUTO), None),
    "network": ("bilstm-crf", plain(BiLSTMCRFOptions, embeddings=AUTO), None),
    "lists": ("lists", ListOptions(names=(CENSUS,)), MERGED),
}


def trained_embeddings(notes: list[Document], folder: Path) -> Path:
    """Train embeddings and clusters on the texts of notes, as runs do."""
    write((Document(note.id, note.text) for note in notes), folder / "texts.jsonl")
    target = folder / "embeddings"
    options = ["--normalise", NORMALISATION, "--window", ",".join(map(str, WINDOWS))]
    options += ["--min-count", "2", "--dimension", "50"]
    train = ["embed", "train", str(folder / "texts.jsonl"), "-o", str(target), *options]
    cluster = ["cluster", str(target), "--k", ",".join(map(str, KS))]
    if bootstrap(train) or bootstrap(cluster):
        sys.exit(1)
    return target


def main() -> None:
    """Train on the lines of train, export with each threshold, and audit all models."""
    kind, options, classes = TAGGERS[sys.argv[1] if len(sys.argv) > 1 else "crf"]
    train, dev = notes_of("train"), notes_of("dev")
    lines = make_batch(split_documents(train, "line", Problems()), labelled=True)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        model.mkdir(mode=0o700)
        gold = [note.with_classes(classes) for note in dev]
        options = options.with_embeddings(lambda: trained_embeddings(train + dev, Path(folder)))
        make_tagger(kind, options).fit(lines, rng=np.random.default_rng(0)).save(model)
        add_to_model(model, {UNIT_FILE: json.dumps({"unit": "line"}).encode()})
        targets, values = [model], []
        for least in THRESHOLDS:
            target = Path(folder) / f"{least}"
            found = export_model(model, target, pruning=Pruning.from_choices(least), gold=[])
            values.append(entries(found.contents[1]))
            targets.append(target)
        report = audit(targets, [CENSUS], train, classes=PEOPLE, gold=gold)
    values.insert(0, entries(found.contents[0]))
    print(f"{report.documents:,} documents, {report.listed:,} names in the list")
    for (name, each), number in zip(report.models.items(), values, strict=True):
        groups = (each.names, each.rare, each.other, each.absent)
        print(
            f"{Path(name).name:6} {number:7,} entries",
            *(f"{group.confirmed:,}/{group.total:,}" for group in groups),
            f"{each.documents} documents, F1 {each.f1:.4f};",
            *(f"{g.by_part.get(AFFIXES, 0) / max(g.total, 1):.3f}" for g in groups),
        )


if __name__ == "__main__":
    main()

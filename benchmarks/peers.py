"""Other programs on the notes of MEDDOCAN's dev, by the scorer of `deidentify.py`.

Each program runs in an environment of its own, where this file needs nothing else, and writes the
spans that it finds. Then they are scored here:

    ENVIRONMENT/bin/python benchmarks/peers.py presidio spans.json   # pip install presidio-analyzer
    ENVIRONMENT/bin/python benchmarks/peers.py openmed spans.json    # pip install openmed
    ENVIRONMENT/bin/python benchmarks/peers.py spacy spans.json      # pip install spacy
    python benchmarks/peers.py score spans.json

`presidio` has the recognizers that it knows for Spanish, and a spaCy pipeline if one is named with
``--model``; without one, it finds no names and places. `openmed` has its rules for Spanish, the
sweep after its models, which cannot be installed from a package index. `spacy` trains spaCy's
recognizer on the notes of train, as DiSMed does (paper 004, "Networks"), which takes half an hour.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

NOTES = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "meddocan"
#: The epochs of spaCy's recognizer, and the dropout, which are those of spaCy's own examples.
EPOCHS, DROPOUT = 30, 0.5

#: The spans of a text: half-open offsets.
Find = Callable[[str], list[tuple[int, int]]]


def presidio(model: str) -> Find:
    """Return what finds spans by Presidio's recognizers for Spanish."""
    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    class Engine(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"es": spacy.load(model) if model else spacy.blank("es")}

    registry = RecognizerRegistry(supported_languages=["es"])
    registry.load_predefined_recognizers(languages=["es"], nlp_engine=Engine())
    analyzer = AnalyzerEngine(registry=registry, nlp_engine=Engine(), supported_languages=["es"])
    return lambda text: [(r.start, r.end) for r in analyzer.analyze(text, language="es")]


def openmed(model: str) -> Find:
    """Return what finds spans by OpenMed's rules for Spanish."""
    from openmed.core.safety_sweep import safety_sweep

    return lambda text: [(span.start, span.end) for span in safety_sweep(text, [], lang="es")]


def spacy(model: str) -> Find:
    """Return what finds spans by a recognizer that is trained on the notes of train."""
    import spacy
    from spacy.training import Example
    from spacy.util import compile_infix_regex, compile_suffix_regex, fix_random_seed, minibatch

    fix_random_seed(0)
    nlp = spacy.blank("es")
    # Its tokens join full stops to letters, and numbers to what precedes them: one annotation in
    # ten would begin or end within a token.
    nlp.tokenizer.rules = {}
    suffixes = compile_suffix_regex([*nlp.Defaults.suffixes, r"\."])
    nlp.tokenizer.suffix_search = suffixes.search
    nlp.tokenizer.infix_finditer = compile_infix_regex([*nlp.Defaults.infixes, "[-/:]"]).finditer
    nlp.add_pipe("ner")
    examples = [
        Example.from_dict(nlp.make_doc(text), {"entities": annotations(name)})
        for name, text in texts_of("train").items()
    ]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(EPOCHS):
        random.shuffle(examples)
        for batch in minibatch(examples, 8):
            nlp.update(batch, drop=DROPOUT, sgd=optimizer)
    return lambda text: [(entity.start_char, entity.end_char) for entity in nlp(text).ents]


def texts_of(split: str) -> dict[str, str]:
    """Return the texts of notes by their names."""
    files = sorted((NOTES / split).rglob("*.txt"))
    return {file.stem: file.read_bytes().decode("utf-8") for file in files}


def annotations(name: str) -> list[tuple[int, int, str]]:
    """Return the annotated spans of a note of train, without those in others."""
    lines = (NOTES / "train" / f"{name}.ann").read_text(encoding="utf-8").splitlines()
    fields = [line.split("\t")[1].split() for line in lines if line.startswith("T")]
    spans = sorted((int(start), -int(end), label) for label, start, end in fields)
    kept: list[tuple[int, int, str]] = []
    for start, end, label in spans:
        if not kept or start >= kept[-1][1]:
            kept.append((start, -end, label))
    return kept


def run(find: Find, path: Path) -> None:
    """Write the spans of all notes of dev, and the seconds that finding them took."""
    texts = texts_of("dev")
    find(next(iter(texts.values())))  # loads what it needs
    begin = time.process_time()
    spans = {name: find(text) for name, text in texts.items()}
    seconds = time.process_time() - begin
    path.write_text(json.dumps({"seconds": seconds, "spans": spans}))


def scored(path: Path) -> None:
    """Print what the spans of a file cover."""
    import numpy as np
    from deidentify import covered
    from meddocan_lines import units_of

    from anonymizers.policy import read_policy
    from anonymizers.spans import Spans
    from bootstrap.deidentification.recall import DIRECT
    from corpus.batch import make_batch
    from corpus.formats.batches import batch_of

    dev, written = units_of("dev", None, "document"), json.loads(path.read_text())
    rows = [(row, a, b) for row, note in enumerate(dev) for a, b in written["spans"][note.id]]
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    names = np.full(len(rows), "", object)
    gold = Spans.of_notes(batch_of(dev), "gold")
    is_covered = covered(dev, gold, Spans(*columns, names, names))
    policy = read_policy("placeholders")
    direct = np.array([policy.category(label) in DIRECT for label in gold.labels])
    leaking = len(np.unique(gold.rows[direct & ~is_covered]))
    batch = make_batch(dev, labelled=True)
    owners = np.repeat(np.arange(len(batch)), batch.lengths)
    inside = np.zeros(batch.n_tokens, bool)
    for row, start, end in rows:
        inside |= (owners == row) & (batch.starts < end) & (batch.ends > start)
    others = batch.tags == 0
    print("| mentions covered | other tokens | notes that leak | notes per second |")
    print("|---|---|---|---|")
    print(
        f"| {is_covered.mean():.3f} | {inside[others].mean():.2%} | {leaking} of {len(dev)} | "
        f"{len(dev) / written['seconds']:,.0f} |"
    )


def main() -> None:
    """Run a program, or score what it has written."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    programs = {"presidio": presidio, "openmed": openmed, "spacy": spacy}
    parser.add_argument("what", choices=(*programs, "score"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", default="", help="a spaCy pipeline")
    options = parser.parse_args()
    if options.what == "score":
        scored(options.file)
    else:
        run(programs[options.what](options.model), options.file)


if __name__ == "__main__":
    main()

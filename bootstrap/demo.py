"""The demonstration: self-training on synthetic notes, from a biased seed or a list of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice, tee
from pathlib import Path

from bootstrap.api import load
from bootstrap.config.configuration import load_configuration
from bootstrap.config.tagger_sections import SEED
from bootstrap.execution.parallel_tagger import ParallelTagger
from bootstrap.inference import read_unit_file, tag_documents
from corpus.document import Document
from corpus.errors import Problems
from corpus.evaluation.measures import Scores
from corpus.evaluation.scoring import score
from corpus.formats import read, write
from corpus.storage.atomic import create_folder, new_folder, write_atomically
from corpus.synthetic import synthetic_notes

#: Number of notes of the seed, and of validation and test each.
SEED_NOTES, EVALUATION_NOTES = 300, 4000
#: Number of unlabeled notes by initial model. With few known names, an iteration needs more notes.
UNLABELED_NOTES = {SEED: 12_000, "divergence": 60_000}

_CONFIGURATIONS = {
    SEED: """\
# The demonstration of bootstrap: synthetic notes and a small, biased seed. All settings that are
# not named have their defaults.

[data]
seed = "notes/seed.jsonl"
validation = "notes/validation.jsonl"
unlabeled = "notes/unlabeled.jsonl"
""",
    "divergence": """\
# The demonstration of bootstrap without a seed: synthetic notes and a list of names.

[data]
validation = "notes/validation.jsonl"
unlabeled = "notes/unlabeled.jsonl"

[labels]
PERSON = "PERSON"

[initial_model]
kind = "divergence"
names = ["census-es"]
# Higher than the defaults, since the notes use fewer different names than the country does, and so
# each of them more often.
threshold = 3.0
threshold_after = 5.0

[tagger]
# Without the word itself, so that the CRF does not memorise which words are missing from the list.
features = ["lower[-2..-1]", "form[1..2]", "capitalization", "short_shape"]
conjunctions = []
names = ["census-es"]
clusters = "embeddings"

[loop]
preset = "paper"
iterations = 6
batch = {batch}

[select]
# All confident documents are needed, because few notes contain a name.
max_selected = {batch}
confidence = 0.5
""",
}


#: The characters of the notes that are shown before and after.
_SHORT = 120

#: The key of the demonstration, whose notes are synthetic. It is no secret.
_KEY = b"the key of the demonstration only"

#: Number of annotated notes of the comparison, and of validation and test notes.
COMPARED_NOTES, COMPARED_VALIDATION, COMPARED_TEST = 5000, 1500, 3000

_COMPARISON = """\
# The comparison of the demonstration: 100 annotated notes alone, with self-training, and with
# more notes that a person annotates, here from annotations that exist already.

[data]
seed = "notes/annotated.jsonl"
validation = "notes/validation.jsonl"
test = "notes/test.jsonl"

[active]
budget = 250
round = 50

[experiment]
random_states = [0, 1]
at_documents = [150, 200, 250]

# The other notes are unlabeled, and annotated when active learning chooses them.
[seed]
documents = 100
with_entities = 0.5

[variants.supervised]
method = "supervised"

[variants.self-training]

[variants."random notes"]
method = "active"
active.query = "random"

[variants."active learning"]
method = "active"

[variants.hybrid]
method = "active"
active.hybrid = true

[variants."all annotations"]
method = "full-supervision"
"""


class Demo:
    """The folder of a demonstration: notes, and a configuration and a run, or an experiment.

    Attributes
    ----------
    config, run : Path
        The configuration of the run, and its folder.
    comparison, experiment : Path
        The experiment file of the comparison, and its folder.
    embeddings : Path
        Embeddings of the unlabeled notes, for a run from a list of names.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config, self.run = folder / "demo.toml", folder / "run"
        self.comparison, self.experiment = folder / "compare.toml", folder / "compare"
        self.embeddings = folder / "embeddings"

    def notes(self, split: str) -> Path:
        """Return the file of a split: seed, validation, test, unlabeled or annotated."""
        return self.folder / "notes" / f"{split}.jsonl"


def make_demo(folder: Path, number: int, initial_model: str = SEED) -> Demo:
    """Generate the notes and the configuration of a demonstration in a new folder.

    Parameters
    ----------
    folder : Path
    number : int
        The number of unlabeled notes.
    initial_model : {"seed", "divergence"}
        The model of iteration 0: trained on annotated notes, or derived from a list of names.
    """
    splits = {
        "validation": synthetic_notes(EVALUATION_NOTES, random_state=1),
        "test": synthetic_notes(EVALUATION_NOTES, random_state=2),
        "unlabeled": (replace(note, spans=()) for note in synthetic_notes(number, random_state=3)),
    }
    if initial_model == SEED:
        splits["seed"] = synthetic_notes(SEED_NOTES, random_state=0, part="seed")
    settings = _CONFIGURATIONS[initial_model].format(batch=max(1, number // 3))
    return _new_demo(folder, splits, "demo.toml", settings)


def make_comparison(folder: Path, number: int) -> Demo:
    """Generate the notes and the experiment file of a comparison in a new folder.

    Seeds are drawn, and rounds chosen, from a `number` of annotated notes.
    """
    sizes = {"validation": COMPARED_VALIDATION, "test": COMPARED_TEST, "annotated": number}
    splits = {
        split: synthetic_notes(size, random_state=random_state)
        for random_state, (split, size) in enumerate(sizes.items(), 1)
    }
    return _new_demo(folder, splits, "compare.toml", _COMPARISON)


def _new_demo(
    folder: Path, splits: Mapping[str, Iterable[Document]], file: str, settings: str
) -> Demo:
    """Write notes with the permissions of real ones, into a folder that appears when complete."""
    with new_folder(folder) as partial:
        create_folder(partial / "notes")
        for split, documents in splits.items():
            write(documents, Demo(partial).notes(split))
        write_atomically(partial / file, settings.encode())
    return Demo(folder)


def scores_on_test(demo: Demo, model: Path, jobs: int) -> Scores:
    """Score a model of the run on the held-out test notes."""
    labels = load_configuration(demo.config).labels
    classes = None if labels is None else dict(labels)
    gold = [note.with_classes(classes) for note in read(demo.notes("test"), problems=Problems())]
    tagger = ParallelTagger.load(model, jobs=jobs)
    tagged = tag_documents(gold, tagger, read_unit_file(model).tag_options())
    return score(gold, (note.document for note in tagged))


def deidentified_on_test(demo: Demo, number: int) -> list[tuple[str, str]]:
    """Return short test notes with several mentions, before and after they are de-identified."""
    model = load(demo.run)
    before, again = tee(read(demo.notes("test"), problems=Problems()))
    after = model.deidentify(again, policy="surrogates", key=_KEY)
    changed = (
        (a.text, b.text)
        for a, b in zip(before, after, strict=True)
        if len(b.spans) > 1 and len(a.text) < _SHORT
    )
    return list(islice(changed, number))


def free_folder(parent: Path) -> Path:
    """Return the first of ``demo``, ``demo-2``, ``demo-3``... that does not exist."""
    folder, number = parent / "demo", 1
    while folder.exists():
        number += 1
        folder = parent / f"demo-{number}"
    return folder

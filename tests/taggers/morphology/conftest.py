"""Analysers for tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from corpus.batch import Batch, make_batch
from corpus.document import Document


def batch_of(*texts: str) -> Batch:
    return make_batch([Document(str(row), text) for row, text in enumerate(texts)], labelled=False)


@pytest.fixture(scope="session")
def apertium() -> None:
    """Skip visibly without Apertium."""
    if not shutil.which("apertium-tagger") or not Path("/usr/share/apertium").is_dir():
        pytest.skip("Apertium is not installed: apt-get install apertium apertium-spa-cat")


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Install a small pipeline of spaCy as a package, and return its name."""
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    name = "es_small_pipeline"
    nlp = spacy.blank("es")
    ruler = nlp.add_pipe("attribute_ruler")
    words = {"fuma": ("VERB", "VerbForm=Fin", "fumar"), "el": ("DET", "", "el")}
    for word, (pos, morph, lemma) in words.items():
        attributes = {"POS": pos, "MORPH": morph, "LEMMA": lemma}
        ruler.add([[{"LOWER": word}]], attributes)
    ruler.add([[{"TEXT": {"NOT_IN": list(words)}}]], {"POS": "NOUN", "LEMMA": "other"})
    package = tmp_path / name
    package.mkdir()
    nlp.to_disk(package / f"{name}-1.0")
    (package / "__init__.py").write_text(
        "from pathlib import Path\nfrom spacy.util import load_model_from_init_py\n\n"
        "def load(**overrides):\n    return load_model_from_init_py(__file__, **overrides)\n"
    )
    shutil.copy(package / f"{name}-1.0/meta.json", package)
    (package / "meta.json").write_text(
        f'{{"lang": "es", "name": "{name[3:]}", "version": "1.0", "spacy_version": ">=3.8,<4"}}'
    )
    metadata = tmp_path / f"{name}-1.0.dist-info/METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    metadata.with_name("entry_points.txt").write_text(f"[spacy_models]\n{name} = {name}\n")
    monkeypatch.syspath_prepend(tmp_path)
    return name

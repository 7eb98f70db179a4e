"""Embeddings, gazetteers and the like that somebody changed: refused in one line, or harmless.

`benchmarks/hostile_files.py` tries thousands; here are some of each kind, and what it has found.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from corpus.errors import InputError
from corpus.storage.manifest import digests_of_files, manifest_bytes
from gazetteers.gazetteer import Gazetteer
from taggers.embeddings.clusters import ClusterOptions, clusterings_of, write_clusters
from taggers.embeddings.embedding import Embedding
from taggers.embeddings.pretrained import load_pretrained

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "hostile_files.py"


@pytest.mark.parametrize("number", [20, pytest.param(1200, marks=pytest.mark.slow)])
def test_changed_files_do_no_harm(number: int) -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--models", str(number), "--seed", str(number)],
        cwd=BENCHMARK.parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "harm" not in done.stdout, done.stdout
    assert "'refused'" in done.stdout.splitlines()[-1]


@pytest.fixture
def embedding(tmp_path: Path) -> Path:
    """An embedding with a clustering."""
    source = tmp_path / "vectors.txt"
    source.write_text("de 1 2\nla 3 4\n")
    result, _ = load_pretrained(source, tmp_path)
    write_clusters(result, np.array([0, 1]), ClusterOptions(2), 0.5)
    return result.folder


@pytest.mark.parametrize("name", ["embedding.json", "clusters-2.json", "vectors.npy"])
@pytest.mark.parametrize("what", ["device", "pipe", "sparse"])
def test_what_has_no_end_is_not_read(embedding: Path, name: str, what: str) -> None:
    path = embedding / name
    make: dict[str, Callable[[], None]] = {
        "device": lambda: path.symlink_to("/dev/zero"),
        "pipe": lambda: os.mkfifo(path),
        "sparse": lambda: (path.touch(), os.truncate(path, 2**40))[1],  # type: ignore[func-returns-value]
    }
    path.unlink()
    make[what]()
    with pytest.raises(InputError) as caught:
        clusterings_of(Embedding.load(embedding))
    assert str(caught.value).isprintable()
    if what == "sparse" and name.endswith(".json"):
        assert "bytes; expected at most" in str(caught.value)


def sign(embedding: Path, **changes: object) -> None:
    """Write the description of an embedding with the digests that its files have now."""
    path = embedding / "embedding.json"
    description = json.loads(path.read_bytes()) | changes
    digests = digests_of_files(embedding, description.pop("files"))
    path.write_bytes(manifest_bytes(description, digests))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda array: np.full_like(array, array[0]), "has other hashes than those of its words"),
        (lambda array: array[::-1].copy(), "has other hashes than those of its words"),
    ],
)
def test_hashes_of_other_words_are_refused(embedding, damage, message) -> None:
    np.save(embedding / "hashes.npy", damage(np.load(embedding / "hashes.npy")))
    sign(embedding)
    with pytest.raises(InputError, match=message):
        Embedding.load(embedding)


@pytest.mark.parametrize("value", ["x" * 100_000, "\x1b[31m", 3, None, ["none"], {}])
def test_another_normalisation_is_refused_in_one_line(embedding: Path, value: object) -> None:
    sign(embedding, normalisation=value)
    with pytest.raises(InputError, match="holds no embedding") as caught:
        Embedding.load(embedding)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 500


def test_a_gazetteer_without_terms_is_refused(tmp_path, make_gazetteer) -> None:
    path = tmp_path / "empty.parquet"
    make_gazetteer().save(path)
    with pytest.raises(InputError, match="has no terms; expected at least one"):
        Gazetteer.load(path)
    os.mkfifo(tmp_path / "pipe.parquet")
    with pytest.raises(InputError, match="is not a gazetteer"):
        Gazetteer.load(tmp_path / "pipe.parquet")
    shutil.rmtree(tmp_path)

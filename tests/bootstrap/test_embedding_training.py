"""Embeddings and clusters on the command line: made of notes, shown, and used in a run."""

from __future__ import annotations

import glob
import json
import re
import shutil
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.counts import WordCounts
from corpus.document import Document
from corpus.formats import write
from corpus.storage.manifest import digests_of_files, manifest_bytes, read_manifest
from taggers.embeddings.embedding import Embedding, find_embeddings

Command = Callable[..., Any]
MakeNotes = Callable[..., list[Document]]

TRAIN = ("embed", "train")
QUICK = ("--dimension", 8, "--epochs", 2, "--min-count", 1)


@pytest.fixture(scope="module")
def pool(notes: MakeNotes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pool") / "notes.jsonl"
    texts = [note.text for note in notes(400, 5)]
    texts[::10] = [text.upper() for text in texts[::10]]
    write([Document(str(number), text) for number, text in enumerate(texts)], path)
    return path


@pytest.fixture(scope="module")
def embeddings(pool: Path, launch: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Embeddings of two normalisations with clusters, that tests do not change."""
    folder = tmp_path_factory.mktemp("made") / "embeddings"
    done = launch("embed", "train", pool, "-o", folder, "--normalise", "none,digits", *QUICK)
    assert done.code == 0, done
    done = launch("cluster", folder, "--k", "4,12")
    assert done.code == 0, done
    return folder


def vectors_of(folder: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in sorted(folder.glob("*/vectors.npy"))}


# Counts


def test_count_writes_the_words_of_notes(pool: Path, tmp_path: Path, command: Command) -> None:
    target = tmp_path / "words.parquet"
    done = command("count", pool, "-o", target)
    assert done.code == 0, done
    counts = WordCounts.load(target)
    assert counts.total == 400
    assert (
        f"{len(counts):,} different words of {counts.tokens:,} tokens in 400 documents" in done.out
    )
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    again = command("count", pool, "-o", target)
    assert again.code == 2
    assert "nothing is overwritten" in again.err


def test_notes_without_a_word_are_not_counted(tmp_path: Path, command: Command) -> None:
    write([Document("1", " "), Document("2", "")], tmp_path / "blank.jsonl")
    for arguments in (
        ("count", tmp_path / "blank.jsonl", "-o", tmp_path / "w.parquet"),
        ("embed", "train", tmp_path / "blank.jsonl", "-o", tmp_path / "e"),
    ):
        done = command(*arguments)
        assert done.code == 2
        assert "no document has a word" in done.err
    assert not (tmp_path / "w.parquet").exists()


# Embeddings


@pytest.mark.slow
def test_each_normalisation_and_window_gets_an_embedding(pool, tmp_path, command) -> None:
    folder = tmp_path / "e"
    done = command("embed", "train", pool, "-o", folder, "--window", "1,3", *QUICK)
    assert done.code == 0, done
    names = [embedding.name for embedding in find_embeddings(folder)]
    assert names == sorted(f"{n}-w{w}" for n in ("none", "lower", "unaccented") for w in (1, 3))
    for name in names:
        assert name in done.out
    lower, none = Embedding.load(folder / "lower-w1"), Embedding.load(folder / "none-w1")
    assert len(lower) < len(none)
    assert lower.counts.sum() == none.counts.sum()
    for path in folder.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert sorted(path.name for path in folder.iterdir()) == sorted([*names, ".lock"])


def test_the_counts_are_those_of_the_notes(embeddings, pool, tmp_path, command) -> None:
    command("count", pool, "-o", tmp_path / "words.parquet")
    counts = WordCounts.load(tmp_path / "words.parquet")
    embedding = Embedding.load(embeddings / "none-w5")
    assert embedding.names.strings() == counts.words.to_pylist()
    assert embedding.counts.tolist() == counts.counts.tolist()


def test_fasttext_knows_words_by_their_parts(pool: Path, tmp_path: Path, command: Command) -> None:
    done = command(
        *TRAIN, pool, "-o", tmp_path / "e", "--kind", "fasttext", "--normalise", "lower", *QUICK
    )
    assert done.code == 0, done
    embedding = Embedding.load(tmp_path / "e" / "lower-w5-fasttext")
    assert not np.allclose(embedding.vectors_of(["puigserra"]), embedding.vectors[1])
    done = command("embed", "show", tmp_path / "e", "puigserra")
    assert "not in the vocabulary; from its character n-grams" in done.out


@pytest.mark.slow
def test_the_same_notes_and_state_give_the_same_vectors(
    embeddings: Path, pool: Path, tmp_path: Path, command: Command
) -> None:
    command(*TRAIN, pool, "-o", tmp_path / "e", "--normalise", "digits,none", *QUICK, "--jobs", 2)
    assert vectors_of(tmp_path / "e") == vectors_of(embeddings)
    command(*TRAIN, pool, "-o", tmp_path / "f", "--normalise", "none", *QUICK, "--random-state", 1)
    assert vectors_of(tmp_path / "f")["none-w5"] != vectors_of(embeddings)["none-w5"]


def test_what_is_there_is_not_made_again(embeddings: Path, pool: Path, command: Command) -> None:
    before = vectors_of(embeddings)
    done = command("embed", "train", pool, "-o", embeddings, "--normalise", "none", *QUICK)
    assert done.code == 2
    assert "none-w5 exists already; continue with --resume" in done.err
    done = command(
        "embed", "train", pool, "-o", embeddings, "--normalise", "none", *QUICK, "--resume"
    )
    assert done.code == 0, done
    other = ("--dimension", 9, *QUICK[2:])
    done = command(
        "embed", "train", pool, "-o", embeddings, "--normalise", "none", *other, "--resume"
    )
    assert done.code == 2
    assert "none-w5 was created with another value of dimension" in done.err
    assert vectors_of(embeddings) == before


@pytest.mark.slow
def test_an_interrupted_training_goes_on(pool: Path, tmp_path: Path, launch: Any) -> None:
    arguments = (*TRAIN, pool, "--normalise", "none,lower", "--dimension", 60, "--epochs", 100)
    assert launch(*arguments, "-o", tmp_path / "whole").code == 0
    folder = tmp_path / "stopped"
    process = launch.start(*arguments, "-o", folder)
    # `Path.glob` fails where a folder is renamed while it looks.
    pattern = f"{folder}/.*/checkpoint/*/random.json"
    while not glob.glob(pattern) and process.poll() is None:  # noqa: PTH207
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    stopped = launch.finish(process)
    assert stopped.code == 130
    assert stopped.err.splitlines() == ["bootstrap: interrupted"]
    assert not list(folder.glob("*/embedding.json"))
    assert launch(*arguments, "-o", folder, "--resume").code == 0
    assert vectors_of(folder) == vectors_of(tmp_path / "whole")
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "lower-w5", "none-w5"]


def test_words_that_are_too_rare_are_told(pool: Path, tmp_path: Path, command: Command) -> None:
    done = command("embed", "train", pool, "-o", tmp_path / "e", "--min-count", 10_000)
    assert done.code == 2
    assert "no word occurs 10000 times in the notes" in done.err
    assert "--min-count" in done.err


def test_a_folder_that_another_process_works_on_is_left_alone(embeddings, pool, command) -> None:
    from corpus.storage.atomic import folder_lock

    with folder_lock(embeddings):
        for arguments in (
            ("embed", "train", pool, "-o", embeddings),
            ("cluster", embeddings, "--k", 3),
        ):
            done = command(*arguments)
            assert done.code == 2
            assert "another process works on this folder" in done.err


def test_neighbours_are_shown(embeddings: Path, command: Command) -> None:
    done = command("embed", "show", embeddings, "Girona", "-n", 3)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("digits-w5: girona (")
    assert lines[4].startswith("none-w5: Girona (")
    assert len(lines) == 8
    expected = Embedding.load(embeddings / "none-w5").neighbours("Girona", 3)
    for line, neighbour in zip(lines[5:], expected, strict=True):
        word, similarity, count = line.split()
        assert (word, count) == (neighbour.word, f"{neighbour.count:,}")
        assert float(similarity) == pytest.approx(neighbour.similarity, abs=1e-3)
    assert command("embed", "show", embeddings / "none-w5", "Girona").out.startswith("none-w5: ")


def test_a_word_without_a_vector_is_told(embeddings: Path, command: Command) -> None:
    done = command("embed", "show", embeddings, "Zaragoza")
    assert done.code == 2
    assert "no embedding has a vector for this word" in done.err
    assert command("embed", "show", embeddings.parent / "nowhere", "a").code == 2


def test_vectors_made_elsewhere_are_taken_over(embeddings, tmp_path, command) -> None:
    embedding = Embedding.load(embeddings / "none-w5")
    lines = [f"{len(embedding)} 8"]
    for word, vector in zip(embedding.names.strings(), embedding.vectors[2:], strict=True):
        lines.append(f"{word} {' '.join(map(repr, vector.tolist()))}")
    lines[3:3] = [lines[2]]
    lines[0] = f"{len(lines) - 1} 8"
    (tmp_path / "elsewhere.vec").write_text("\n".join(lines), encoding="utf-8")
    done = command("embed", "load", tmp_path / "elsewhere.vec", "-o", tmp_path / "e")
    assert done.code == 0, done
    assert "1 duplicate word: the first vector is kept" in done.err
    loaded = Embedding.load(tmp_path / "e" / "elsewhere")
    assert (loaded.vectors[2:] == embedding.vectors[2:]).all()
    assert command("cluster", tmp_path / "e", "--k", 4).code == 0
    (tmp_path / "broken.vec").write_text("2 3\na 1 2 3\nb 1 2\n")
    done = command("embed", "load", tmp_path / "broken.vec", "-o", tmp_path / "e")
    assert done.code == 2
    assert "broken.vec:3: 2 numbers; expected a word and 3 numbers" in done.err
    assert not (tmp_path / "e" / "broken").exists()


@pytest.mark.slow
def test_a_terminal_is_told_what_is_counted(pool: Path, tmp_path: Path, launch: Any) -> None:
    done = launch.on_terminal(
        "embed", "train", pool, "-o", tmp_path / "e", "--normalise", "none", "--epochs", 60
    )
    assert done.code == 0
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", done.out)
    assert re.search(
        r"training none-w5 [^\r\n]* [\d,]+ of [\d,]+ tokens, [\d,]+/s, \d:\d\d:\d\d left", drawn
    )
    assert not re.search(r"reading [^\r\n]* [\d,]+ of [\d,]+ tokens", drawn)


# Clusters


def test_the_sizes_of_clusters_are_told(embeddings: Path, command: Command) -> None:
    done = command("cluster", embeddings, "--k", "4,12")
    assert done.code == 0
    words = len(Embedding.load(embeddings / "none-w5"))
    row = next(line for line in done.out.splitlines() if "none-w5" in line)
    assert row.split()[:2] == ["none-w5", str(words)]
    assert float(row.split()[2]) > float(row.split()[3])
    assert f'clusters = "{embeddings}"' in done.out


def test_more_clusters_than_words_are_left_out_or_if_asked_for_refused(tmp_path, command) -> None:
    lines = [f"word{number} {number % 7} {number % 5}" for number in range(150)]
    (tmp_path / "some.vec").write_text("\n".join(["150 2", *lines]))
    assert command("embed", "load", tmp_path / "some.vec", "-o", tmp_path / "e").code == 0
    done = command("cluster", tmp_path / "e")
    assert done.code == 0
    assert "150 words: 1,024 and 8,192 clusters are too many and are skipped" in done.err
    assert (tmp_path / "e" / "some" / "clusters-128.npy").exists()
    done = command("cluster", tmp_path / "e", "--k", "4,5000")
    assert done.code == 2
    assert "5,000 clusters are too many; set smaller numbers with --k" in done.err


def test_clusters_that_are_there_are_kept(embeddings, tmp_path, command) -> None:
    copied = Path(shutil.copytree(embeddings, tmp_path / "copied"))
    file = copied / "none-w5" / "clusters-4.npy"
    before = file.stat().st_mtime_ns
    assert command("cluster", copied, "--k", "4,5").code == 0
    assert file.stat().st_mtime_ns == before
    done = command("cluster", copied, "--k", 4, "--random-state", 7)
    assert done.code == 2
    assert "has 4 clusters found with random state 0" in done.err


# In a run


@pytest.fixture
def clustered(embeddings, make_project, tmp_path, without_advice) -> tuple[Path, Path]:
    """A project that looks at clusters beside it."""
    project = make_project(tmp_path / "project", unlabeled=700)
    copied = Path(shutil.copytree(embeddings, project / "embeddings"))
    config = project / "config.toml"
    text = config.read_text().replace("[tagger]\n", '[tagger]\nclusters = "embeddings"\n')
    config.write_text(text.replace("iterations = 3", "iterations = 1"))
    return config, copied


def test_the_best_clustering_of_each_iteration_is_in_its_metrics(
    clustered: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    config, _ = clustered
    choice = ("--set", "tagger.cluster_choice=best")
    done = command("run", config, "--out", tmp_path / "run", "--jobs", 1, *choice)
    assert done.code == 0, done
    shown = json.loads(command("show", tmp_path / "run", "--json").out)
    names = {f"{name}-w5-k{k}" for name in ("none", "digits") for k in (4, 12)}
    assert {row["training_clustering"] for row in shown} <= names


def test_a_run_goes_on_with_the_clusters_that_it_was_begun_with(
    clustered: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    config, copied = clustered
    assert command("run", config, "--out", tmp_path / "run", "--jobs", 1).code == 0
    file = copied / "none-w5" / "clusters-4.npy"
    clusters = np.load(file)
    np.save(file, clusters[::-1])
    done = command("run", config, "--out", tmp_path / "run", "--resume")
    assert done.code == 2
    assert "clusters-4.npy is damaged: it is not the file that was saved" in done.err
    description = read_manifest(file.with_suffix(".json")).description
    digests = digests_of_files(file.parent, [file.name])
    file.with_suffix(".json").write_bytes(manifest_bytes(description, digests))
    done = command("run", config, "--out", tmp_path / "run", "--resume")
    assert done.code == 2
    assert "clusters file" in done.err
    assert "clusters-4.npy has changed since the run was started" in done.err


def test_notes_that_share_no_word_with_the_clusters_are_told(clustered, tmp_path, command) -> None:
    config, _ = clustered
    (tmp_path / "other.vec").write_text("2 2\nzzz 1 2\nyyy 2 1\n")
    command("embed", "load", tmp_path / "other.vec", "-o", tmp_path / "other")
    command("cluster", tmp_path / "other", "--k", 2)
    change = ("--set", f"tagger.clusters={tmp_path / 'other'}")
    checked = command("check", config, *change)
    assert "0.0 % of the tokens have a cluster in other" in checked.out
    done = command("run", config, "--out", tmp_path / "run", *change)
    assert done.code == 2
    assert "no token of the seed has a cluster in other" in done.err
    assert not (tmp_path / "run").exists()

"""Clusters of words: found by k-means, kept in files, looked up as features."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.errors import InputError
from corpus.kernels.hashing import hash_values
from taggers.embeddings.clusters import ClusterOptions, clusterings_of, find_clusterings
from taggers.embeddings.embedding import Embedding
from taggers.embeddings.word_clusters import ClusterTable, WordClusters, word_hashes
from taggers.features.words import Words
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles, write_model

MakeEmbedding = Callable[..., Embedding]


@pytest.fixture(scope="module")
def groups() -> dict[str, list[float]]:
    """Words that point in three directions, one of them never seen by chance."""
    rng = np.random.default_rng(0)
    centres = np.eye(3, 6) * 5
    return {
        f"word{number}": (
            centres[number % 3] * rng.uniform(0.2, 3) + rng.normal(0, 0.1, 6)
        ).tolist()
        for number in range(90)
    }


@pytest.fixture
def embedding(groups, make_embedding, tmp_path) -> Embedding:
    return make_embedding(tmp_path / "some" / "lower-w5", groups, normalisation="lower")


def clustered(embedding: Embedding, k: int, **options: int) -> tuple[np.ndarray, list[int]]:
    """Return the clusters of words, and the numbers of passes that were reported."""
    steps: list[int] = []
    find_clusterings(steps.append, embedding.folder, [ClusterOptions(k, **options)])
    clusters = np.array(clusterings_of(embedding)[f"{embedding.name}-k{k}"].clusters)
    return clusters, [step // k for step in steps]


def mean_distance(embedding: Embedding, clusters: np.ndarray) -> float:
    """Compute the mean squared distance of directions from the centres of their clusters."""
    directions = np.concatenate(list(embedding.directions())).astype(np.float64)
    total = 0.0
    for cluster in np.unique(clusters):
        members = directions[clusters == cluster]
        total += ((members - members.mean(axis=0)) ** 2).sum()
    return total / len(directions)


def test_words_that_point_the_same_way_are_together_whatever_their_length(embedding) -> None:
    clusters, _ = clustered(embedding, 3, random_state=1)
    assert [len(set(clusters[start::3])) for start in range(3)] == [1, 1, 1]
    assert len(set(clusters)) == 3


def test_the_distance_that_is_told_is_that_of_the_clusters(embedding: Embedding) -> None:
    clusters, _ = clustered(embedding, 7)
    (clustering,) = clusterings_of(embedding).values()
    assert clustering.inertia == pytest.approx(mean_distance(embedding, clusters), rel=1e-3)
    rng = np.random.default_rng(0)
    assert clustering.inertia < mean_distance(embedding, rng.permutation(clusters))


def test_the_same_state_gives_the_same_clusters(embedding: Embedding) -> None:
    first, _ = clustered(embedding, 10, random_state=4)
    again, passes = clustered(embedding, 10, random_state=4)
    assert (first == again).all()
    assert passes == sorted(passes)
    assert passes[-1] <= 20


def test_several_clusterings_at_once_are_those_of_each_alone(embedding, tmp_path) -> None:
    wanted = [ClusterOptions(k, 4, 9) for k in (3, 12, 40)]
    alone = Embedding.load(Path(shutil.copytree(embedding.folder, tmp_path / "lower-w5")))
    for options in wanted:
        find_clusterings(lambda done: None, alone.folder, [options])
    sent: list[int] = []
    find_clusterings(sent.append, embedding.folder, wanted)
    assert sent == sorted(sent)
    assert sent[-1] <= 9 * (3 + 12 + 40)
    for name, expected in clusterings_of(alone).items():
        clustering = clusterings_of(embedding)[name]
        assert (clustering.clusters == expected.clusters).all()
        assert clustering.inertia == expected.inertia


def test_sizes_count_the_words_of_each_cluster(make_embedding, tmp_path) -> None:
    vectors = {name: [1.0] for name in "abcde"}
    embedding = make_embedding(tmp_path / "e", vectors, clusters={4: [0, 3, 3, 0, 0]})
    assert clusterings_of(embedding)["e-k4"].sizes().tolist() == [3, 0, 0, 2]


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "clusters-2.npy").write_bytes(b""),
        lambda folder: (folder / "clusters-2.npy").unlink(),
        lambda folder: (folder / "clusters-2.json").write_text("{"),
        lambda folder: np.save(folder / "clusters-2.npy", np.array([0, 2], np.int32)),
    ],
)
def test_clusters_that_are_damaged_are_refused(damage, make_embedding, tmp_path) -> None:
    embedding = make_embedding(tmp_path / "e", {"a": [1.0], "b": [2.0]}, clusters={2: [0, 1]})
    damage(embedding.folder)
    with pytest.raises(InputError, match=r"clusters-2\.json"):
        clusterings_of(embedding)


# As features


@pytest.fixture
def folder(make_embedding: MakeEmbedding, tmp_path: Path) -> Path:
    folder = tmp_path / "embeddings"
    make_embedding(
        folder / "lower-w5",
        {"de": [1.0], "anna": [2.0], "vic": [3.0], "12": [4.0]},
        normalisation="lower",
        clusters={2: [0, 1, 1, 0], 8: [0, 7, 5, 3]},
    )
    make_embedding(
        folder / "digits-w1",
        {"00": [1.0], "l'": [2.0]},
        normalisation="digits",
        clusters={2: [1, 0]},
    )
    return folder


def test_a_feature_says_the_cluster_of_a_word(folder: Path) -> None:
    features = WordClusters.read(folder).features()
    words = Words(["De", "ANNA", "anna", "Vic", "12", "13", "vía"])
    assert features["lower-w5-k2"](words) == ["0", "1", "1", "1", "0", "", ""]
    assert features["lower-w5-k8"](words) == ["0", "7", "7", "5", "3", "", ""]
    assert features["digits-w1-k2"](words) == ["", "", "", "", "1", "1", ""]
    assert features["lower-w5-k2"](Words([])) == []


def test_some_clusterings_are_read_by_their_names(folder: Path) -> None:
    clusters = WordClusters.read(folder, ["lower-w5-k8"])
    assert clusters.names == ("lower-w5-k8",)
    words = Words(["anna", "vic"])
    assert clusters.features()["lower-w5-k8"](words) == ["7", "5"]
    both = WordClusters.read(folder)
    assert both.names == ("digits-w1-k2", "lower-w5-k2", "lower-w5-k8")
    assert both.only("lower-w5-k8").features()["lower-w5-k8"](words) == ["7", "5"]


def test_clusterings_that_are_not_there_are_an_error(folder, make_embedding, tmp_path) -> None:
    with pytest.raises(InputError, match=r"lower-w5-k9.*digits-w1-k2, lower-w5-k2, lower-w5-k8"):
        WordClusters.read(folder, ["lower-w5-k9"])
    make_embedding(tmp_path / "e", {"a": [1.0]})
    with pytest.raises(InputError, match="no clusters yet: run bootstrap cluster"):
        WordClusters.read(tmp_path / "e")


@settings(max_examples=30)
@given(
    clusters=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=20),
    weighted=st.sets(st.tuples(st.sampled_from(["one", "two"]), st.integers(0, 5))),
    normalisation=st.sampled_from(["none", "lower"]),
)
def test_words_whose_clusters_have_no_weight_are_left_out_and_no_others(
    clusters: list[tuple[int, int]], weighted: set[tuple[str, int]], normalisation: str
) -> None:
    names = [f"w{number}" for number in range(len(clusters))]
    words = KeyedTable(word_hashes(names), {"clusters": np.array(clusters, np.int32)})
    table = ClusterTable(normalisation, words, ("one", "two"))
    hashes = [hash_values(name, [str(number)]) for name, number in weighted]
    kept = WordClusters([table]).with_nonzero_weights(
        np.concatenate([np.zeros(0, np.uint64), *hashes])
    )
    asked, features = Words([*names, "other"]), kept.features()
    before = WordClusters([table]).features()
    for place, (one, two) in enumerate(clusters):
        matters = ("one", one) in weighted or ("two", two) in weighted
        for name in ("one", "two"):
            assert features[name](asked)[place] == (before[name](asked)[place] if matters else "")
    expected = sum(("one", one) in weighted or ("two", two) in weighted for one, two in clusters)
    assert kept.size == expected


def test_a_model_keeps_clusters_in_files(folder: Path, tmp_path: Path) -> None:
    clusters = WordClusters.read(folder)
    kept = tmp_path / "model"
    write_model(kept, {"kind": "crf", "clusters": clusters.description()}, clusters.files())
    shutil.rmtree(folder)
    again = WordClusters.from_model(ModelFiles(kept, "crf"))
    words = Words(["De", "ANNA", "13", "vía"])
    for name, feature in clusters.features().items():
        assert again.features()[name](words) == feature(words)

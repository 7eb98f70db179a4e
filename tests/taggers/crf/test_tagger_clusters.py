"""The CRF with clusters of words: what they tell, which is chosen, and what a model keeps."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corpus.batch import Batch, make_batch
from corpus.errors import InputError
from taggers import CRFOptions, CRFTagger, load_tagger
from taggers.crf.crf_options import FEATURES, FEATURES_APART
from taggers.crf.crf_tagger import _best_clustering
from taggers.embeddings.embedding import Embedding
from taggers.ensemble.pooling import pooled
from taggers.privacy.pruning import Pruning
from tests.taggers.conftest import plain
from tests.taggers.crf.conftest import NAMES, OTHERS, fitted, right, word_list, word_lists

MakeEmbedding = Callable[..., Embedding]


@pytest.fixture(scope="module")
def folder(make_embedding: MakeEmbedding, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clusters that tell names from other words, and clusters that tell nothing."""
    folder = tmp_path_factory.mktemp("clusters") / "embeddings"
    words = [word.lower() for word in [*NAMES, *OTHERS, "unmet"]]
    rng = np.random.default_rng(0)
    make_embedding(
        folder / "lower-w5",
        {word: [1.0, 2.0] for word in words},
        normalisation="lower",
        clusters={
            2: [int(word.startswith("nom")) for word in words],
            3: rng.integers(0, 3, len(words)).tolist(),
            50: [49 if word == "unmet" else int(rng.integers(0, 20)) for word in words],
        },
    )
    return folder


APART = {"cluster_features": ("capitalization",)}


def options(folder: Path, *clusterings: str, **more: object) -> CRFOptions:
    least = plain(CRFOptions, features=("form",), window=0, streams=(), conjunctions=())
    return replace(least, clusters=str(folder), clusterings=clusterings, **more)  # type: ignore[arg-type]


def test_a_word_that_was_never_learned_is_known_by_its_cluster(folder, half, rest) -> None:
    without = fitted(half, replace(options(folder), clusters=""))
    assert right(without, half) == 1
    assert right(without, rest) < 1
    assert right(fitted(half, options(folder, "lower-w5-k2")), rest) == 1
    assert right(fitted(half, options(folder, "lower-w5-k3")), rest) < 1
    assert right(fitted(half, options(folder)), rest) == 1  # all of them


def test_words_and_clusters_are_trained_apart_and_averaged(folder, half, rest) -> None:
    """The CRF is the logarithmic opinion pool of one with words and one with clusters."""
    features = ("form[-1..1]", "capitalization", "shape")
    both = options(folder, features=features, window=2, **APART)
    words = replace(both, features=("form[-1..1]", "shape"), clusters="", cluster_features=())
    clusters = replace(both, features=("capitalization",), cluster_features=())
    actual, *apart = (fitted(half, chosen) for chosen in (both, words, clusters))
    pool = pooled([tagger.chain(rest) for tagger in apart], [1 / 3, 2 / 3])
    marginals = actual.tag(rest, detail="labels").marginals
    expected = pool.tag(actual.labels, "probability", "labels").marginals
    np.testing.assert_allclose(marginals, expected, atol=1e-5)
    together = fitted(half, replace(both, cluster_features=()))
    assert np.abs(together.tag(rest, detail="labels").marginals - marginals).max() > 0.01
    assert actual.training.iterations == sum(tagger.training.iterations for tagger in apart)


def test_the_default_features_depend_on_what_is_trained_apart(folder: Path) -> None:
    apart = CRFOptions(clusters=str(folder), cluster_features=("capitalization",))
    assert CRFOptions().used_features == FEATURES
    assert apart.used_features == FEATURES_APART
    assert replace(apart, features=("form", "capitalization")).used_features == (
        *("form", "capitalization"),
    )
    with pytest.raises(InputError, match='cluster_features names "lemma", which is not among'):
        CRFOptions(cluster_features=("lemma",))
    with pytest.raises(InputError, match="cluster_features has no effect without clusters"):
        CRFOptions(clusters="", cluster_features=("capitalization",))


def test_a_model_names_its_features(folder: Path, half: Batch, tmp_path: Path) -> None:
    """So that it stays the same if the defaults change."""
    tagger = fitted(half, options(folder, features=(), max_iterations=5, **APART))
    tagger.save(tmp_path / "model")
    loaded = load_tagger(tmp_path / "model")
    assert loaded.tag(half).confidence.tolist() == tagger.tag(half).confidence.tolist()
    pruned = tagger.pruned(Pruning.from_choices(2))
    assert 0 < pruned.contents()["feature values"] < tagger.contents()["feature values"]
    saved = json.loads((tmp_path / "model" / "model.json").read_text())
    assert tuple(saved["options"]["features"]) == FEATURES_APART


def test_without_words_of_its_own_one_crf_is_trained(
    folder: Path, half: Batch, rest: Batch
) -> None:
    together = fitted(half, options(folder, features=("capitalization",)))
    actual = fitted(half, options(folder, features=("capitalization",), **APART))
    assert actual.training == together.training
    assert right(actual, rest) == 1


def test_a_conjunction_may_be_of_clusters(folder: Path, half: Batch, rest: Batch) -> None:
    chosen = options(folder, "lower-w5-k3", conjunctions=("lower-w5-k2[0] form[1]",))
    with pytest.raises(InputError, match="no stream"):
        fitted(half, chosen)  # the clustering is not among those that are named
    chosen = replace(chosen, clusterings=("lower-w5-k2[-1]",))
    assert right(fitted(half, chosen), rest) == 1


def test_a_model_keeps_the_words_whose_clusters_matter_in_a_conjunction_alone(
    folder: Path, half: Batch, tmp_path: Path
) -> None:
    """Three places on there is a comma or nothing: alone, no cluster has a weight."""
    conjunction = "lower-w5-k2[0] capitalization[0]"
    chosen = options(folder, "lower-w5-k2[3]", conjunctions=(conjunction,), features=("has_digit",))
    tagger = fitted(half, chosen)
    tagger.save(tmp_path / "model")
    before, after = (
        model.tag(half, detail="labels").marginals
        for model in (tagger, load_tagger(tmp_path / "model"))
    )
    assert right(tagger, half) == 1
    assert before is not None
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("choice", ["all", "best"])
def test_a_model_is_complete_without_the_folder(choice, folder, half, rest, tmp_path) -> None:
    copied = Path(shutil.copytree(folder, tmp_path / "copied"))
    tagger = fitted(half, options(copied, cluster_choice=choice))
    tagger.save(tmp_path / "model")
    before = tagger.tag(rest, detail="labels")
    shutil.rmtree(copied)
    again = load_tagger(tmp_path / "model")
    after = again.tag(rest, detail="labels")
    assert (before.tags == after.tags).all()
    assert before.marginals is not None
    np.testing.assert_array_equal(before.marginals, after.marginals)
    again.save(tmp_path / "again")
    names = sorted(path.name for path in (tmp_path / "model").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "again").iterdir())
    for name in names:
        assert (tmp_path / "model" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert str(tmp_path).encode() not in (tmp_path / "model" / "model.json").read_bytes()


def test_the_best_clustering_is_chosen_and_told(folder: Path, half: Batch, rest: Batch) -> None:
    steps: list[tuple[int, int]] = []
    tagger = CRFTagger(options(folder, cluster_choice="best"))
    tagger.fit(half, rng=np.random.default_rng(0), progress=lambda *step: steps.append(step))
    assert tagger.training.clustering == "lower-w5-k2"
    assert right(tagger, rest) == 1
    done = [step for step, _ in steps]
    assert done == sorted(done)
    assert {most for _, most in steps} == {4 * 100}


def test_what_is_chosen_by_was_not_trained_on() -> None:
    """Documents of a group stay together."""
    documents = [word_list(str(n), [NAMES[n]], f"g{n % 7}" if n % 3 else None) for n in range(30)]
    train = make_batch(documents, labelled=True, classes=["PERSON"])
    seen: list[tuple[set[str], set[str | None]]] = []

    class Watching:
        def __init__(self, part: Batch) -> None:
            self.part = part

        def tag(self, held: Batch) -> Batch:
            trained, kept = (set(part.ids.to_pylist()) for part in (self.part, held))
            assert not trained & kept
            assert trained | kept == {str(n) for n in range(30)}
            groups = [set(part.groups.to_pylist()) - {None} for part in (self.part, held)]
            assert not groups[0] & groups[1]
            seen.append((kept, groups[1]))
            return held

    names = ["one", "two"]
    _best_clustering(
        names, train, lambda _, part, __: Watching(part), np.random.default_rng(1), None
    )  # type: ignore[arg-type, return-value]
    assert len(seen) == 2
    assert seen[0] == seen[1]
    assert seen[0][0]


def test_few_documents_have_a_best_clustering_too(folder: Path, half: Batch) -> None:
    one = half.take(np.array([0]))
    tagger = fitted(one, options(folder, cluster_choice="best"))
    assert tagger.training.clustering == "lower-w5-k2"  # the first one


def test_notes_of_other_words_are_refused(folder: Path) -> None:
    strange = word_lists(["Zzz", "Yyy"])
    with pytest.raises(InputError, match=r"none of the 4 tokens .* has a cluster"):
        fitted(strange, options(folder))


def test_an_exported_model_has_its_clusters(folder, half, rest, tmp_path) -> None:
    for nameless in (False, True):
        reduced = fitted(half, options(folder)).pruned(
            Pruning.from_choices(2, hash_names=nameless, keep=["clusters"])
        )
        target = tmp_path / str(nameless)
        reduced.save(target)
        assert right(load_tagger(target), rest) == 1  # type: ignore[arg-type]
        kept = json.loads((target / "model.json").read_text())["clusters"]
        assert kept[0]["names"] == ["lower-w5-k2", "lower-w5-k3", "lower-w5-k50"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"clusterings": ("lower-w5-k2",)}, "clusterings has no effect without clusters"),
        ({"cluster_choice": "best"}, "cluster_choice has no effect without clusters"),
        ({"clusters": "x", "clusterings": ("lower", "a")}, '"lower" is a feature'),
        ({"clusters": "x", "clusterings": ("a", "a[0]")}, '"a" is named 2 times'),
        ({"clusters": "x", "clusterings": ("a b",)}, "is not a template"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plain(CRFOptions, **wrong)  # type: ignore[arg-type]

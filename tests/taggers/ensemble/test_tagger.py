"""The ensemble against its members."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from corpus.batch import Batch
from corpus.errors import InputError
from corpus.storage.manifest import digest_of
from corpus.tags import find_entities, well_formed
from taggers import CRFOptions, load_tagger, make_tagger
from taggers.base import Tagger, TrainingError, kernels_of
from taggers.confidence import document_confidence
from taggers.crf.linear_chain import LinearChain
from taggers.ensemble import tagger as ensemble_module
from taggers.ensemble.ensemble_options import EnsembleOptions, Member
from taggers.ensemble.pooling import chain_of_marginals, pooled
from taggers.ensemble.tagger import EnsembleTagger
from taggers.model_folder import verify_model
from taggers.privacy.pruning import Pruning
from tests.taggers.conftest import plain

NARROW = plain(
    CRFOptions, features=("form",), window=0, streams=(), conjunctions=(), max_iterations=20
)
WIDE = plain(
    CRFOptions, features=("shape",), window=2, streams=(), conjunctions=(), max_iterations=20
)


def of(*options: CRFOptions) -> EnsembleOptions:
    return EnsembleOptions(tuple(Member("crf", chosen) for chosen in options))


def fitted(options: EnsembleOptions, train: Batch, **others: Any) -> EnsembleTagger:
    return EnsembleTagger(options).fit(train, rng=np.random.default_rng(0), **others)


@pytest.fixture(scope="module")
def pair(train: Batch) -> EnsembleTagger:
    """An ensemble of two CRFs that differ."""
    return fitted(of(NARROW, WIDE), train)


def marginals(tagger: Tagger, batch: Batch) -> np.ndarray:
    result = tagger.tag(batch, detail="labels").marginals
    assert result is not None
    return result


def test_two_equal_members_are_one_of_them_and_others_are_pooled(pair, train) -> None:
    narrow, wide = pair.members
    one = EnsembleTagger()
    one.members, one.labels = (narrow, narrow), narrow.labels
    np.testing.assert_allclose(marginals(one, train), marginals(narrow, train), atol=1e-5)
    own, other = marginals(narrow, train), marginals(wide, train)
    assert np.abs(own - other).max() > 0.05
    pool = pooled([narrow.chain(train), wide.chain(train)], [0.5, 0.5])
    expected = pool.tag(pair.labels, "probability", "labels").marginals
    np.testing.assert_allclose(marginals(pair, train), expected, atol=1e-12)


def test_kinds_have_equal_weights_and_labels_are_aligned_by_their_names(plugin, train) -> None:
    options = EnsembleOptions((Member("crf", NARROW), Member("random"), Member("random")))
    actual = fitted(options, train)
    crf, *others = actual.members
    assert others[0].labels == train.labels[::-1] and actual.labels == train.labels
    offsets = train.document_offsets
    chains = [
        crf.chain(train),
        *(chain_of_marginals(marginals(o, train), offsets, o.labels) for o in others),
    ]
    decoded = pooled(chains, [0.5, 0.25, 0.25]).decode(detail="labels")
    columns = [train.labels.index(name) for name in chains[0].labels]
    np.testing.assert_allclose(marginals(actual, train)[:, columns], decoded.marginals, atol=1e-12)


def test_a_label_that_a_member_lacks_counts_as_hardly_probable(plugin, train, pair) -> None:
    """It still wins where the other members are sure of it."""
    other = plugin(plugin.options_type()).fit(train, rng=np.random.default_rng(0))
    kept = [number for number, name in enumerate(other.labels) if "LOCATION" not in name]
    other.labels = tuple(other.labels[number] for number in kept)
    other.counts = {word: [row[i] for i in kept] for word, row in other.counts.items()}
    actual = EnsembleTagger()
    actual.members, actual.labels = (*pair.members, other), pair.labels
    place = pair.labels.index("B-LOCATION")
    before, after = marginals(pair, train)[:, place], marginals(actual, train)[:, place]
    assert (after[before > 0.1] < before[before > 0.1]).all()
    assert after.max() > 0.1


def test_details_and_confidence_are_those_of_the_pool(pair, train) -> None:
    everything = pair.tag(train, detail="labels")
    tags = everything.tags
    assert tags.tolist() == well_formed(tags, train.document_offsets, pair.labels).tolist()
    chosen = everything.marginals[np.arange(len(tags)), tags]
    plain = pair.tag(train)
    assert (plain.token_confidence, plain.marginals, plain.entity_probabilities) == (None,) * 3
    assert plain.tags.tolist() == tags.tolist()
    token = pair.tag(train, detail="token")
    assert token.marginals is None
    np.testing.assert_allclose(token.token_confidence, chosen, atol=1e-6)
    logs = np.log(pair.tag(train, measure="probability").confidence)
    lengths = np.maximum(train.lengths, 1)
    normalised = pair.tag(train, measure="normalised").confidence
    np.testing.assert_allclose(np.log(normalised), logs / lengths, atol=1e-6)
    lowest = pair.tag(train, measure="min_marginal").confidence
    assert (
        lowest.tolist()
        == document_confidence(
            "min_marginal", train.document_offsets, token_confidence=token.token_confidence
        ).tolist()
    )
    entity = pair.tag(train, detail="entity")
    entities = find_entities(tags, train.document_offsets, pair.labels)
    probabilities = entity.entity_confidence(entities)
    assert len(probabilities) == 24
    assert (probabilities <= chosen[entities.first] + 1e-5).all() and probabilities.min() > 0
    with pytest.raises(InputError, match='there is no measure "entropy"'):
        pair.tag(train, measure="entropy")


def test_pieces_of_a_batch_are_tagged_alike(pair, train, monkeypatch) -> None:
    whole = pair.tag(train, detail="labels")
    monkeypatch.setattr(ensemble_module, "_PIECE", 14)
    chain, sizes = EnsembleTagger._chain, []

    def counted(tagger: EnsembleTagger, piece: Batch) -> LinearChain:
        sizes.append(len(piece))
        return chain(tagger, piece)

    monkeypatch.setattr(EnsembleTagger, "_chain", counted)
    parts = pair.tag(train, detail="labels")
    assert len(sizes) > 4 and sum(sizes) == len(train)
    assert parts.tags.tolist() == whole.tags.tolist()
    np.testing.assert_allclose(parts.marginals, whole.marginals, atol=1e-6)
    np.testing.assert_allclose(parts.confidence, whole.confidence, atol=1e-6)
    nothing = pair.tag(train.slice(0, 0), detail="entity")
    assert (len(nothing.tags), len(nothing.confidence)) == (0, 0)


def test_an_untrained_ensemble_neither_tags_nor_is_saved(train: Batch, tmp_path: Path) -> None:
    tagger = make_tagger("ensemble", of(NARROW))
    for use in (lambda: tagger.tag(train), lambda: tagger.save(tmp_path / "model")):
        with pytest.raises(ValueError, match="has not been trained"):
            use()
    assert not (tmp_path / "model").exists()


# Training


def test_two_fits_are_equal_and_members_of_one_kind_are_not(plugin: type, train: Batch) -> None:
    options = EnsembleOptions((Member("random"), Member("random")))
    one, two = fitted(options, train), fitted(options, train)
    assert np.array_equal(marginals(one, train), marginals(two, train))
    first, second = (marginals(member, train) for member in one.members)
    assert not np.array_equal(first, second)


def test_members_receive_validation_and_the_member_before_them(plugin: type, train: Batch) -> None:
    options = EnsembleOptions((Member("random"), Member("crf", NARROW), Member("random")))
    before = fitted(EnsembleOptions((Member("random"), Member("random"))), train)
    actual: Any = fitted(options, train, validation=train.slice(0, 5), warm_start=before)
    assert actual.members[0].seen == {"validation": 5, "warm_start": True}
    assert actual.members[2].seen == {"validation": 5, "warm_start": False}
    again: Any = fitted(options, train, warm_start=actual)
    assert again.members[2].seen == {"validation": 0, "warm_start": True}
    assert again.members[1].training.iterations < actual.members[1].training.iterations


def test_progress_is_the_sum_of_the_members(plugin: type, train: Batch) -> None:
    steps: list[tuple[int, int]] = []
    options = EnsembleOptions((Member("random"), Member("crf", NARROW), Member("random")))
    fitted(options, train, progress=lambda *step: steps.append(step))
    assert {total for _, total in steps} == {300}
    done = [number for number, _ in steps]
    assert done == sorted(done)
    assert (done[0], done[1], done[-1]) == (50, 100, 300)
    assert any(100 < number <= 200 for number in done)


def test_members_with_processes_of_their_own_are_trained_side_by_side(
    plugin: Any, train: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the two waits for the other one; the CRF is trained in the meantime."""
    own = plugin.options_type(waits=True, noise=5.0)
    options = EnsembleOptions((Member("random", own), Member("crf", NARROW), Member("random", own)))
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    monkeypatch.setattr(plugin, "trains_in_process", True, raising=False)
    actual = fitted(options, train)
    monkeypatch.setattr(plugin, "trains_in_process", False)
    alone = Member("random", replace(own, waits=False))
    one_by_one = fitted(EnsembleOptions((alone, Member("crf", NARROW), alone)), train)
    np.testing.assert_array_equal(marginals(actual, train), marginals(one_by_one, train))


def test_the_others_are_not_trained_on_after_a_member_fails(plugin, train, monkeypatch) -> None:
    """The first member never ends by itself; it is ended when it reports progress."""
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    monkeypatch.setattr(plugin, "trains_in_process", True, raising=False)
    monkeypatch.setattr(plugin, "fit", endless(plugin.fit))
    options = EnsembleOptions((Member("random"), Member("random", plugin.options_type(fails=True))))
    with pytest.raises(TrainingError, match=r"members\[2\] \(random\): no usable weights"):
        fitted(options, train)


def endless(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a training that reports progress without end, unless the tagger fails."""

    def forever(self: Any, *arguments: Any, progress: Any, **others: Any) -> Any:
        while not self.options.fails:
            progress(0, 1)
            time.sleep(0.01)
        return fit(self, *arguments, progress=progress, **others)

    return forever


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"fails": True}, TrainingError, r"members\[2\] \(random\): no usable weights"),
        ({"marginals": False}, InputError, r"members\[2\] \(random\): .* computes no marginals"),
        ({"added": "B-AGE"}, InputError, r"members\[2\] \(random\): .* the label B-AGE, which is"),
    ],
)
def test_a_member_that_fails_is_named(options, error, message, plugin, train) -> None:
    own = plugin.options_type(**options)
    with pytest.raises(error, match=message):
        fitted(EnsembleOptions((Member("crf", NARROW), Member("random", own))), train)


# Model folders


@pytest.fixture
def model(pair: EnsembleTagger, tmp_path: Path) -> Path:
    pair.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_loaded_ensemble_tags_alike_and_can_be_moved(pair, model, train, tmp_path) -> None:
    moved = Path(shutil.copytree(model, tmp_path / "elsewhere" / "model"))
    shutil.rmtree(model)
    loaded = load_tagger(moved)
    assert isinstance(loaded, EnsembleTagger)
    assert (loaded.labels, loaded.training) == (pair.labels, pair.training)
    before, after = (tagger.tag(train, detail="labels") for tagger in (pair, loaded))
    assert after.tags.tolist() == before.tags.tolist()
    assert np.array_equal(marginals(pair, train), marginals(loaded, train))
    assert kernels_of(loaded) == kernels_of(pair) == kernels_of(EnsembleTagger(of(NARROW, WIDE)))
    assert {"taggers.crf.linear_chain", *kernels_of(pair.members[0])} == set(kernels_of(pair))


def test_a_loaded_ensemble_can_be_trained_further(model: Path, train: Batch) -> None:
    loaded = EnsembleTagger.load(model)
    again = EnsembleTagger.load(model).fit(train, rng=np.random.default_rng(0), warm_start=loaded)
    assert again.tag(train).tags.tolist() == loaded.tag(train).tags.tolist()


def damaged(folder: Path, change: Callable[[Path], object]) -> str:
    change(folder)
    with pytest.raises(InputError) as caught:
        load_tagger(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_is_damaged_or_missing_is_named(model: Path) -> None:
    hashes, description = model / "member-2" / "hashes.npy", model / "model.json"
    text = description.read_text()
    message = damaged(model, lambda _: description.write_text(text.replace("PERSON", "AGE")))
    assert f"{description} is damaged" in message
    description.write_text(text)
    message = damaged(model, lambda _: hashes.write_bytes(hashes.read_bytes() + b" "))
    assert f"{hashes} is damaged" in message
    message = damaged(model, lambda folder: shutil.rmtree(folder / "member-1"))
    assert f"{model / 'member-1'} is damaged: it lacks the file model.json" in message


def test_members_of_two_ensembles_are_not_mixed(model: Path, train: Batch, tmp_path: Path) -> None:
    """Each of the members is whole; the digest in the ensemble shows that one is another one."""
    fitted(of(WIDE, WIDE), train).save(tmp_path / "other")

    def exchange(folder: Path) -> None:
        shutil.rmtree(folder / "member-1")
        shutil.copytree(tmp_path / "other" / "member-1", folder / "member-1")

    message = damaged(model, exchange)
    assert f"{model / 'member-1' / 'model.json'} is damaged" in message
    with pytest.raises(InputError, match=r"model\.json is damaged"):
        verify_model(model)


@pytest.mark.parametrize("kind", ["os:system", "ensemble", "lists", "nothing"])
def test_a_folder_names_only_kinds_that_can_be_members(model: Path, kind: str) -> None:
    def rewrite(folder: Path) -> None:
        description = json.loads((folder / "model.json").read_text())
        description["members"][0] = kind
        description["digest"] = digest_of(description)
        (folder / "model.json").write_text(json.dumps(description))

    assert f'kind = "{kind}"' in damaged(model, rewrite)


# Pruning


def test_an_ensemble_is_pruned_by_its_members(pair, train, tmp_path) -> None:
    members: Any = pair.members
    values = pair.contents()["feature values"]
    assert values == sum(member.contents()["feature values"] for member in members) > 0
    pruned = pair.pruned(Pruning.from_choices(4, hash_names=True))
    assert 0 < pruned.contents()["feature values"] < values
    pruned.save(tmp_path / "model")
    files = [path.read_bytes() for path in (tmp_path / "model").rglob("*") if path.is_file()]
    assert len(files) > 4 and not any(b"Anna" in content for content in files)
    assert load_tagger(tmp_path / "model").tag(train).tags.tolist() == (
        pruned.tag(train).tags.tolist()
    )


def test_a_member_that_cannot_be_pruned_is_named(plugin: type, train: Batch) -> None:
    actual = fitted(EnsembleOptions((Member("crf", NARROW), Member("random"))), train)
    with pytest.raises(InputError, match=r'members\[2\] is a model of kind "random", which cannot'):
        actual.pruned(Pruning.from_choices())

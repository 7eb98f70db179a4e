"""Model files of python-crfsuite are read to the last digit, or not at all."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest

from corpus.errors import InputError
from corpus.kernels.hashing import hash_values
from taggers.crf.crfsuite_file import read_crfsuite, weights_of
from taggers.crf.weights import Weights, border_hashes
from taggers.templates import Templates

Document = Sequence[tuple[str, str]]  # words and labels

DOCUMENTS: list[Document] = [
    [("El", "O"), ("Sr", "O"), ("Puig", "PERSON"), ("·", "O")],
    [("Puig", "PERSON"), ("viu", "O"), ("a", "O"), ("Clot=1", "LOCATION")],
    [("ñandú", "O"), ("-1:lower=x", "O")],
]


def attributes_of(document: Document, window: int) -> list[list[str]]:
    rows = []
    for place in range(len(document)):
        row = []
        for offset in range(-window, window + 1):
            other = place + offset
            if 0 <= other < len(document):
                word = document[other][0]
                row += [f"{offset}:form={word}", f"{offset}:lower={word.lower()}"]
            else:
                row.append(f"{offset}:{'BOS' if other < 0 else 'EOS'}")
        rows.append(row)
    return rows


def trained(
    documents: Sequence[tuple[list[list[str]], list[str]]], path: Path, **options: object
) -> bytes:
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"max_iterations": 20, **options})
    for attributes, labels in documents:
        trainer.append(attributes, labels)
    trainer.train(str(path))
    return path.read_bytes()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.crfsuite"
    rows = [(attributes_of(each, 2), [label for _, label in each]) for each in DOCUMENTS]
    trained(rows, path, **{"feature.possible_transitions": True})
    return path


def dump_of(path: Path) -> pycrfsuite._dumpparser.ParsedDump:
    crfsuite = pycrfsuite.Tagger()
    crfsuite.open(str(path))
    return crfsuite.info()


def test_every_weight_is_that_of_the_dump(file: Path) -> None:
    found, dump = read_crfsuite(file.read_bytes()), dump_of(file)
    assert found.labels == tuple(sorted(dump.labels, key=lambda label: int(dump.labels[label])))
    assert sorted(found.attributes) == sorted(dump.attributes)
    state = {
        (found.attributes[attribute], found.labels[label]): weight
        for attribute, label, weight in zip(
            found.attribute_ids, found.label_ids, found.state, strict=True
        )
    }
    assert len(state) == len(found.state) == len(dump.state_features)
    assert state == pytest.approx(dump.state_features, abs=5.1e-7)  # it has six decimals
    transition = {
        (before, after): found.transition[row, column]
        for row, before in enumerate(found.labels)
        for column, after in enumerate(found.labels)
    }
    assert transition == pytest.approx(dump.transitions, abs=5.1e-7)
    assert any(round(weight, 6) != weight for weight in state.values())


def test_transitions_that_the_file_lacks_are_0(tmp_path: Path) -> None:
    rows = [([["0:form=a"], ["0:form=b"]], ["X", "Y"])]
    found = read_crfsuite(trained(rows, tmp_path / "model"))
    (x, y) = (found.labels.index(name) for name in "XY")
    assert found.transition[x, y] != 0
    assert found.transition[y, x] == found.transition[x, x] == found.transition[y, y] == 0


def test_weights_are_taken_over_by_value_offset_and_label(
    file: Path, named_weights: Callable[[Weights], dict[tuple[int, int, int], float]]
) -> None:
    model = read_crfsuite(file.read_bytes())
    templates, weights = weights_of(model)
    assert sorted(each.name for each in templates.features) == ["form", "lower"]
    assert templates.window == templates.reach == 2
    assert (weights.labels, weights.offsets) == (3, 5)
    assert weights.transition.tolist() == model.transition.tolist()
    expected = {}
    for attribute, label, weight in zip(
        model.attribute_ids.tolist(), model.label_ids.tolist(), model.state.tolist(), strict=True
    ):
        offset, _, rest = model.attributes[attribute].partition(":")
        name, _, text = rest.partition("=")
        if rest in ("BOS", "EOS"):
            value = int(border_hashes()[("BOS", "EOS").index(rest)])
        else:
            value = int(hash_values(name, [text])[0])
        expected[value, int(offset) + 2, label] = weight
    assert named_weights(weights) == expected


def test_a_file_cut_off_anywhere_is_an_input_error(file: Path) -> None:
    whole = file.read_bytes()
    read_crfsuite(whole)
    for length in range(len(whole)):
        with pytest.raises(InputError, match="not a whole model file of CRFsuite"):
            read_crfsuite(whole[:length])
    with pytest.raises(InputError, match="not a whole model file of CRFsuite"):
        read_crfsuite(whole + b"\0")


def test_a_changed_byte_is_an_input_error_or_another_model_and_no_crash(file: Path) -> None:
    whole = file.read_bytes()
    places = [*range(100), *np.random.default_rng(0).integers(0, len(whole), 300).tolist()]
    for place in places:
        for value in (0x00, 0x01, 0x7F, 0xFF):
            damaged = bytearray(whole)
            damaged[place] ^= value
            with contextlib.suppress(InputError):
                weights_of(read_crfsuite(bytes(damaged)))


@pytest.mark.parametrize("data", [b"", b"lCRF", b"x" * 1000, b"\0" * 1000, b"{}" * 100])
def test_another_file_is_an_input_error(data: bytes) -> None:
    with pytest.raises(InputError, match="not a whole model file of CRFsuite"):
        read_crfsuite(data)


@pytest.mark.parametrize(
    "attribute",
    [
        *("form=a", "bias", "x:form=a", "1:form", "1:BOSS", "1000:form=a", ":EOS", ""),
        "word.lower():garcía pérez",
    ],
)
def test_other_attributes_are_an_input_error(file: Path, attribute: str) -> None:
    """It says which by number: an attribute has words of the notes."""
    model = read_crfsuite(file.read_bytes())
    changed = replace(model, attributes=(model.attributes[0], attribute, *model.attributes[2:]))
    with pytest.raises(InputError) as caught:
        weights_of(changed)
    assert str(caught.value) == (
        "attribute number 2 of the model is not of the form OFFSET:FEATURE=VALUE, such as "
        "-1:lower=dr"
    )


def unknown_feature(name: str, folder: Path) -> str:
    rows = [([[f"0:{name}=red"], [f"0:{name}=blue"]], ["X", "Y"])]
    model = read_crfsuite(trained(rows, folder / "model"))
    with pytest.raises(InputError) as caught:
        weights_of(model)
    return str(caught.value)


@pytest.mark.parametrize("name", ["colour", "Form", "rules", "word.lower", "w" * 31])
def test_a_feature_that_is_not_known_is_an_input_error(tmp_path: Path, name: str) -> None:
    assert f'no feature "{name}"; the features are form,' in unknown_feature(name, tmp_path)


@pytest.mark.parametrize(
    "name", ["garcía pérez", "lower:García", "form[0]", "shape[-1] shape[0]", "w" * 32, "12345678Z"]
)
def test_what_may_be_text_of_a_note_is_not_said(tmp_path: Path, name: str) -> None:
    message = unknown_feature(name, tmp_path)
    assert name not in message
    assert message.startswith("attribute number 1 of the model has an unknown feature; expected ")


def test_the_beginning_of_another_file_is_not_said() -> None:
    with pytest.raises(InputError) as caught:
        read_crfsuite(b"Ana Garcia Puig, de Vic. " * 9)
    assert "Ana" not in str(caught.value)
    assert "Puig" not in str(caught.value)


def test_values_may_be_any_text(tmp_path: Path) -> None:
    values = ["=", ":", "a=b", "0:form=x", "ñ·昆", "a\nb", " ", "\U0001f600", "BOS"]
    rows = [([[f"0:form={value}"] for value in values], ["X", "Y", "Z"] * 3)]
    templates, weights = weights_of(read_crfsuite(trained(rows, tmp_path / "model")))
    assert templates == Templates.parse(["form"], 0)
    assert set(weights.hashes.tolist()) == set(hash_values("form", values).tolist())


def test_a_model_without_state_weights_has_none(tmp_path: Path) -> None:
    rows = [([["0:form=a"], ["0:form=b"]], ["X", "Y"])] * 3
    model = read_crfsuite(trained(rows, tmp_path / "model"))
    none = replace(
        model,
        attributes=(),
        attribute_ids=model.attribute_ids[:0],
        label_ids=model.label_ids[:0],
        state=model.state[:0],
    )
    templates, weights = weights_of(none)
    assert templates == Templates(())
    assert len(weights.state) == len(weights.hashes) == 0
    assert weights.transition.tolist() == model.transition.tolist()

"""What options of a CRF say of their files, streams and capabilities."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.errors import InputError
from gazetteers.gazetteer import Gazetteer
from taggers.crf import CRFOptions

MakeGazetteer = Callable[..., Gazetteer]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            CRFOptions(streams=("heder",)),
            'there is no stream or feature "heder"; the streams are header, colon, rules, phrases',
        ),
        (CRFOptions(conjunctions=("a[0] form[1]",)), 'there is no stream or feature "a"'),
        (CRFOptions(streams=("phrases[-1]",)), 'the stream "phrases" has no phrases: name'),
        (CRFOptions(conjunctions=("phrases form",)), 'the stream "phrases" has no phrases: name'),
        (CRFOptions(clusters="/nowhere"), "/nowhere"),
        (CRFOptions(names=("/nowhere",)), "/nowhere"),
        (CRFOptions(phrases=("/nowhere",)), "/nowhere"),
    ],
)
def test_what_is_missing_is_named_before_training(options: CRFOptions, message: str) -> None:
    with pytest.raises(InputError) as caught:
        options.check()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_gazetteers_are_files_and_builtin_lists_are_not(
    make_gazetteer: MakeGazetteer, tmp_path: Path
) -> None:
    path = tmp_path / "names.parquet"
    make_gazetteer(("anna", "given", 50)).save(path)
    options = CRFOptions(names=("census-es", str(path)), phrases=(str(path), "blocking"))
    assert options.files() == {"names": [path], "phrases": [path]}
    assert list(options.check()) == []
    assert CRFOptions().files() == {}


def test_capabilities_are_those_of_the_engine() -> None:
    own, reference = CRFOptions().capabilities, CRFOptions(engine="crfsuite").capabilities
    assert own == {"entity_probabilities", "document_weights", "partial_tags"}
    assert reference == {"entity_probabilities"}

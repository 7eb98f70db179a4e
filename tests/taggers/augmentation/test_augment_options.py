"""Options refuse values without a meaning, and name the files that they read."""

from pathlib import Path

import pytest

from corpus.errors import InputError
from taggers.augmentation import AugmentOptions
from taggers.options import path_fields


def test_an_empty_path_is_refused() -> None:
    with pytest.raises(InputError, match='gazetteers names ""'):
        AugmentOptions(gazetteers=("",))


def test_files_are_those_of_the_user() -> None:
    assert AugmentOptions().files() == {}
    options = AugmentOptions(gazetteers=("places-es", "/a.parquet"), grammar="/g.toml")
    assert options.files() == {"gazetteers": [Path("/a.parquet")], "grammar": [Path("/g.toml")]}
    assert set(path_fields(AugmentOptions)) == {"gazetteers", "grammar"}

"""Options refuse values without a meaning, and name the files that they read."""

from pathlib import Path

import pytest

from corpus.errors import InputError
from taggers.augmentation import AugmentOptions
from taggers.options import path_fields


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"copies": -1}, "copies = -1: expected 0 or more"),
        ({"weight": -0.1}, r"weight = -0\.1: expected a finite number"),
        ({"weight": float("nan")}, "weight = nan"),
        ({"replace": 1.5}, r"replace = 1\.5: expected 0 to 1"),
        ({"own": -1.0}, r"own = -1\.0: expected 0 to 1"),
        ({"gazetteers": ("",)}, 'gazetteers names ""'),
    ],
)
def test_values_out_of_range_are_named(values: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        AugmentOptions(**values)  # type: ignore[arg-type]


def test_files_are_those_of_the_user() -> None:
    assert AugmentOptions().files() == {}
    options = AugmentOptions(gazetteers=("places-es", "/a.parquet"), grammar="/g.toml")
    assert options.files() == {"gazetteers": [Path("/a.parquet")], "grammar": [Path("/g.toml")]}
    assert set(path_fields(AugmentOptions)) == {"gazetteers", "grammar"}

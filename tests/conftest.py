import os
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings

from gazetteers.gazetteer import Gazetteer

# No deadlines: the first call of a compiled function takes seconds. Continuous integration draws
# the same examples every time; elsewhere each run draws others, so that they add up.
IN_CI = bool(os.environ.get("CI"))
settings.register_profile("fast", deadline=None, max_examples=40, derandomize=IN_CI)
settings.register_profile("thorough", deadline=None, max_examples=200, derandomize=IN_CI)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def hear_interrupts() -> None:
    """Let tests that interrupt be heard: a shell starts background processes deaf to Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def meddocan() -> Path:
    """The folder of the MEDDOCAN splits `train` and `dev`, or a visible skip."""
    folder = DATA / "meddocan"
    if not folder.is_dir():
        pytest.skip("MEDDOCAN is not at ../shared/data/meddocan")
    return folder


@pytest.fixture(scope="session")
def spain() -> Path:
    """The folder of Spanish names and places as they are published, or a visible skip."""
    folder = DATA / "spain"
    if not folder.is_dir():
        pytest.skip("names and places of Spain are not at ../shared/data/spain")
    return folder


@pytest.fixture(scope="session")
def world() -> Path:
    """The folder of the cities and countries of the world, or a visible skip."""
    folder = DATA / "world"
    if not folder.is_dir():
        pytest.skip("cities and countries are not at ../shared/data/world")
    return folder


def _gazetteer(*rows: tuple[str, str, int]) -> Gazetteer:
    terms, classes = (pa.array([row[place] for row in rows], pa.large_string()) for place in (0, 1))
    return Gazetteer(terms, classes, np.array([row[2] for row in rows], np.int64))


@pytest.fixture(scope="session")
def make_gazetteer() -> Callable[..., Gazetteer]:
    """Make a gazetteer of rows: `make_gazetteer(("maria", "given", 20), ("puig", "name", 3))`."""
    return _gazetteer

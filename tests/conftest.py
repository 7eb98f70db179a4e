import signal
from pathlib import Path

import pytest
from hypothesis import settings

# No test is a matter of time: the first call of a compiled function takes seconds.
settings.register_profile("timeless", deadline=None)
settings.load_profile("timeless")

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

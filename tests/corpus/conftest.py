from pathlib import Path

import pytest

from corpus.document import Document
from corpus.errors import Problems
from corpus.formats import read


@pytest.fixture(scope="session")
def gold(meddocan: Path) -> dict[str, list[Document]]:
    """The annotated notes of each MEDDOCAN split."""
    return {split: list(read(meddocan / split, problems=Problems())) for split in ("train", "dev")}

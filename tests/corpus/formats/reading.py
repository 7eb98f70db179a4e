"""Documents of a source, and problems that do not stop."""

from pathlib import Path
from typing import Any

from corpus.document import Document
from corpus.errors import Problems
from corpus.formats import read


def documents(
    source: str | Path, problems: Problems | None = None, **options: Any
) -> list[Document]:
    return list(read(source, problems=problems or Problems(), **options))


def lenient() -> Problems:
    return Problems(conflicts="longest", invalid="skip")

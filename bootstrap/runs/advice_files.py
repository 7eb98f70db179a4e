"""The advice of a run in its folder: ``advice.json`` and ``annotate.txt``."""

from __future__ import annotations

import json
from pathlib import Path

from bootstrap.advice.advice import Advice
from corpus.errors import InputError
from corpus.storage.atomic import write_atomically
from corpus.storage.manifest import manifest_bytes, read_manifest

#: The file with the ids of unlabeled documents to annotate, one a line.
ANNOTATE = "annotate.txt"
#: The file with all of the advice; it is written last.
ADVICE = "advice.json"


def save_advice(folder: Path, advice: Advice) -> None:
    """Write the advice of a run into its folder."""
    ids = "".join(f"{_on_a_line(name)}\n" for name in advice.annotate)
    write_atomically(folder / ANNOTATE, ids.encode())
    write_atomically(folder / ADVICE, manifest_bytes(advice.to_dict()))


def _on_a_line(name: str) -> str:
    """Return an id, or a JSON string if a reader of lines would not find the id as it is."""
    plain = name.isprintable() and name == name.strip() and name and not name.startswith('"')
    return name if plain else json.dumps(name)


def read_advice(folder: Path) -> Advice | None:
    """Read the advice of a run; None if it has none.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    path = folder / ADVICE
    if not path.exists():
        return None
    try:
        return Advice.from_dict(read_manifest(path).description)
    except (InputError, ValueError):
        raise InputError(f"{path} is damaged; remove it, and resume the run to write it") from None

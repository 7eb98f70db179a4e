"""The description of a model: the file ``model.json`` in its folder."""

from __future__ import annotations

from pathlib import Path

from corpus.errors import InputError, shown
from corpus.storage.fields import Fields, parse_json

#: The file of the description.
DESCRIPTION = "model.json"


def read_fields(folder: Path) -> Fields:
    """Read the description of a model, of which nothing has been verified yet.

    Raises
    ------
    InputError
        If the folder is not that of a model.
    """
    path = folder / DESCRIPTION
    what = f"{shown(folder)} is not the folder of a model"
    try:
        if not path.is_file():
            raise InputError(f"it has no {DESCRIPTION}")
        found = Fields(parse_json(path.read_bytes(), DESCRIPTION), DESCRIPTION)
        found.value("kind")
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    except OSError as error:
        raise InputError(f"{what}: {DESCRIPTION}: {error.strerror}") from None
    return Fields(found.values, shown(path))

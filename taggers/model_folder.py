"""The folder of a model: its files and a description in JSON, none of which can change unseen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpus.errors import InputError, shown
from corpus.storage import write_atomically

_DESCRIPTION = "model.json"
#: Formats of folders by the kinds of models; a folder of another format is not read.
_FORMATS = {"crf": 5, "divergence": 1, "dictionary": 1}


def write_model(folder: Path, description: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    """Write a model into a folder that is made if it is not there.

    Parameters
    ----------
    folder : Path
        Where to.
    description : mapping of str to Any
        What JSON can hold; its ``kind`` is one of the kinds of taggers.
    files : mapping of str to bytes
        The content of the files beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():  # a model that was loaded may still read the old file
        write_atomically(folder / name, content)
    digests = {name: _digest(content) for name, content in files.items()}
    whole = {**description, "format": _FORMATS[description["kind"]], "files": digests}
    whole["digest"] = digest_of(whole)
    write_atomically(
        folder / _DESCRIPTION, json.dumps(whole, ensure_ascii=False, indent=1).encode()
    )


def read_description(folder: Path, kind: str) -> dict[str, Any]:
    """Read the description of a model, and check that its files are those that were saved.

    The engines trust what they read, so a damaged file must not get there; with other features or
    labels than those of its training a model would tag without a word.

    Parameters
    ----------
    folder : Path
        Where `write_model` wrote one.
    kind : str
        What is expected there.

    Raises
    ------
    InputError
        If they are not, or are of another version.
    OSError, ValueError, KeyError, TypeError, AttributeError
        If it is the folder of something else.
    """
    description: dict[str, Any] = json.loads((folder / _DESCRIPTION).read_text(encoding="utf-8"))
    for name in ("kind", "format"):
        if name not in description:
            raise InputError(
                f"{folder} is not the folder of a model: {_DESCRIPTION} does not say its {name}"
            )
    if description["kind"] != kind:
        raise InputError(
            f'{folder} holds a model of kind {shown(description["kind"])}; expected "{kind}"'
        )
    if description["format"] != _FORMATS[kind]:
        raise InputError(
            f"{folder} holds a model of format {shown(description['format'])}; this version reads "
            f"format {_FORMATS[kind]}: train it again"
        )
    damaged = "is damaged: it is not the file that was saved"
    if description.get("digest") != digest_of(description):
        raise InputError(f"{folder / _DESCRIPTION} {damaged}")
    for name, digest in description["files"].items():
        if _digest((folder / name).read_bytes()) != digest:
            raise InputError(f"{folder / name} {damaged}")
    return description


def read_digest(folder: Path) -> str:
    """Read the digest of a model, which differs for each content of its folder.

    Raises
    ------
    InputError
        If the folder is not that of a model.
    """
    try:
        digest: str = json.loads((folder / _DESCRIPTION).read_bytes())["digest"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{folder} is not the folder of a model") from None
    return digest


def digest_of(description: Mapping[str, Any]) -> str:
    """Digest what a description says, but for the digest of itself."""
    rest = {name: value for name, value in description.items() if name != "digest"}
    return _digest(json.dumps(rest, sort_keys=True).encode())


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content).hexdigest()

"""The folder of a model: its files and a description in JSON, all checked by digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpus.errors import InputError, shown
from corpus.storage import write_atomically
from taggers.kinds import BUILTIN

_DESCRIPTION = "model.json"


def write_model(
    folder: Path,
    description: Mapping[str, Any],
    files: Mapping[str, bytes],
    *,
    model_format: int | None = None,
) -> None:
    """Write a model into a folder, which is made if it is not there.

    Parameters
    ----------
    folder : Path
        The folder of the model.
    description : mapping of str to Any
        Whatever JSON can hold; its ``kind`` is the kind of the tagger.
    files : mapping of str to bytes
        The content of the files beside it.
    model_format : int, optional
        The version of the folder; that of the registry for a kind of the package, else 1.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():  # a model that was loaded may still read the old file
        write_atomically(folder / name, content)
    digests = {name: _digest(content) for name, content in files.items()}
    version = _format_of(description["kind"], model_format)
    whole = {**description, "format": version, "files": digests}
    whole["digest"] = digest_of(whole)
    write_atomically(
        folder / _DESCRIPTION, json.dumps(whole, ensure_ascii=False, indent=1).encode()
    )


def read_description(folder: Path, kind: str, *, model_format: int | None = None) -> dict[str, Any]:
    """Read the description of a model, and check that its files are those that were saved.

    Engines trust what they read, so that a damaged file must not reach them; with other features
    or labels than those of its training, a model would tag without an error.

    Parameters
    ----------
    folder : Path
        Where `write_model` wrote one.
    kind : str
        The expected kind.
    model_format : int, optional
        The expected version; that of the registry for a kind of the package, else 1.

    Returns
    -------
    dict of str to Any
        As `write_model` received it, with ``format``, ``files`` and ``digest``.

    Raises
    ------
    InputError
        If the folder holds another kind or version, or was changed.
    OSError, ValueError, KeyError, TypeError, AttributeError
        If it is not the folder of a model.
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
    version = _format_of(kind, model_format)
    if description["format"] != version:
        raise InputError(
            f"{folder} holds a model of format {shown(description['format'])}; this version reads "
            f"format {version}: train it again"
        )
    damaged = "is damaged: it is not the file that was saved"
    if description.get("digest") != digest_of(description):
        raise InputError(f"{folder / _DESCRIPTION} {damaged}")
    for name, digest in description["files"].items():
        if _digest((folder / name).read_bytes()) != digest:
            raise InputError(f"{folder / name} {damaged}")
    return description


def _format_of(kind: str, model_format: int | None) -> int:
    if model_format is not None:
        return model_format
    return BUILTIN[kind].model_format if kind in BUILTIN else 1


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
    """Compute the digest of a description, without its own digest."""
    rest = {name: value for name, value in description.items() if name != "digest"}
    return _digest(json.dumps(rest, sort_keys=True).encode())


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content).hexdigest()

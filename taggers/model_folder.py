"""Model folders: the files of a model and a description in JSON, all verified by digests."""

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
    """Write a model into a folder, which is created if it does not exist.

    Parameters
    ----------
    folder : Path
        The folder of the model.
    description : mapping of str to Any
        The description of the model, serialisable as JSON. Its ``kind`` is the kind of the tagger.
    files : mapping of str to bytes
        The contents of the other files, by name.
    model_format : int, optional
        The version of the folder. The default is the version in the registry for a kind of the
        package, and 1 for any other kind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Files are replaced atomically, since a loaded model may still map the previous ones.
    for name, content in files.items():
        write_atomically(folder / name, content)
    digests = {name: _digest(content) for name, content in files.items()}
    version = _format_of(description["kind"], model_format)
    whole = {**description, "format": version, "files": digests}
    whole["digest"] = digest_of(whole)
    write_atomically(
        folder / _DESCRIPTION, json.dumps(whole, ensure_ascii=False, indent=1).encode()
    )


def read_description(folder: Path, kind: str, *, model_format: int | None = None) -> dict[str, Any]:
    """Read the description of a model, and verify the digests of its files.

    Taggers do not validate the files that they read, so that damaged files are detected here. A
    description with changed features or labels would otherwise produce wrong tags without an error.

    Parameters
    ----------
    folder : Path
        A folder that `write_model` wrote.
    kind : str
        The expected kind.
    model_format : int, optional
        The expected version. The default is the version in the registry for a kind of the package,
        and 1 for any other kind.

    Returns
    -------
    dict of str to Any
        The description as it was passed to `write_model`, with the additional keys ``format``,
        ``files`` and ``digest``.

    Raises
    ------
    InputError
        If the model has another kind or version, or one of its files was modified.
    OSError, ValueError, KeyError, TypeError, AttributeError
        If the folder is not that of a model.
    """
    description: dict[str, Any] = json.loads((folder / _DESCRIPTION).read_text(encoding="utf-8"))
    for name in ("kind", "format"):
        if name not in description:
            raise InputError(
                f'{folder} is not the folder of a model: {_DESCRIPTION} lacks the key "{name}"'
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
    """Read the digest of a model, which identifies the content of its folder.

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
    """Compute the digest of a description, excluding its key ``digest``."""
    rest = {name: value for name, value in description.items() if name != "digest"}
    return _digest(json.dumps(rest, sort_keys=True).encode())


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content).hexdigest()

"""Manifests: JSON files that describe a folder, with the digests of its files and of themselves.

A manifest is an object with two keys in addition to what it describes. ``files`` has the digest of
each file by its name. ``digest`` is the digest of the object without this key. Digests show that
nothing has changed since it was written. They do not show who wrote it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from corpus.errors import InputError, unreadable
from corpus.storage.fields import Fields, parse_json, read_content
from corpus.storage.opening import refuse_links

FILES, DIGEST = "files", "digest"

#: The name of a file: no path that leads out of the folder, and nothing hidden.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")

_DAMAGED = "is damaged: it is not the file that was saved"


def manifest_bytes(description: Mapping[str, Any], files: Mapping[str, str] | None = None) -> bytes:
    """Return the content of a manifest.

    Parameters
    ----------
    description : mapping
        What it describes, serialisable as JSON.
    files : mapping of str to str, optional
        The digests of files in the same folder, or in folders of it, by their names. Without them,
        the manifest only protects itself.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    whole = {**description, **({} if files is None else {FILES: dict(files)})}
    # Keys that are numbers become strings, which have another order.
    whole = json.loads(json.dumps(whole, allow_nan=False))
    whole[DIGEST] = digest_of(whole)
    try:
        return f"{json.dumps(whole, ensure_ascii=False, indent=1)}\n".encode()
    except UnicodeEncodeError:  # names of files may have surrogates, which UTF-8 has not
        return f"{json.dumps(whole, indent=1)}\n".encode()


def digest_of(description: Mapping[str, Any]) -> str:
    """Compute the digest of a manifest, excluding its key ``digest``."""
    rest = {name: value for name, value in description.items() if name != DIGEST}
    return digest_of_content(json.dumps(rest, sort_keys=True).encode())


def digest_of_content(content: bytes) -> str:
    """Compute the digest of the content of a file."""
    return hashlib.blake2b(content).hexdigest()


def digest_of_file(path: Path) -> str:
    """Compute the digest of a file, which is not read as a whole.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, hashlib.blake2b).hexdigest()


def digests_of_files(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Compute the digests of files in a folder, by their names."""
    return {name: digest_of_file(folder / name) for name in names}


class Manifest:
    """A manifest that has been read.

    Parameters
    ----------
    path : Path
        Its file.
    fields : Fields
        Its content. `read_manifest` reads it.

    Attributes
    ----------
    fields : Fields
        The description, with the two keys of the manifest.
    digest : str
        The digest of the manifest, and through it of all files that it names.

    Raises
    ------
    InputError
        If its content is not what was saved.
    """

    def __init__(self, path: Path, fields: Fields) -> None:
        self._file = path
        self.fields = fields
        if fields.values.get(DIGEST) != digest_of(fields.values):
            raise InputError(f"{path} {_DAMAGED}")
        self.digest = fields.text(DIGEST)
        self._digests = fields.text_by_key(FILES) if FILES in fields else {}
        for name in self._digests:
            if not _PLAIN.fullmatch(name):
                raise InputError(
                    f"{path} names a file with other characters than letters, digits, full "
                    "stops and hyphens"
                )

    @property
    def description(self) -> dict[str, Any]:
        """What the manifest describes, without the two keys of the manifest."""
        return {
            key: value for key, value in self.fields.values.items() if key not in (FILES, DIGEST)
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files."""
        return tuple(self._digests)

    def path(self, name: str) -> Path:
        """Return the path of a file, which is a plain file and not reached through a link.

        Raises
        ------
        InputError
            If the manifest does not name it, or it is missing.
        """
        path = self._file.parent / name
        refuse_links(path, self._file.parent)
        if name not in self._digests or not path.is_file():
            raise InputError(f"{path.parent} is damaged: it lacks the file {path.name}")
        return path

    def content(self, name: str) -> bytes:
        """Read a file of JSON.

        Raises
        ------
        InputError
            If it is missing or too large, or has changed since it was saved.
        """
        content = read_content(self.path(name))
        if digest_of_content(content) != self._digests[name]:
            raise InputError(f"{self._file.parent / name} {_DAMAGED}")
        return content

    def verify(self, names: Iterable[str] | None = None) -> None:
        """Compare files with their digests.

        Parameters
        ----------
        names : iterable of str, optional
            The files; all by default.

        Raises
        ------
        InputError
            If one of them is missing, or has changed since it was saved.
        """
        for name in self._digests if names is None else names:
            if digest_of_file(self.path(name)) != self._digests[name]:
                raise InputError(f"{self._file.parent / name} {_DAMAGED}")


def read_manifest(path: Path) -> Manifest:
    """Read a manifest.

    Raises
    ------
    InputError
        If the file is missing, is not JSON, or is not what was saved.
    """
    return Manifest(path, read_fields(path))


def read_fields(path: Path) -> Fields:
    """Read the object in a file of JSON, without verifying it.

    Raises
    ------
    InputError
        If it is missing, is no regular file, is too large, or does not contain an object.
    """
    place = str(path)
    try:
        return Fields(parse_json(read_content(path), place), place)
    except OSError as error:
        raise unreadable(path, error) or InputError(
            f"{place} cannot be read: {error.strerror}"
        ) from None

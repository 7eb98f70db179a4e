"""Places: folders of files, here or in an object store, by the filesystems of pyarrow."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.fs as pafs

from corpus.arguments import encodable, is_url
from corpus.errors import InputError
from corpus.formats.sources import files_below
from corpus.storage.atomic import (
    create_folder,
    creation_errors_of,
    write_atomically,
    write_errors_of,
)

_STORES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
_EXPECTED = "expected s3://, gs://, abfs:// or hdfs://, or a folder of this machine"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a place.

    Parameters
    ----------
    name : str
        Its path below the place, with slashes.
    size, modified : int
        Its bytes, and the time of its last change in nanoseconds, which a store may round.
    """

    name: str
    size: int
    modified: int


class Place:
    """A folder of this machine or of an object store; it need not exist.

    Credentials are those of the environment.

    Parameters
    ----------
    name : Path or str
        The path of a folder, or a URL such as ``s3://bucket/notes``.

    Attributes
    ----------
    name : str
        The name, without the parameters of a URL.
    folder : Path or None
        The folder of this machine; None in a store.

    Raises
    ------
    InputError
        If there is no such store, or the URL has a password.
    """

    def __init__(self, name: Path | str) -> None:
        self.folder = None if isinstance(name, str) and is_url(name) else Path(name)
        self.name = str(name)
        if not encodable(self.name):
            raise InputError(f"{self.name}: the name is not UTF-8; rename the folder")
        if self.folder is not None:
            self._path = str(self.folder.absolute())
            self._filesystem: Any = pafs.LocalFileSystem()
            return
        try:
            url = urlsplit(self.name)
            if url.password:
                raise InputError(
                    f"{url.scheme}://: a URL with a password is visible to others; set it in the "
                    "environment, as AWS_SECRET_ACCESS_KEY"
                )
            self.name = f"{url.scheme}://{url.netloc}{url.path}".rstrip("/")
            if url.fragment or url.scheme not in _STORES:
                expected = "expected %23 for a number sign" if url.fragment else _EXPECTED
                raise InputError(f"{self.name} is no place of a store; {expected}")
            self._filesystem, path = pafs.FileSystem.from_uri(str(name))
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(f"{self.name} cannot be opened: {error}; {_EXPECTED}") from None
        self._path = path.rstrip("/")

    def overlaps(self, other: Place) -> bool:
        """Return whether one of two places is in the other, or is the other."""
        if (self.folder is None) != (other.folder is None):
            return False
        if self.folder and other.folder:
            own, others = self.folder.resolve(), other.folder.resolve()
            return own.is_relative_to(others) or others.is_relative_to(own)
        paths = (f"{self._path}/", f"{other._path}/")
        same = self._filesystem.equals(other._filesystem)
        return bool(same and (paths[0].startswith(paths[1]) or paths[1].startswith(paths[0])))

    def entries(self) -> list[Entry]:
        """Return the files of the place at any depth, sorted by name.

        Names with a part that begins with a dot or an underscore are left out: by convention,
        they hold no data.
        """
        if self.folder is None:
            with self._errors("", "listed"):
                selector = pafs.FileSelector(self._path, recursive=True, allow_not_found=True)
                infos = self._filesystem.get_file_info(selector)
            files = (self._entry_of(info) for info in infos)
            entries = [entry for entry in files if entry is not None]
        elif self.folder.is_dir():
            paths = [path.relative_to(self.folder).as_posix() for path in files_below(self.folder)]
            entries = [self._required(name) for name in paths]
        elif self.folder.exists():
            raise InputError(f"{self.name} is a file: name its folder")
        else:
            entries = []
        shown = (entry for entry in entries if not _is_hidden(entry.name))
        return sorted(shown, key=lambda entry: entry.name)

    def entry(self, name: str) -> Entry | None:
        """Return a file; None if there is none of this name."""
        with self._errors(name, "read"):
            return self._entry_of(self._filesystem.get_file_info(self._full(name)))

    def _required(self, name: str) -> Entry:
        if not encodable(name):
            raise InputError(f"{self.name}/{name}: the name of the file is not UTF-8; rename it")
        if (entry := self.entry(name)) is None:
            raise InputError(f"{self.name}/{name} is a link that leads nowhere")
        return entry

    def _entry_of(self, info: Any) -> Entry | None:
        if info.type != pafs.FileType.File:
            return None
        return Entry(info.path[len(self._path) + 1 :], int(info.size), int(info.mtime_ns or 0))

    def open(self, name: str) -> Any:
        """Open a file for reading at any place of it."""
        with self._errors(name, "read"):
            return self._filesystem.open_input_file(self._full(name))

    def read(self, name: str) -> bytes | None:
        """Return the content of a small file; None if there is none of this name."""
        if self.entry(name) is None:
            return None
        with self._errors(name, "read"), self.open(name) as file:
            return bytes(file.read())

    def write(self, name: str, content: bytes) -> None:
        """Write a small file, or replace it at once."""
        if self.folder is not None:
            path = self.folder / name
            with creation_errors_of(path, "written"):
                create_folder(path.parent)
                write_atomically(path, content)
            return
        with (
            self._errors(name, "written"),
            # Nothing is sent before it is closed.
            self._filesystem.open_output_stream(self._full(name)) as file,
        ):
            file.write(content)

    def remove(self, name: str) -> None:
        """Remove a file, if there is one."""
        if self.entry(name) is not None:
            with self._errors(name, "removed"):
                self._filesystem.delete_file(self._full(name))

    def remove_folder(self, name: str) -> None:
        """Remove a folder with everything in it, if there is one."""
        with self._errors(name, "removed"):
            if self._filesystem.get_file_info(self._full(name)).type == pafs.FileType.Directory:
                self._filesystem.delete_dir(self._full(name))

    def fetch(self, name: str, folder: Path) -> Path:
        """Return a file of this machine with the content of a file: a copy of it from a store."""
        if self.folder is not None:
            return self.folder / name
        path = folder / name
        create_folder(path.parent)
        with write_errors_of(path), self._errors(name, "read"):
            self._copy(self._full(name), self._filesystem, str(path), pafs.LocalFileSystem())
        return path

    def upload(self, path: Path, name: str) -> None:
        """Copy a file of this machine to a store, where it appears when it is complete."""
        with self._errors(name, "written"):
            self._copy(str(path), pafs.LocalFileSystem(), self._full(name), self._filesystem)

    @staticmethod
    def _copy(source: str, source_filesystem: Any, target: str, target_filesystem: Any) -> None:
        pafs.copy_files(
            source,
            target,
            source_filesystem=source_filesystem,
            destination_filesystem=target_filesystem,
            use_threads=False,
        )

    def _full(self, name: str) -> str:
        return f"{self._path}/{name}" if name else self._path

    @contextmanager
    def _errors(self, name: str, what: str) -> Iterator[None]:
        """Raise what a filesystem reports as an `InputError` that names the file."""
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            if getattr(error, "errno", None) == errno.ENOSPC:
                raise
            place = f"{self.name}/{name}" if name else self.name
            raise InputError(f"{place} cannot be {what}: {error}") from None


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "_")) for part in name.split("/"))

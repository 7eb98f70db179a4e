"""A pool that reads and tokenizes each batch of its source only once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from bootstrap.self_training.loop import Pool
from corpus.batch import Batch
from corpus.errors import InputError
from corpus.storage.atomic import is_partial, write_atomically
from corpus.storage.fields import parse_json, read_content
from corpus.storage.manifest import digest_of_content, digest_of_file

_DIGESTS = "digests.json"


class CachedPool:
    """A pool with the batches read so far in files, which later passes map into memory.

    Relabelling tags all earlier batches in every iteration: over n iterations, n batches are read
    from the source instead of n (n + 1) / 2. ``NNNN.arrow`` holds a tokenized batch as an Arrow
    IPC stream, and ``digests.json`` the digests of these files. They take about 21 bytes a token,
    four to five times the size of the text, and are as private as it is.

    Parameters
    ----------
    source : Pool
        Yields the batches.
    folder : Path
        The folder of the files; it is created with the first batch.
    reused : int
        Number of batches of an earlier process that are reused, up to the first damaged file.
        Others are read from the source again, which counts their problems again.
    """

    def __init__(self, source: Pool, folder: Path, reused: int = 0) -> None:
        self._source = source
        self._folder = folder
        self._digests = self._intact_digests()[:reused]
        self._remove_others()

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield the batches from number `start` on, reading new ones from the source."""
        number = start
        while number < len(self._digests):
            yield self._load(number)
            number += 1
        first = len(self._digests)
        for number, batch in enumerate(self._source.batches(first), first):
            if number == len(self._digests):
                self._store(batch)
            if number >= start:
                yield batch

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:04d}.arrow"

    def _store(self, batch: Batch) -> None:
        """Write the next batch, then its digest, which makes it usable by a later process."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        data = batch.to_bytes()
        write_atomically(self._path(len(self._digests)), data)
        self._digests.append(digest_of_content(data))
        write_atomically(self._folder / _DIGESTS, json.dumps(self._digests).encode())

    def _load(self, number: int) -> Batch:
        """Map a batch into memory; all of it but the vocabulary stays in the file."""
        with pa.memory_map(str(self._path(number))) as file:
            return Batch.from_bytes(file.read_buffer())

    def _intact_digests(self) -> list[str]:
        """Read the digests of the first files, up to one that is missing or damaged."""
        try:
            digests = parse_json(read_content(self._folder / _DIGESTS), _DIGESTS)
            for number, digest in enumerate(digests):
                path = self._path(number)
                if not path.is_file() or digest_of_file(path) != digest:
                    return list(digests[:number])
        except (InputError, OSError, TypeError):
            return []
        return list(digests)

    def _remove_others(self) -> None:
        """Remove the files of batches that are not used again."""
        kept = {_DIGESTS, *(self._path(number).name for number in range(len(self._digests)))}
        if self._folder.is_dir():
            for path in self._folder.iterdir():
                if path.name not in kept and not is_partial(path):
                    path.unlink()

"""Messages between the training process of a network and the process that started it."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]

_HEADER = struct.Struct("<QQ")


def write_frame(
    stream: IO[bytes], message: Mapping[str, Any], arrays: Arrays | None = None
) -> None:
    """Write a message and arrays.

    Parameters
    ----------
    stream : binary file
        The stream to write to.
    message : mapping
        Serialisable as JSON.
    arrays : dict of str to ndarray, optional
        Arrays without objects.
    """
    text = json.dumps(message).encode()
    content = io.BytesIO()
    if arrays:
        np.savez(content, allow_pickle=False, **arrays)
    stream.write(_HEADER.pack(len(text), content.tell()))
    stream.write(text)
    with content.getbuffer() as view:
        stream.write(view)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], Arrays] | None:
    """Read a message and its arrays; None if the stream ends before."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    text_size, size = _HEADER.unpack(header)
    text, content = stream.read(text_size), stream.read(size)
    if len(text) < text_size or len(content) < size:
        return None
    arrays: Arrays = {}
    if size:
        with np.load(io.BytesIO(content), allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
    return json.loads(text), arrays

"""Machine code on disk: one process compiles it and others load it.

numba keeps it in a folder of the user. The name of the folder has a digest of the source of all
kernels, because numba notices changes of a function, but not of those that it calls.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import itertools
import logging
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numba
import numpy as np
from filelock import FileLock

#: The packages with kernels, and what each module with a kernel contains.
_PACKAGES = ("corpus", "gazetteers", "taggers")
_IMPORT = b"from corpus.kernels.compiled import"

_config: Any = numba.config  # its attributes are made at run time
_types: Any = numba.types

_log = logging.getLogger(__name__)


def compile_all(
    kernels: Iterable[tuple[Any, tuple[str, ...]]], announce: Callable[[], None] | None
) -> None:
    """Load or compile kernels for their signatures; see `corpus.kernels.registry.warm_up`."""
    folder = code_folder()
    with FileLock(folder / "lock") if folder else nullcontext():
        for dispatcher, signatures in kernels:
            for signature in signatures:
                types = _argument_types(ast.parse(signature, mode="eval").body)
                if _compile(dispatcher, types) and announce:
                    announce()
                    announce = None


def _compile(dispatcher: Any, types: Any) -> bool:
    """Load or compile a function, and return whether it was compiled."""
    misses = sum(dispatcher.stats.cache_misses.values())
    while types not in dispatcher.signatures:
        try:
            dispatcher.compile(types)
        except OSError as error:  # a full disk: the function, or one that it calls, is not saved
            _warn(f"machine code cannot be kept ({error.strerror}), and is compiled at every start")
    return bool(sum(dispatcher.stats.cache_misses.values()) > misses)


def _argument_types(node: ast.AST) -> Any:
    """Convert a parsed signature to numba's types."""
    match node:
        case ast.Name(name):
            return getattr(_types, name)
        case ast.Subscript(element, axes):
            dimensions = len(axes.elts) if isinstance(axes, ast.Tuple) else 1
            return _types.Array(_argument_types(element), dimensions, "C")
        case ast.Tuple(parts):
            return tuple(map(_argument_types, parts))
        case ast.Call(ast.Name(name), arguments):
            return getattr(_types, name)(*map(_argument_types, arguments))
        case ast.Constant(value):
            return value
    raise ValueError("a signature of a kernel is not in numba's notation")


@functools.cache
def code_folder() -> Path | None:
    """Return the folder of machine code, or None if it cannot be used."""
    try:
        base = Path(_config.CACHE_DIR).absolute() if _config.CACHE_DIR else _user_cache()
        folder = base / "bootstrap-ner" / f"kernels-{_digest_of_sources()}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError) as error:  # such as a home folder that cannot be determined
        _warn(
            f"machine code cannot be kept ({getattr(error, 'strerror', None) or error}), and is "
            "compiled at every start; to keep it, set NUMBA_CACHE_DIR to a folder of yours"
        )
        return None
    return folder


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _digest_of_sources() -> str:
    """Return a digest of the modules with kernels and of those beside them, for their constants."""
    digest = hashlib.blake2b(f"{numba.__version__} {np.__version__}".encode(), digest_size=8)
    root = Path(__file__).parents[2]
    paths = (path for package in _PACKAGES for path in sorted((root / package).rglob("*.py")))
    for _, folder in itertools.groupby(paths, lambda path: path.parent):
        sources = [path.read_bytes() for path in folder]
        if any(_IMPORT in source for source in sources):
            digest.update(b"".join(sources))
    return digest.hexdigest()


@functools.cache
def _warn(message: str) -> None:
    """Log a warning once, in the process that the user started and not in each of its workers."""
    if multiprocessing.parent_process() is None:
        _log.warning("%s", message)

"""Machine code on disk: one process compiles a function and the others load it.

numba's machine code comes in pickles, and a pickle can run any code when it is loaded. It is
therefore read only from a folder in which nobody else can write (`corpus.kernels.private_folder`),
from a file that the user wrote. That is what protects against others; a secret key in the same
folder would add nothing, since whoever can write there can read the key. What protects against a
damaged disk is the digest of each file, which is checked before anything of it is interpreted.

A file has one function for one signature. Its name identifies these, and the processor; its key
depends on everything that the machine code depends on. A file with another key is that of an older
version, and is replaced. There is no index, so that processes share nothing but whole files.
"""

from __future__ import annotations

import hashlib
import logging
import multiprocessing
import os
import pickle
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from corpus.errors import shown
from corpus.kernels.private_folder import is_own_file, make_private
from corpus.storage.atomic import is_partial, write_atomically

_NAME = "bootstrap-ner"
_MAGIC = b"machine code of bootstrap, 1\n"
_DIGEST = 32  # bytes of a digest, and of a key
_LARGEST = 1 << 28  # bytes of a file; those of this project have less than a million
_UNFINISHED = 3600  # seconds after which nobody is still writing a file

#: Packages whose version is part of every key, and whose functions are therefore not looked into.
_VERSIONED = ("numba", "numpy", "llvmlite", "math", "builtins")

# numba makes the attributes of its configuration at run time, and these functions have no
# annotations.
_config: Any = config
_rebuild: Any = CompileResult._rebuild
_dumps: Any = dumps
_folders: Any = AppDirs

_log = logging.getLogger(__name__)


class CodeFolder:
    """A folder of machine code. No method raises an error: without it, code is compiled.

    Parameters
    ----------
    path : Path
        The folder. It is created when it is first used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._checked = self._readable = self._writable = False
        self._cleaned = self._told = False

    def read(self, name: str, key: bytes) -> bytes | None:
        """Return the content of a file, or None if it is missing, damaged or has another key."""
        if not self._is_usable():
            return None
        try:
            content = _read_own(self.path / name)
        except FileNotFoundError:
            return None
        except OSError:
            content = b""
        head = len(_MAGIC) + _DIGEST
        if content[:head] != _MAGIC + _digest(content[head:]):
            self.discard(name)
            return None
        content = content[head:]
        return content[_DIGEST:] if content[:_DIGEST] == key else None

    def write(self, name: str, key: bytes, content: bytes) -> None:
        """Write a file, replacing one of the same name."""
        if not (self._is_usable() and self._writable):
            return
        content = key + content
        try:
            self._remove_unfinished()
            write_atomically(self.path / name, _MAGIC + _digest(content) + content)
        except OSError as error:
            if os.name == "nt" and (self.path / name).exists():
                return  # another process is reading it
            self._writable = False
            self._warn_of(f"cannot be written ({error.strerror})")

    def discard(self, name: str) -> None:
        """Remove a damaged file, and log that once."""
        if not self._told:
            self._told = True
            _warn(
                f"machine code in {shown(self.path)} is damaged: it is removed and compiled again"
            )
        with suppress(OSError):
            (self.path / name).unlink()

    def _remove_unfinished(self) -> None:
        """Remove what killed processes did not finish, once."""
        if self._cleaned:
            return
        self._cleaned = True
        for path in self.path.iterdir():
            with suppress(OSError):  # it has been finished meanwhile
                if is_partial(path) and time.time() - path.lstat().st_mtime > _UNFINISHED:
                    path.unlink()

    def _is_usable(self) -> bool:
        if not self._checked:
            self._checked = True
            fault = make_private(self.path) if self.path.is_absolute() else "is no absolute path"
            self._readable = self._writable = not fault
            if fault:
                self._warn_of(fault)
        return self._readable

    def _warn_of(self, fault: str) -> None:
        _warn(
            f"{shown(self.path)} {fault}: machine code is not kept there, and is compiled at every "
            "start; to keep it, set NUMBA_CACHE_DIR to a folder that only you can write"
        )


class CodeCache(NullCache):
    """The machine code of a function, in the folder of the user.

    Parameters
    ----------
    function : function
        The function before compilation, which has a source file.
    """

    def __init__(self, function: Any) -> None:
        super().__init__()
        self._function = function

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(_folder().path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for the types of its arguments, or None."""
        target_context.refresh()
        name, key = self._entry(sig, target_context.codegen())
        content = _folder().read(name, key)
        if content is None:
            return None
        try:
            # The file is the user's own, and as it was written: see above.
            return _rebuild(target_context, *pickle.loads(content))  # noqa: S301
        except Exception:  # such as what a class of numba lacks that somebody has patched
            _folder().discard(name)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, unless it contains addresses of this process."""
        if data.library.has_dynamic_globals or not all(each.can_cache for each in data.lifted):
            return
        name, key = self._entry(sig, data.codegen)
        _folder().write(name, key, _dumps(data._reduce()))

    def _entry(self, sig: Any, codegen: Any) -> tuple[str, bytes]:
        """Return the name and the key of the file for the types of the arguments."""
        function = self._function
        source = function.__code__.co_filename
        closure = tuple(cell.cell_contents for cell in function.__closure__ or ())
        identity = (
            *(source, function.__qualname__, str(sig), codegen.magic_tuple()),
            *(sys.implementation.cache_tag, _digest(_dumps(closure)) if closure else b""),
        )
        options = (str(_config.OPT), _config.BOUNDSCHECK)
        state = (identity, _VERSIONS, options, _state_of(function))
        label = re.sub(r"[^A-Za-z0-9_]+", ".", f"{Path(source).stem}.{function.__qualname__}")
        name = f"{label[:80]}-{_digest(repr(identity).encode())[:12].hex()}.code"
        return name, _digest(repr(state).encode())


_VERSIONS = (numba.__version__, llvmlite.__version__, np.__version__)


def is_cachable(function: Any) -> bool:
    """Return whether a function has a source file, by which its versions are distinguished."""
    return Path(function.__code__.co_filename).is_file()


@cache
def _folder() -> CodeFolder:
    """Return the folder of machine code of this process."""
    if _config.CACHE_DIR:
        return CodeFolder(Path(_config.CACHE_DIR).absolute() / _NAME)
    return CodeFolder(Path(_folders(_NAME, False).user_cache_dir) / "kernels")


@cache
def _state_of(function: FunctionType) -> bytes:
    """Return a digest of what the machine code of a function depends on.

    These are the source files of the function and of all that it calls, which are compiled with it,
    and the global variables, which become constants.
    """
    found: set[str] = set()
    for each in _called_by(function):
        code = each.__code__
        found.add(f"{each.__module__} {each.__qualname__} {code.co_firstlineno}")
        found.add(repr(_digest_of_file(code.co_filename)))
        found.update(f"{name} {_constant(each.__globals__.get(name))!r}" for name in _names(code))
    return _digest("\n".join(sorted(found)).encode("utf-8", "surrogatepass"))


def _called_by(function: FunctionType) -> Iterator[FunctionType]:
    """Yield a function and all that are compiled with it, each once."""
    found, waiting = {function}, [function]
    while waiting:
        caller = waiting.pop()
        yield caller
        for name in _names(caller.__code__):
            value = caller.__globals__.get(name)
            value = value.py_func if isinstance(value, Dispatcher) else value
            value = getattr(value, "_defn", value)  # of an intrinsic function
            if (
                isinstance(value, FunctionType)
                and value not in found
                and not _is_versioned(value.__module__)
            ):
                found.add(value)
                waiting.append(value)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the global names that a function and the functions within it use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _constant(value: Any) -> Any:
    """Return what identifies the value of a global variable that becomes a constant."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, _digest(np.ascontiguousarray(value).tobytes())
    if isinstance(value, ModuleType):
        file = getattr(value, "__file__", None)
        return None if file is None or _is_versioned(value.__name__) else _digest_of_file(file)
    if isinstance(value, tuple):
        return tuple(map(_constant, value))
    return value if isinstance(value, int | float | complex | str | bytes | np.generic) else None


def _is_versioned(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _VERSIONED


@cache
def _digest_of_file(path: str) -> bytes:
    try:
        return _digest(Path(path).read_bytes())
    except OSError:  # of a module in an archive
        return b""


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()


def _read_own(path: Path) -> bytes:
    """Read a file that nobody else wrote.

    Raises
    ------
    OSError
        If it cannot be read, is a link, or somebody else can write it.
    """
    descriptor = os.open(
        path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    )
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not is_own_file(status) or status.st_size > _LARGEST:
            raise OSError
        return file.read()


def _warn(message: str) -> None:
    """Log a warning in the process that the user started, and not in each of its workers."""
    if multiprocessing.parent_process() is None:
        _log.warning("%s", message)

"""Compiled functions are compiled ahead of use, for their declared signatures and no others."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.kernels.code_cache import CodeFolder
from corpus.kernels.compiled import compiled, kernel_array
from corpus.kernels.registry import KERNELS, warm_up

KERNEL = """
import numpy as np
from corpus.kernels.code_cache import CodeFolder
from corpus.kernels.compiled import compiled

@compiled()
def doubled(value):
    return 2 * value

@compiled("real[::1]", "int64[:, ::1]")
def first_doubled(values):
    return doubled(values.flat[0])
"""


@pytest.fixture
def only_new_kernels() -> Iterator[None]:
    """Let `warm_up` know the functions of a test alone."""
    before = KERNELS[:]
    KERNELS.clear()
    yield
    KERNELS[:] = before


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the machine code of tests out of the folder of the user."""
    folder = CodeFolder(tmp_path / "code")
    monkeypatch.setattr("corpus.kernels.code_cache._folder", lambda: folder)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, only_new_kernels: None) -> str:
    """A module with compiled functions that nobody has compiled, and its name."""
    (tmp_path / "fresh_kernels.py").write_text(KERNEL)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "fresh_kernels", raising=False)
    return "fresh_kernels"


def without_file() -> Callable[[Any], Any]:
    """Return a compiled function whose machine code cannot be kept anywhere."""
    names: dict[str, Any] = {}
    exec("def doubled(values):\n    return 2 * values.sum()", names)
    function: Callable[[Any], Any] = compiled("real[::1]")(names["doubled"])
    return function


def test_every_declared_signature_is_compiled_and_no_other(module: str) -> None:
    warm_up(module)
    functions = vars(sys.modules[module])
    function = functions["first_doubled"]
    signatures = function.signatures
    assert {str(types[0].dtype) for types in signatures} == {"float32", "float64", "int64"}
    assert functions["doubled"].signatures  # with its callers
    for array in (np.ones(2), np.ones(2, np.float32), np.ones((2, 3), np.int64)):
        assert function(array) == 2
    assert function.signatures == signatures


def test_compilation_is_announced_once_and_not_where_the_code_is_cached(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    announced: list[str] = []
    warm_up(module, announce=lambda: announced.append("first"))
    assert announced == ["first"]
    warm_up(module, announce=lambda: announced.append("compiled"))
    monkeypatch.delitem(sys.modules, module)
    KERNELS.clear()
    warm_up(module, announce=lambda: announced.append("cached"))
    assert vars(sys.modules[module])["first_doubled"].signatures
    assert announced == ["first"]


@pytest.mark.usefixtures("only_new_kernels")
def test_a_function_whose_code_cannot_be_kept_is_compiled_all_the_same() -> None:
    function = without_file()
    assert function(np.arange(4.0)) == 12
    announced: list[str] = []
    warm_up(announce=lambda: announced.append("float32"))
    warm_up(announce=lambda: announced.append("nothing"))
    assert announced == ["float32"]


def test_without_compiled_functions_numba_is_not_imported() -> None:
    script = (
        "import sys; from corpus.kernels.registry import warm_up; warm_up('corpus.streams'); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.usefixtures("only_new_kernels")
@pytest.mark.parametrize(
    "make",
    [
        lambda array, path: array,
        lambda array, path: np.frombuffer(array.tobytes(), array.dtype),
        lambda array, path: np.repeat(array, 2)[::2],
        lambda array, path: np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(array.dtype),
        lambda array, path: np.load(path, mmap_mode="r"),
        lambda array, path: np.load(path, mmap_mode="c"),
    ],
    ids=["own", "read-only", "with gaps", "unaligned", "mapped", "mapped copy-on-write"],
)
def test_arrays_from_anywhere_are_converted_to_the_declared_type(
    make: Callable[[np.ndarray, Path], np.ndarray], tmp_path: Path
) -> None:
    function = without_file()
    warm_up()
    signatures = function.signatures  # type: ignore[attr-defined]
    array = np.arange(4.0)
    np.save(tmp_path / "array.npy", array)
    found = kernel_array(make(array, tmp_path / "array.npy"))
    assert found.tolist() == array.tolist()
    assert function(found) == 12
    assert function.signatures == signatures  # type: ignore[attr-defined]


def test_an_array_that_fits_is_not_copied(tmp_path: Path) -> None:
    array = np.arange(4)
    assert kernel_array(array) is array
    np.save(tmp_path / "array.npy", array)
    mapped = np.load(tmp_path / "array.npy", mmap_mode="c")
    assert np.shares_memory(kernel_array(mapped), mapped)

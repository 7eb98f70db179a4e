"""Compiled functions are compiled ahead of use, for their declared signatures and no others."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.kernels import compiled as compiled_module
from corpus.kernels.compiled import KERNELS, compiled, kernel_array, warm_up

KERNEL = """
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
    (tmp_path / "code").mkdir()
    monkeypatch.setattr(compiled_module, "code_folder", lambda: tmp_path / "code")


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
    return compiled("real[::1]")(names["doubled"])


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
def test_arrays_from_anywhere_are_converted_to_the_declared_type(make, tmp_path) -> None:
    function = without_file()
    warm_up()
    signatures = function.signatures  # type: ignore[attr-defined]
    array = np.arange(4.0)
    np.save(tmp_path / "array.npy", array)
    actual = kernel_array(make(array, tmp_path / "array.npy"))
    assert actual.tolist() == array.tolist()
    assert function(actual) == 12
    assert function.signatures == signatures  # type: ignore[attr-defined]


def test_an_array_that_fits_is_not_copied(tmp_path: Path) -> None:
    array = np.arange(4)
    assert kernel_array(array) is array
    np.save(tmp_path / "array.npy", array)
    mapped = np.load(tmp_path / "array.npy", mmap_mode="c")
    assert np.shares_memory(kernel_array(mapped), mapped)


#: Print the results of kernels, and whether they were compiled.
SCRIPT = """
import sys
import numpy as np
from corpus.kernels.compiled import warm_up
warm_up("fresh_kernels", announce=lambda: print("compiling"))
from fresh_kernels import first_doubled
print(first_doubled(np.ones(2)), first_doubled(np.full((2, 2), 3)))
"""
LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"


class Home:
    """A folder with kernels, and the folder of their machine code."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.base = folder, folder / "cache"
        (folder / "fresh_kernels.py").write_text(KERNEL)

    def start(self, before: str = "") -> "subprocess.Popen[str]":
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(self.base)}
        environment["PYTHONPATH"] = os.pathsep.join([str(self.folder), *sys.path])
        command = [sys.executable, "-c", before + SCRIPT]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=environment, text=True, stdout=pipe, stderr=pipe)

    def run(self, before: str = "") -> tuple[list[str], list[str]]:
        """Return the lines of standard output and of standard error."""
        process = self.start(before)
        out, errors = process.communicate(timeout=600)
        assert process.returncode == 0, (out, errors)
        return out.splitlines(), errors.splitlines()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


RIGHT = "2.0 6"


def test_one_process_compiles_and_others_load(home: Home) -> None:
    assert home.run() == (["compiling", RIGHT], [])
    (folder,) = (home.base / "bootstrap-ner").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert home.run() == ([RIGHT], [])


def test_another_version_of_the_kernels_has_another_folder(tmp_path, monkeypatch) -> None:
    digests = set()
    monkeypatch.setattr(compiled_module, "__file__", str(tmp_path / "corpus/kernels/x.py"))
    for folder, name, content in (
        ("taggers/crf", "kernels", "from corpus.kernels.compiled import compiled"),
        ("taggers/crf", "constants", "FACTOR = 10"),
        ("taggers/crf", "constants", "FACTOR = 20"),
        ("taggers/other", "options", "no kernels are beside this"),
    ):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / f"{name}.py").write_text(content)
        digests.add(compiled_module._digest_of_sources())
    assert len(digests) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of files")
def test_on_a_full_disk_code_is_compiled_and_one_line_says_why(home: Home) -> None:
    home.run()
    assert home.run(LIMITED) == ([RIGHT], [])
    for path in home.base.rglob("*.nb[ci]"):
        path.unlink()
    out, errors = home.run(LIMITED)
    assert out == ["compiling", RIGHT]
    assert len(errors) == 1 and "cannot be kept (File too large)" in errors[0]
    assert home.run() == (["compiling", RIGHT], [])


def test_where_no_folder_can_be_made_code_is_compiled(home: Home) -> None:
    home.base.write_text("a file")
    out, errors = home.run()
    assert out == ["compiling", RIGHT]
    assert len(errors) == 1 and "cannot be kept (Not a directory)" in errors[0]


def test_of_processes_that_start_at_once_one_compiles(home: Home) -> None:
    processes = [home.start() for _ in range(3)]
    results = [process.communicate(timeout=600) for process in processes]
    assert sorted(results) == [(f"{RIGHT}\n", "")] * 2 + [(f"compiling\n{RIGHT}\n", "")]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.slow
def test_killed_processes_leave_what_others_can_use(home: Home) -> None:
    draw = random.Random(0)
    for _ in range(20):
        doomed = home.start()
        time.sleep(draw.uniform(0.5, 3))
        doomed.kill()
        doomed.communicate()
        out, errors = home.run()
        assert (out[-1], errors) == (RIGHT, [])
        for path in home.base.rglob("*.nb[ci]"):
            if draw.random() < 0.5:
                path.unlink()
    home.run()
    assert home.run() == ([RIGHT], [])

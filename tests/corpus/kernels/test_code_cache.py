"""Machine code on disk: only the user's own is loaded, and only as it was written."""

import os
import random
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus.kernels.code_cache import CodeFolder
from corpus.kernels.private_folder import make_private
from corpus.storage.atomic import is_partial, write_atomically

KERNELS = """
import numpy as np
from corpus.kernels.compiled import compiled
from factors import FACTOR, scaled

TABLE = np.array([1.0, 2.0, 4.0])

@compiled("real[::1]")
def total(values):
    result = 0.0
    for value in values:
        result += scaled(value)
    return result

@compiled("float64[::1]")
def looked_up(values):
    return TABLE[len(values) % 3] * FACTOR
"""
FACTORS = """
from corpus.kernels.compiled import compiled

FACTOR = 10

@compiled()
def scaled(value):
    return value * 2
"""

#: Print the results, and what was logged; with an argument, do so in forked processes that damage
#: the folder before.
SCRIPT = """
import sys
import numpy as np
from corpus.kernels.registry import warm_up

def results():
    warm_up("own_kernels", announce=lambda: print("compiling"))
    from own_kernels import looked_up, total
    return total(np.arange(4.0)), total(np.ones(3, np.float32)), looked_up(np.ones(1))

if __name__ == "__main__":
    print(*results())
"""

FUZZ = """
import os, random, sys
from pathlib import Path
import numba, numba.core.codegen, numba.core.compiler
from script import results

folder, number = Path(sys.argv[1]), int(sys.argv[2])
good = {path.name: path.read_bytes() for path in folder.iterdir()}
draw = random.Random(number)

def damaged(content):
    kind = draw.choice(["flip", "flip", "flips", "cut", "empty", "longer", "zeros", "pickle"])
    data = bytearray(content)
    if kind in ("flip", "flips"):
        for _ in range(1 if kind == "flip" else 50):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif kind == "cut":
        del data[draw.randrange(len(data)):]
    elif kind == "empty":
        data.clear()
    elif kind == "longer":
        data += b"x"
    elif kind == "zeros":
        data[len(data) // 2:] = bytes(len(data) - len(data) // 2)
    else:  # which ends the process where it is loaded
        data[data.index(b"\\x80\\x04"):] = b"cos\\n_exit\\n(I7\\ntR."
    return kind, bytes(data)

loaded = sorted(name for name in good if name.startswith("own_kernels"))  # with what they call
for _ in range(number):
    name = draw.choice(loaded)
    kind, data = damaged(good[name])
    (folder / name).write_bytes(data)
    if not (child := os.fork()):
        right = results() == (12.0, 6.0, 20.0)
        os._exit(0 if right and (folder / name).stat().st_size > 1000 else 1)
    code = os.waitpid(child, 0)[1]
    print(kind, "right" if code == 0 else f"ended with {code}", flush=True)
    (folder / name).write_bytes(good[name])
"""

RIGHT = "12.0 6.0 20.0"


class Home:
    """A folder with kernels, and the folder of their machine code."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = folder / "cache"
        self.code = self.base / "bootstrap-ner"
        (folder / "own_kernels.py").write_text(KERNELS)
        (folder / "factors.py").write_text(FACTORS)
        (folder / "script.py").write_text(SCRIPT)
        (folder / "fuzz.py").write_text(FUZZ)

    def start(self, script: str = "script.py", *arguments: str) -> "subprocess.Popen[str]":
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(self.base)}
        environment["PYTHONPATH"] = os.pathsep.join([str(self.folder), *sys.path])
        return subprocess.Popen(
            [sys.executable, str(self.folder / script), *arguments],
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, script: str = "script.py", *arguments: str) -> tuple[list[str], list[str]]:
        """Return the lines of standard output and of standard error."""
        process = self.start(script, *arguments)
        out, errors = process.communicate(timeout=600)
        assert process.returncode == 0, (out, errors)
        return out.splitlines(), errors.splitlines()

    def files(self) -> list[Path]:
        return sorted(self.code.iterdir())


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Kernels that nobody has compiled."""
    return Home(tmp_path)


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Kernels whose machine code is on disk, for all tests of this module."""
    home = Home(tmp_path_factory.mktemp("kernels"))
    assert home.run() == (["compiling", RIGHT], [])
    return home


@pytest.fixture
def compiled_home(shared_home: Home) -> Iterator[Home]:
    """Kernels whose machine code is on disk, which may be damaged."""
    before = {path: path.read_bytes() for path in shared_home.files()}
    yield shared_home
    shared_home.code.chmod(0o700)
    for path in shared_home.files():
        path.unlink()
    for path, content in before.items():
        path.write_bytes(content)
        path.chmod(0o600)


def test_code_is_kept_in_private_files_and_loaded(compiled_home: Home) -> None:
    before = {path: path.stat().st_mtime_ns for path in compiled_home.files()}
    assert len(before) == 5  # scaled for the numbers of both types of arrays
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in before)
    assert stat.S_IMODE(compiled_home.code.stat().st_mode) == 0o700
    assert compiled_home.run() == ([RIGHT], [])
    assert {path: path.stat().st_mtime_ns for path in compiled_home.files()} == before


def test_code_is_compiled_again_when_what_it_calls_or_contains_changes(home: Home) -> None:
    home.run()
    files = home.files()
    for file, before, after, expected in (
        ("factors.py", "value * 2", "value * 3", "18.0 9.0 20.0"),
        ("factors.py", "FACTOR = 10", "FACTOR = 20", "18.0 9.0 40.0"),
        ("own_kernels.py", "2.0, 4.0", "5.0, 4.0", "18.0 9.0 100.0"),
    ):
        path = home.folder / file
        path.write_text(path.read_text().replace(before, after))
        assert home.run() == (["compiling", expected], [])
        assert home.files() == files  # the old code is replaced
    assert home.run() == ([expected], [])


def test_damage_is_found_before_anything_is_loaded(compiled_home: Home) -> None:
    out, errors = compiled_home.run("fuzz.py", str(compiled_home.code), "8")
    lines = [line for line in out if line != "compiling"]
    assert len(lines) == 8 and all(line.endswith("right") for line in lines), out
    assert len(errors) == 8 and all("is damaged: it is removed" in line for line in errors), errors


@pytest.mark.slow
@pytest.mark.parametrize("number", [150, 151])
def test_much_damage_is_found_before_anything_is_loaded(home: Home, number: int) -> None:
    home.run()
    out, errors = home.run("fuzz.py", str(home.code), str(number))
    lines = [line for line in out if line != "compiling"]
    assert len(lines) == number and all(line.endswith("right") for line in lines)
    assert len(errors) == number


def test_files_of_others_links_and_files_of_another_version_are_not_loaded(
    compiled_home: Home,
) -> None:
    home = compiled_home
    first, second, third = (path for path in home.files() if path.name.startswith("own_kernels"))
    content = first.read_bytes()
    first.chmod(0o620)  # as somebody of the group could write it
    elsewhere = home.folder / "elsewhere"
    second.rename(elsewhere)
    second.symlink_to(elsewhere)
    third.write_bytes(content)  # sound, but of another function
    out, errors = home.run()
    assert out == ["compiling", RIGHT]
    assert len(errors) == 1
    assert all(path.is_file() and not path.is_symlink() for path in home.files())
    assert home.run() == ([RIGHT], [])


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no modes")
def test_a_folder_that_others_can_write_is_not_used(compiled_home: Home) -> None:
    home = compiled_home
    for path in home.files():
        path.write_bytes(b"x")
    home.code.chmod(0o770)
    out, errors = home.run()
    assert out == ["compiling", RIGHT]
    assert errors == [
        f"{home.code} is a folder that others can write: machine code is not kept there, and is "
        "compiled at every start; to keep it, set NUMBA_CACHE_DIR to a folder that only you can "
        "write"
    ]
    assert {path.read_bytes() for path in home.files()} == {b"x"}


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no modes")
def test_what_makes_a_folder_unfit_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b" / "c"
    assert make_private(folder) == ""
    assert [stat.S_IMODE(each.stat().st_mode) for each in (folder, *folder.parents[:2])] == [
        0o700
    ] * 3
    (tmp_path / "a").chmod(0o777)
    assert make_private(folder) == "is in a folder that others can write"
    (tmp_path / "a").chmod(0o1777)  # as /tmp
    assert make_private(folder) == ""
    folder.chmod(0o1777)
    assert make_private(folder) == "is a folder that others can write"
    folder.chmod(0o755)
    assert make_private(folder) == ""
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert make_private(link) == "is a link"
    assert make_private(link / "d") == ""  # a folder of the user, in the end
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    assert make_private(tmp_path / "dangling") == "is a link"
    (tmp_path / "file").touch()
    assert make_private(tmp_path / "file") == "is not a folder"
    assert make_private(tmp_path / "file" / "d") == "cannot be used (Not a directory)"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_a_folder_of_another_user_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "theirs" / "cache"
    make_private(folder)
    os.chown(folder, 12345, -1)
    assert make_private(folder) == "is a folder that belongs to another user"
    os.chown(folder, 0, -1)
    os.chown(tmp_path / "theirs", 12345, -1)
    assert make_private(folder) == "is in a folder that belongs to another user"


def _limited(home: Home, size: int) -> tuple[list[str], list[str]]:
    """Run the kernels where no file can have more bytes than this, as if the disk were full."""
    (home.folder / "limited.py").write_text(
        "import resource, script\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        "print(*script.results())\n"
    )
    return home.run("limited.py")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of files")
def test_on_a_full_disk_code_is_compiled_and_one_line_says_why(compiled_home: Home) -> None:
    home = compiled_home
    assert _limited(home, 1000) == ([RIGHT], [])
    for path in home.files():
        path.unlink()
    out, errors = _limited(home, 1000)
    assert out == ["compiling", RIGHT]
    assert len(errors) == 1
    assert f"{home.code} cannot be written (File too large): machine code is not" in errors[0]
    assert not home.files()  # and nothing half-written remains


def test_where_no_folder_can_be_made_code_is_compiled(home: Home) -> None:
    home.base.write_text("a file")
    out, errors = home.run()
    assert out == ["compiling", RIGHT]
    assert len(errors) == 1 and "cannot be used (Not a directory): machine code is" in errors[0]


@pytest.mark.parametrize("number", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_processes_that_start_at_once_share_a_folder(home: Home, number: int) -> None:
    processes = [home.start() for _ in range(number)]
    for process in processes:
        out, errors = process.communicate(timeout=600)
        assert (process.returncode, out.splitlines()[-1], errors) == (0, RIGHT, "")
    assert home.run() == ([RIGHT], [])
    assert len(home.files()) == 5


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("kills", [2, pytest.param(40, marks=pytest.mark.slow)])
def test_killed_processes_leave_what_others_can_use(compiled_home: Home, kills: int) -> None:
    home, draw = compiled_home, random.Random(kills)
    names = {path.name for path in home.files()}
    for _ in range(kills):
        for path in home.files():
            if draw.random() < 0.5:
                path.unlink()
        doomed, other = home.start(), home.start()
        most = draw.randrange(400)  # hundredths of a second: before, while and after it writes
        for tick, _ in enumerate(_ticks(doomed)):
            if tick >= most:
                break
        doomed.kill()
        doomed.communicate()
        out, errors = other.communicate(timeout=600)
        assert (other.returncode, out.splitlines()[-1], errors) == (0, RIGHT, "")
    home.run()
    assert home.run() == ([RIGHT], [])
    finished = {path.name for path in home.files() if not is_partial(path)}
    assert finished >= {name for name in names if name.startswith("own_kernels")}


def test_what_killed_processes_left_is_removed_an_hour_later(tmp_path: Path) -> None:
    write_atomically(tmp_path / "other", b"")
    old, new = (tmp_path / f".name.partial-{digit * 16}" for digit in "ab")
    for path in (old, new):
        path.touch()
    os.utime(old, (0, 0))
    CodeFolder(tmp_path).write("another", b"k" * 32, b"content")
    assert sorted(path.name for path in tmp_path.iterdir()) == [new.name, "another", "other"]


def _ticks(process: "subprocess.Popen[str]") -> Iterator[None]:
    """Yield while a process runs, at most every hundredth of a second."""
    while process.poll() is None:
        try:
            process.wait(0.01)
        except subprocess.TimeoutExpired:
            yield


def test_a_missing_folder_is_made_and_one_that_vanishes_is_no_error(tmp_path: Path) -> None:
    folder = CodeFolder(tmp_path / "new" / "code")
    assert folder.read("name", b"k" * 32) is None
    folder.write("name", b"k" * 32, b"content")
    assert folder.read("name", b"k" * 32) == b"content"
    assert folder.read("name", b"l" * 32) is None
    (folder.path / "name").unlink()
    folder.path.rmdir()
    folder.write("name", b"k" * 32, b"content")
    assert folder.read("name", b"k" * 32) is None

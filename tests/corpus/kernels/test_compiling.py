"""What is told of compiling, and by whom."""

import subprocess
import sys

import pytest

from corpus.kernels.compiled import compiled
from corpus.kernels.compiling import compiling, telling


def compile_anew() -> None:
    names: dict[str, object] = {}
    exec("def same(value):\n    return value", names)  # it has no file to keep it beside
    compiled(names["same"])(1)


def test_the_first_function_is_told_of() -> None:
    told: list[str] = []
    compile_anew()
    with telling(lambda: told.append("first")):
        assert not told
        compile_anew()
        assert told == ["first"]
        compile_anew()
    compile_anew()
    with telling(lambda: told.append("second")):
        pass
    with telling(lambda: told.append("third")):
        compile_anew()
    assert told == ["first", "third"]


def test_only_the_outermost_tells() -> None:
    told: list[str] = []
    with telling(lambda: told.append("outer")):
        with telling(lambda: told.append("inner")):
            compile_anew()
        with telling(lambda: told.append("inner")):
            compile_anew()
        compile_anew()
    assert told == ["outer"]


def test_after_an_error_nobody_is_told_any_more() -> None:
    told: list[str] = []
    with pytest.raises(KeyError), telling(lambda: told.append("it")):
        raise KeyError
    compiling()
    assert not told


def test_what_is_loaded_meanwhile_is_told_of_and_nothing_is_loaded_for_it() -> None:
    script = """
import sys
from corpus.kernels.compiling import telling
with telling(lambda: print("told")):
    assert "numba" not in sys.modules
    from corpus.kernels.compiled import compiled
    names = {}
    exec("def same(value):\\n    return value", names)
    compiled(names["same"])(1)
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    assert done.stdout == b"told\n"

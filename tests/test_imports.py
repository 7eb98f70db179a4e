"""Modules import each other in one direction: there is no circle, not even within a function."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("corpus", "gazetteers", "taggers", "anonymizers", "bootstrap")


def modules_of(paths: Iterator[Path], root: Path) -> dict[str, Path]:
    """Return the files of modules by their names."""
    found = {".".join(path.relative_to(root).with_suffix("").parts): path for path in paths}
    return {name.removesuffix(".__init__"): path for name, path in found.items()}


def imported(path: Path) -> Iterator[tuple[str, str | None]]:
    """Yield each import of a file as a module and a name in it, or a module and None."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def graph_of(modules: Mapping[str, Path]) -> dict[str, set[str]]:
    """Return the modules that each module imports anywhere, also for its types alone."""
    graph = {}
    for name, path in modules.items():
        targets = {
            f"{module}.{what}" if f"{module}.{what}" in modules else module
            for module, what in imported(path)
        }
        graph[name] = (targets & set(modules)) - {name}
    return graph


def assert_no_circle(graph: Mapping[str, set[str]]) -> None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_no_modules_import_each_other() -> None:
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    graph = graph_of(modules_of(paths, ROOT))
    assert len(graph) > 100
    assert "corpus.batch" in graph["taggers.base"]
    assert_no_circle(graph)


def test_no_benchmarks_import_each_other() -> None:
    folder = ROOT / "benchmarks"
    graph = graph_of(modules_of(folder.glob("*.py"), folder))
    assert "meddocan_lines" in graph["census"]
    assert_no_circle(graph)


def test_a_circle_is_found() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"a <- b <- a|b <- a <- b"):
        assert_no_circle({"a": {"b"}, "b": {"a"}})

"""Public names are described, or inherit their description, and examples show what happens."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest

PACKAGES = ("corpus", "gazetteers", "taggers", "anonymizers", "bootstrap")


def modules() -> Iterator[ModuleType]:
    for name in PACKAGES:
        package = importlib.import_module(name)
        yield package
        for info in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not info.name.endswith("__main__"):
                try:
                    yield importlib.import_module(info.name)
                except ModuleNotFoundError:  # of an extra that is not installed
                    continue


def undocumented(module: ModuleType) -> Iterator[str]:
    for name, value in inspect.getmembers(module):
        own = getattr(value, "__module__", "") == module.__name__
        if name.startswith("_") or not own or not (inspect.isclass(value) or callable(value)):
            continue
        if not inspect.getdoc(value):
            yield f"{module.__name__}.{name}"
        if inspect.isclass(value):
            for method, function in vars(value).items():
                described = inspect.isfunction(function) or isinstance(function, property)
                public = described and not method.startswith("_")
                if public and not inspect.getdoc(getattr(value, method)):
                    yield f"{module.__name__}.{name}.{method}"


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_described(package: str) -> None:
    missing = [
        name
        for module in modules()
        if module.__name__.partition(".")[0] == package
        for name in undocumented(module)
    ]
    assert not missing


def test_examples_show_what_happens() -> None:
    results = [doctest.testmod(module) for module in modules()]
    assert sum(result.attempted for result in results) > 0
    assert sum(result.failed for result in results) == 0

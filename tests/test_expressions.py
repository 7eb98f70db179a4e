"""Regular expressions of the packages work in every supported version of Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("corpus", "gazetteers", "taggers", "anonymizers", "bootstrap")

#: A possessive or an atomic group.
POSSESSIVE = re.compile(r"(?<!\\)\)(?:[*+?]|\{[\d,]+\})\+|\(\?>")


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the strings of a module, also parts of formatted ones, with their lines."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            value = node.value
            yield node.lineno, value if isinstance(value, str) else value.decode("latin-1")


def test_no_group_is_possessive() -> None:
    """Python 3.11.0 to 3.11.4 match the wrong text with them, or never end."""
    faults = [
        f"{path.relative_to(ROOT)}:{line}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, text in literals(path)
        if POSSESSIVE.search(text)
    ]
    assert not faults

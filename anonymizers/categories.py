"""Categories: what the classes of a corpus contain, which decides what can replace it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.resources import files

from corpus.storage.fields import parse_toml

_FILE = "categories.toml"


@functools.cache
def builtin_categories() -> Mapping[str, str]:
    """Return the category of each class that this package knows."""
    table = parse_toml((files("anonymizers") / _FILE).read_bytes(), _FILE)
    return {label: category for category, labels in table.items() for label in labels}


#: The category of a class that nobody has described, which a placeholder replaces.
UNKNOWN = "unknown"


@functools.cache
def categories() -> tuple[str, ...]:
    """Return the names of all categories, without `UNKNOWN`."""
    return tuple(dict.fromkeys(builtin_categories().values()))

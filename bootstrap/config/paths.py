"""Paths in a configuration, which are relative to its folder."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from bootstrap.config.active_options import ActiveOptions
from bootstrap.config.options import DataOptions
from bootstrap.config.overrides import Source
from corpus.corpora import is_synthetic
from taggers.augmentation import AugmentOptions
from taggers.options import TaggerOptions, path_fields

OptionsT = TypeVar("OptionsT", DataOptions, TaggerOptions, AugmentOptions, ActiveOptions)


def located(options: OptionsT, section: str, source: Source) -> OptionsT:
    """Convert the path options of a section, which their metadata marks, to absolute paths."""
    return replace(
        options,
        **{
            name: _absolute(getattr(options, name), builtin, source.folder_of(section, name))
            for name, builtin in path_fields(type(options)).items()
        },
    )


def _absolute(value: Any, builtin: Sequence[str], folder: Path) -> Any:
    """Convert a path, or each of several, to an absolute one, except for builtin resources."""
    if isinstance(value, tuple):
        return tuple(_absolute(each, builtin, folder) for each in value)
    if not value or is_synthetic(value) or value in builtin:
        return value
    path = Path(value)
    with contextlib.suppress(RuntimeError):  # ~NAME of no user is the name of a file, as in a shell
        path = path.expanduser()
    return str((folder / path).absolute())

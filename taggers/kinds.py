"""The registry of taggers: the kinds of the package, and those of other packages.

A kind of another package is found by an entry point of the group ``bootstrap.taggers``, or by its
path, ``kind = "package.module:Class"``. Its class follows `taggers.base.Tagger` and has

- ``kind``: the name of the entry point, or the path;
- ``options_type``: a subclass of `taggers.options.TaggerOptions`, which the constructor takes;
- optionally ``needs_seed = False``, if it is fitted without annotated documents and has its labels
  from the beginning: then it is a kind of ``[initial_model]``;
- optionally ``model_format``, the version of its model folder.

Importing a module executes it. A path is therefore imported only where the user's own
configuration names it, never because the folder of a model does: a folder may come from somebody
else.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from corpus.errors import InputError, shown
from taggers.base import Tagger
from taggers.options import TaggerOptions

#: Of entry points; the name of each is that of a kind.
GROUP = "bootstrap.taggers"

_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_METHODS = ("fit", "tag", "save", "load")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of tagger.

    Parameters
    ----------
    name : str
        As in a configuration and in ``model.json``.
    tagger : str
        Its class, as ``"package.module:Class"``; imported when it is used.
    options : str
        The class of its options; empty for the attribute ``options_type`` of the tagger.
    model_format : int
        The version of its model folder: a folder of another version is not read.
    needs_seed : bool
        Whether it learns from annotated documents.
    """

    name: str
    tagger: str
    options: str = ""
    model_format: int = 1
    needs_seed: bool = True

    def tagger_type(self) -> type[Any]:
        """Import the class of the tagger."""
        found: type[Any] = _imported(self.tagger)
        return found

    def options_type(self) -> type[TaggerOptions]:
        """Import the class of the options."""
        found: type[TaggerOptions] = (
            _imported(self.options) if self.options else self.tagger_type().options_type
        )
        return found


#: The kinds of the package, by name.
BUILTIN = {
    kind.name: kind
    for kind in (
        Kind("crf", "taggers.crf.tagger:CRFTagger", "taggers.crf.crf_options:CRFOptions", 5),
        Kind(
            "divergence",
            "taggers.dictionaries.divergence:DivergenceTagger",
            "taggers.dictionaries.dictionary_options:DivergenceOptions",
            needs_seed=False,
        ),
        Kind(
            "dictionary",
            "taggers.dictionaries.binary:DictionaryTagger",
            "taggers.dictionaries.dictionary_options:DictionaryOptions",
            needs_seed=False,
        ),
    )
}


def find_kind(name: str, *, trusted: Collection[str] = ()) -> Kind:
    """Find a kind of tagger.

    Parameters
    ----------
    name : str
        The name of a kind of the package or of an entry point, or the path of a class.
    trusted : collection of str
        Names that the user's configuration holds: of paths, only these are imported.

    Raises
    ------
    InputError
        If there is no such kind, or its class is not that of a tagger.
    """
    if not isinstance(name, str):
        raise InputError(f'kind = "{name}" is unknown; known are {", ".join(known_kinds())}')
    if name in BUILTIN:
        return BUILTIN[name]
    for entry in _plugins():
        if entry.name == name:
            return _plugin(name, f"{entry.module}:{entry.attr}")
    if not _PATH.fullmatch(name):
        raise InputError(
            f'kind = "{shown(name)}" is unknown; known are {", ".join(known_kinds())}, and '
            "package.module:Class of another package"
        )
    if name not in trusted:
        raise InputError(
            f'kind = "{name}" is not imported, since no entry point and no configuration of a run '
            "names it"
        )
    return _plugin(name, name)


def known_kinds(*, needs_seed: bool | None = None) -> list[str]:
    """Return the names of the kinds of the package and of entry points.

    Parameters
    ----------
    needs_seed : bool, optional
        Only those of the package that do, or do not, learn from annotated documents; what entry
        points name is not imported for this.
    """
    own = [kind.name for kind in BUILTIN.values() if needs_seed in (None, kind.needs_seed)]
    return [*own, *sorted({entry.name for entry in _plugins()} - set(BUILTIN))]


def make_tagger(kind: str, options: TaggerOptions) -> Tagger:
    """Construct an untrained tagger of a kind that the caller trusts (see `find_kind`)."""
    tagger: Tagger = find_kind(kind, trusted=(kind,)).tagger_type()(options)
    return tagger


def load_tagger(folder: Path, *, trusted: Collection[str] = ()) -> Tagger:
    """Read a tagger of whatever kind from its folder.

    Parameters
    ----------
    folder : Path
        Where `Tagger.save` wrote it.
    trusted : collection of str
        Kinds that the configuration of the run names (see `find_kind`). A folder alone cannot make
        a module be imported.

    Raises
    ------
    InputError
        If the folder holds no model, or one of a kind that is not known or not trusted.
    """
    try:
        kind = json.loads((folder / "model.json").read_text(encoding="utf-8"))["kind"]
    except KeyError:
        raise InputError(
            f"{folder} is not the folder of a model: model.json does not say its kind"
        ) from None
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder} is not the folder of a model: {error}") from error
    try:
        found = find_kind(kind, trusted=trusted)
    except InputError as error:
        raise InputError(f"{folder} holds a model of another kind: {error}") from None
    tagger: Tagger = found.tagger_type().load(folder)
    return tagger


def _plugins() -> list[EntryPoint]:
    return list(entry_points(group=GROUP))


def _plugin(name: str, path: str) -> Kind:
    """Import the class of a kind of another package, and check that it is one."""
    try:
        tagger = _imported(path)
    except Exception as error:  # whatever executing a module raises
        raise InputError(
            f'kind = "{name}": {path} cannot be imported: {type(error).__name__}: {error}'
        ) from error
    if fault := _fault(tagger, name):
        raise InputError(f'kind = "{name}": {path} is not the class of a tagger: {fault}')
    return Kind(
        name,
        path,
        model_format=getattr(tagger, "model_format", 1),
        needs_seed=getattr(tagger, "needs_seed", True),
    )


def _fault(tagger: Any, name: str) -> str:
    """Describe what a class lacks to be that of a tagger; nothing if it lacks nothing."""
    if not isinstance(tagger, type):
        return "it is not a class"
    for method in _METHODS:
        if not callable(getattr(tagger, method, None)):
            return f"it has no method {method}"
    options = getattr(tagger, "options_type", None)
    if not (isinstance(options, type) and issubclass(options, TaggerOptions)):
        return "its options_type is not a subclass of taggers.options.TaggerOptions"
    if getattr(tagger, "kind", None) != name:
        return f'its attribute kind must be "{name}", the name by which it is found'
    return ""


def _imported(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)

"""The registry of taggers: kinds of this package and of other packages.

A kind of another package is registered by an entry point of the group ``bootstrap.taggers``, or
named by its import path, ``kind = "package.module:Class"``. Its class implements the protocol
`taggers.base.RegisteredTagger` and has these attributes:

- ``kind``: the name of the entry point, or the import path;
- ``options_type``: a subclass of `taggers.options.TaggerOptions`; the constructor takes an instance
  of it;
- ``needs_seed`` (optional): False if the tagger is fitted without annotated documents and has its
  labels before training. It is then a kind of ``[initial_model]``.

Importing a module executes its code. An import path is therefore imported only if the user names
it, in a configuration, in ``--trust`` or in ``trust``, and never because the folder of a model or
a run does, since the folder may come from an untrusted source.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from corpus.errors import InputError
from taggers.base import Tagger
from taggers.model_folder import read_fields, read_file_of_model
from taggers.options import TaggerOptions
from taggers.patterns import PATTERNS_FILE

#: The group of entry points; the name of an entry point is the name of a kind.
GROUP = "bootstrap.taggers"

_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_METHODS = ("fit", "tag", "save", "load")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of tagger.

    Parameters
    ----------
    name : str
        The name in a configuration and in ``model.json``.
    tagger : str
        The class of the tagger, as ``"package.module:Class"``; it is imported at first use.
    options : str
        The class of the options, in the same form; if empty, the attribute ``options_type`` of the
        tagger is used.
    needs_seed : bool
        Whether training requires annotated documents.
    """

    name: str
    tagger: str
    options: str = ""
    needs_seed: bool = True

    def tagger_type(self) -> type[Any]:
        """Import and return the class of the tagger."""
        tagger: type[Any] = _imported(self.tagger)
        return tagger

    def options_type(self) -> type[TaggerOptions]:
        """Import and return the class of the options."""
        options: type[TaggerOptions] = (
            _imported(self.options) if self.options else self.tagger_type().options_type
        )
        return options


#: The kinds of the package, by name.
BUILTIN = {
    kind.name: kind
    for kind in (
        Kind("crf", "taggers.crf.crf_tagger:CRFTagger", "taggers.crf.crf_options:CRFOptions"),
        Kind(
            "bilstm-crf",
            "taggers.networks.bilstm_crf:BiLSTMCRFTagger",
            "taggers.networks.network_options:BiLSTMCRFOptions",
        ),
        Kind(
            "tccnn",
            "taggers.ngrams.tccnn_tagger:TCCNNTagger",
            "taggers.ngrams.tccnn_options:TCCNNOptions",
        ),
        Kind(
            "spacy",
            "taggers.spacy_ner.spacy_tagger:SpacyTagger",
            "taggers.spacy_ner.spacy_options:SpacyOptions",
        ),
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
        Kind(
            "lists",
            "taggers.dictionaries.list_tagger:ListTagger",
            "taggers.dictionaries.dictionary_options:ListOptions",
            needs_seed=False,
        ),
        Kind(
            "patterns",
            "taggers.patterns.pattern_tagger:PatternTagger",
            "taggers.patterns.pattern_options:PatternOptions",
            needs_seed=False,
        ),
        Kind(
            "ensemble",
            "taggers.ensemble.tagger:EnsembleTagger",
            "taggers.ensemble.ensemble_options:EnsembleOptions",
        ),
    )
}


def find_kind(name: str, *, trust: Collection[str] = ()) -> Kind:
    """Return the kind of tagger of a name.

    Parameters
    ----------
    name : str
        The name of a kind of the package or of an entry point, or the import path of a class.
    trust : collection of str
        Names that the user has given. Only these import paths are imported.

    Returns
    -------
    Kind

    Raises
    ------
    InputError
        If the kind is unknown or not trusted, or its class does not implement a tagger.
    """
    if not isinstance(name, str):
        raise InputError(f'kind = "{name}" is unknown; known are {", ".join(known_kinds())}')
    if name in BUILTIN:
        return BUILTIN[name]
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            return _plugin(name, f"{entry.module}:{entry.attr}")
    if not _PATH.fullmatch(name):
        raise InputError(
            f'kind = "{name}" is unknown; known are {", ".join(known_kinds())}, and '
            "package.module:Class of another package"
        )
    if name not in trust:
        raise InputError(
            f'kind = "{name}" is the code of another package, which no folder of a model or a run '
            f'can import; if you trust it, add --trust {name} (in Python: trust=["{name}"])'
        )
    return _plugin(name, name)


def known_kinds(*, needs_seed: bool | None = None) -> list[str]:
    """Return the names of the kinds of the package and of entry points.

    Parameters
    ----------
    needs_seed : bool, optional
        Select the kinds of the package that require annotated documents, or those that do not. The
        kinds of entry points are always listed, because selecting them would import them.
    """
    own = [kind.name for kind in BUILTIN.values() if needs_seed in (None, kind.needs_seed)]
    return [*own, *sorted({entry.name for entry in entry_points(group=GROUP)} - set(BUILTIN))]


def make_tagger(kind: str, options: TaggerOptions) -> Tagger:
    """Construct an untrained tagger of a kind that the caller trusts (see `find_kind`)."""
    tagger: Tagger = find_kind(kind, trust=(kind,)).tagger_type()(options)
    return tagger


def load_tagger(folder: Path, *, trust: Collection[str] = ()) -> Tagger:
    """Read a tagger of any kind from its model folder, with the patterns before it if it has some.

    Parameters
    ----------
    folder : Path
        A folder that `Tagger.save` wrote.
    trust : collection of str
        Kinds that the user has named (see `find_kind`). A model folder alone never causes an import
        path to be imported.

    Returns
    -------
    Tagger

    Raises
    ------
    InputError
        If the folder holds no model, or its kind is unknown or not trusted.
    """
    fields = read_fields(folder)
    kind = fields.text("kind")
    try:
        known = find_kind(kind, trust=trust)
    except InputError as error:
        raise InputError(f"{folder} holds a model of another kind: {error}") from None
    tagger: Tagger = known.tagger_type().load(folder)
    # A model of another package need not list its files.
    path, listed = folder / PATTERNS_FILE, fields.values.get("files") or ()
    if not path.exists() and path.name not in listed:
        return tagger
    from taggers.patterns.first import PatternsFirst  # noqa: PLC0415 - not always used

    return PatternsFirst.from_file(tagger, read_file_of_model(folder, path.name) or b"", path)


def _plugin(name: str, path: str) -> Kind:
    """Import the class of a kind of another package, and check that it implements a tagger."""
    try:
        tagger = _imported(path)
    except Exception as error:  # executing a module can raise any exception
        is_missing = isinstance(error, ModuleNotFoundError)
        remedy = "; install it, or add its folder to PYTHONPATH" if is_missing else ""
        raise InputError(
            f'kind = "{name}": {path} cannot be imported: {type(error).__name__}: {error}{remedy}'
        ) from error
    if fault := _fault(tagger, name):
        raise InputError(f'kind = "{name}": {path} is not the class of a tagger: {fault}')
    return Kind(name, path, needs_seed=getattr(tagger, "needs_seed", True))


def _fault(tagger: Any, name: str) -> str:
    """Return why a class does not implement a tagger; an empty string if it does."""
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

"""The kinds of taggers: made from their options, or read from their folders."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from corpus.errors import InputError
from taggers.base import Tagger
from taggers.crf import CRFOptions
from taggers.dictionaries.dictionary_options import DictionaryOptions, DivergenceOptions

#: The options of each kind of tagger that learns from annotated notes, by the name it has in the
#: configuration.
OPTIONS: dict[str, type[Any]] = {"crf": CRFOptions}
#: The same of those that need no annotated notes, only dictionaries of names.
START_OPTIONS: dict[str, type[Any]] = {
    "divergence": DivergenceOptions,
    "dictionary": DictionaryOptions,
}

# Where each kind is. Some are slow to import, and are when they are used.
_TAGGERS = {
    "crf": ("taggers.crf", "CRFTagger"),
    "divergence": ("taggers.dictionaries.divergence", "DivergenceTagger"),
    "dictionary": ("taggers.dictionaries.binary", "DictionaryTagger"),
}


def make_tagger(kind: str, options: Any) -> Tagger:
    """Make an untrained tagger of a kind named in `OPTIONS` or `START_OPTIONS`."""
    tagger: Tagger = _type_of(kind)(options)
    return tagger


def _type_of(kind: str) -> type[Any]:
    module, name = _TAGGERS[kind]
    found: type[Any] = getattr(importlib.import_module(module), name)
    return found


def load_tagger(folder: Path) -> Tagger:
    """Read a tagger of whatever kind from its folder.

    Raises
    ------
    InputError
        If the folder holds no model, or one of a kind that is not known.
    """
    try:
        kind = json.loads((folder / "model.json").read_text(encoding="utf-8"))["kind"]
    except KeyError:
        raise InputError(
            f"{folder} is not the folder of a model: model.json does not say its kind"
        ) from None
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder} is not the folder of a model: {error}") from error
    if kind not in list(_TAGGERS):  # not all that JSON can hold can be looked up in a dict
        raise InputError(f'{folder} holds a model of kind "{kind}"; known are {list(_TAGGERS)}')
    tagger: Tagger = _type_of(kind).load(folder)
    return tagger

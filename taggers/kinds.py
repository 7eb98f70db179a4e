"""The kinds of taggers: made from their options, or read from their folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from corpus.errors import InputError
from taggers.crf import CRFOptions, CRFTagger
from taggers.tagger import Tagger

#: The options of each kind of tagger, by the name it has in the configuration.
OPTIONS: dict[str, type[Any]] = {"crf": CRFOptions}
_TAGGERS: dict[str, type[Any]] = {"crf": CRFTagger}


def make_tagger(kind: str, options: Any) -> Tagger:
    """Make an untrained tagger of a kind named in `OPTIONS`."""
    tagger: Tagger = _TAGGERS[kind](options)
    return tagger


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
    tagger: Tagger = _TAGGERS[kind].load(folder)
    return tagger

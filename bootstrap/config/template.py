"""The configuration to start from: every setting with its meaning and its default."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import tomli_w

from bootstrap.config.configuration import SEED, DataOptions
from bootstrap.config.options import LoopOptions, SelectOptions, StartOptions
from gazetteers.builtin import STARTER
from taggers import OPTIONS, START_OPTIONS


def commented_template() -> str:
    """Write a configuration file with every setting, its meaning and its default.

    Tables that are empty by default stand in comments, as an example: TOML has no way to add to
    ``rules = {}`` by a section.
    """
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "# A self-training run. Check it with: bootstrap check THIS_FILE"
    yield "# Paths are relative to the folder of this file."
    yield from _section("data", DataOptions())
    yield ""
    yield "# Classes by the labels of the source. With this section, other labels are dropped."
    yield "# [labels]"
    yield '# NOMBRE_SUJETO_ASISTENCIA = "PERSON"'
    yield '# HOSPITAL = "LOCATION"'
    yield ""
    yield "[start]"
    yield f'# What iteration 0 is: "{SEED}", trained on the seed, or a model that needs none.'
    yield f'kind = "{SEED}"'
    for kind, options in START_OPTIONS.items():
        yield f'# With kind = "{kind}" (see docs/starting.md):'
        yield from _commented(options(names=(STARTER,)))
        yield from _commented(StartOptions())
    for kind, options in OPTIONS.items():
        yield from _section("tagger", options(), first=f'kind = "{kind}"')
    yield from _section("loop", LoopOptions())
    yield from _section("select", SelectOptions())
    yield ""
    yield "# The proportions to keep, where they are not to be measured on the validation notes."
    yield "# [select.reference]"
    yield "# empty = 0.85                                   # share of documents without entities"
    yield "# per_token = { PERSON = 0.0028, LOCATION = 0.006 }  # entities per token"
    yield "# length = { PERSON = 1.2, LOCATION = 1.8 }          # mean tokens of an entity"
    yield ""


def _section(name: str, options: Any, first: str = "") -> Iterator[str]:
    yield ""
    yield f"[{name}]"
    if first:
        yield first
    for item in fields(options):
        value = getattr(options, item.name)
        yield f"# {item.metadata['help']}"
        if value == {}:
            yield f"# {item.name} = {item.metadata['example']}"
        else:
            yield _setting(item.name, value)


def _commented(options: Any) -> Iterator[str]:
    """Write settings of another kind than the default, in comments."""
    for item in fields(options):
        yield f"# # {item.metadata['help']}"
        yield f"# {_setting(item.name, getattr(options, item.name))}"


def _setting(name: str, value: Any) -> str:
    if isinstance(value, tuple):
        return f"{name} = [{', '.join(tomli_w.dumps({'x': item})[4:].strip() for item in value)}]"
    return tomli_w.dumps({name: value}).strip()

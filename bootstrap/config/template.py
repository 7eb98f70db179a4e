"""The configuration that ``bootstrap init`` writes: every setting, its help and its default."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from textwrap import wrap

from bootstrap.config.settings import OTHER_KINDS, SettingRow, setting_rows
from bootstrap.config.tagger_sections import DEFAULT_KIND

_WIDTH = 100  # of comments

#: The pages about kinds of taggers; those of the others are dictionary models.
_TOPICS = {"bilstm-crf": "networks", "ensemble": "ensembles"}

#: Sections that a configuration may lack, and what they are for.
_OPTIONAL = {
    "select.reference": "Reference proportions of the classes; by default those of the validation "
    "documents.",
    "active": "Active learning (bootstrap active): rounds of documents that are annotated.",
}

_LABELS = """\

# The class of each label of the source. With this section, labels without a class are dropped.
# [labels]
# NOMBRE_SUJETO_ASISTENCIA = "PERSON"
# HOSPITAL = "LOCATION"
"""


def commented_template() -> str:
    """Write a configuration file with every setting, its help and its default.

    Settings without a default, or with an empty table, are comments with an example: in TOML, a
    section cannot extend ``rules = {}``.
    """
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Configuration of a self-training run. Check it with: bootstrap check THIS_FILE"
    yield "# Paths are relative to the folder of this file."
    for section, rows in groupby(setting_rows(), lambda row: row.section):
        if section in _OPTIONAL:
            yield from _optional(section, rows)
            continue
        yield ""
        yield f"[{section}]"
        for kind, of_kind in groupby(rows, lambda row: row.kind):
            if kind in ("", DEFAULT_KIND):
                yield from _settings(of_kind)
            elif kind == OTHER_KINDS:
                yield "# With other kinds, whose settings are those of [tagger]:"
                yield from _commented(of_kind)
            else:
                topic = _TOPICS.get(kind, "dictionary-models")
                yield f'# With kind = "{kind}" (bootstrap help {topic}):'
                yield from _commented(of_kind)
        if section == "data":
            yield from _LABELS.rstrip("\n").split("\n")


def _settings(rows: Iterable[SettingRow]) -> Iterator[str]:
    for row in rows:
        yield from _help(row, "# ")
        if row.example:
            yield f"# {row.key} = {row.example}"
        else:
            yield f"{row.key} = {row.default}"


def _commented(rows: Iterable[SettingRow]) -> Iterator[str]:
    """Write settings of another kind than the default, in comments."""
    for row in rows:
        yield from _help(row, "# # ")
        yield f"# {row.key} = {row.example or row.default}"


def _optional(section: str, rows: Iterable[SettingRow]) -> Iterator[str]:
    """Write a section in comments, because its presence has an effect."""
    yield ""
    yield f"# {_OPTIONAL[section]}"
    yield f"# [{section}]"
    yield from _commented(rows)


def _help(row: SettingRow, prefix: str) -> list[str]:
    return wrap(row.help, _WIDTH, initial_indent=prefix, subsequent_indent=prefix)

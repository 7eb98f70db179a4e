"""``bootstrap export``: export of a model that reveals less of its training notes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from bootstrap.cli.console import print_lines, report_problems
from bootstrap.cli.inputs import problems_of, read_gold
from bootstrap.cli.parser import KEPT_PARTS
from bootstrap.export import Exported, export_model
from taggers.privacy.pruning import Pruning

#: The names of what the parts that can be kept consist of.
_CONTENTS = (
    ("words of lists of names", "words of lists of places"),
    ("phrases", "phrases of places", "cue words"),
    ("words with a cluster",),
    ("words with a vector",),
)
_AS_TEXT = ("phrases", "phrases of places", "cue words", "patterns")
#: What follows the names of the parts of the list model of a CRF.
_OF_LISTS = " (list model)"


def main(options: argparse.Namespace) -> None:
    """Export a model and report its contents and F1."""
    problems = problems_of(options)
    pruning = Pruning.from_choices(
        options.min_patients,
        hash_names=options.hash_names,
        keep=options.keep or (),
        public=options.public or (),
    )
    gold = read_gold(options, problems)
    exported = export_model(
        options.model, options.target, pruning=pruning, gold=gold, trust=options.trust
    )
    report_problems(problems)
    print_lines(*_lines(exported, options))


def _lines(exported: Exported, options: argparse.Namespace) -> Iterator[str]:
    yield f"{options.target}: {exported.bytes / 1e6:.1f} MB"
    before, after = exported.contents
    for part, number in before.items():
        yield f"{part}: {after.get(part, 0):,} of {number:,} kept{_how_to_keep(part, options)}"
    yield (
        f"what occurs in the training notes of fewer than {options.min_patients:,} patients was "
        "dropped (a document of an unknown patient counts as one of its own)"
        if options.min_patients > 1
        else "nothing was dropped for occurring in the notes of few patients (--min-patients 1)"
    )
    if options.hash_names:
        yield from _hash_lines(exported)
    if exported.f1 is None:
        yield "F1 was not measured; name annotated notes with --gold"
        return
    first, second = exported.f1
    yield (
        f"F1 on {exported.documents:,} annotated documents: {first:.4f} before, {second:.4f} after"
    )


def _how_to_keep(part: str, options: argparse.Namespace) -> str:
    """Return what a part of the model was kept by, or would be."""
    part = part.removesuffix(_OF_LISTS)
    for name, parts in zip(KEPT_PARTS, _CONTENTS, strict=True):
        if part in parts and name in (options.keep or ()):
            return f" (--keep {name})"
        if part in parts and name in {"names", "phrases"}:
            return f" (of public lists; --public LIST or --keep {name} keeps others)"
        if part in parts:
            return f" (--keep {name} keeps all)"
    return " (as written)" if part in _AS_TEXT else ""


def _hash_lines(exported: Exported) -> Iterator[str]:
    kept = exported.contents[1]
    parts = [part + suffix for suffix in ("", _OF_LISTS) for part in _AS_TEXT]
    as_text = {part: number for part in parts if (number := kept.get(part, 0))}
    text = ", ".join(f"{number:,} {part}" for part, number in as_text.items())
    yield (
        "words are stored as hashes with a key, which is in the model, since words have to be "
        "looked up: anyone who has the model and a list of words can test which of them it contains"
    )
    if text:
        yield f"stored as text: {text}"

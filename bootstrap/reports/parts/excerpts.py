"""Errors of a run in their text, which is read again from the files of its configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from bootstrap.config.configuration import load_configuration
from bootstrap.data.fingerprint import fingerprint
from bootstrap.data.splits import read_labelled
from bootstrap.reports.content import Block, Excerpt, Folded, Paragraph
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts.errors import NONE, class_of
from bootstrap.runs.folder import Run
from bootstrap.runs.records import RunError, TaggingError
from corpus.error_analysis import ERROR_KINDS
from corpus.errors import shown

#: The number of errors of a kind and class that are shown, and the characters around each.
EXAMPLES, CONTEXT = 5, 60
_SPLIT = "validation"


def excerpt_blocks(record: RunRecord) -> tuple[Block, ...]:
    """Return the first errors of each kind and class in the best iteration, with their text.

    Raises
    ------
    RunError
        If the errors were not recorded, or if a file of the validation documents has changed.
    InputError
        If the files cannot be read.
    """
    errors = record.errors
    if errors is None:
        raise RunError(f"{shown(record.run.folder)} has not recorded its errors; begin a new run")
    texts = _validation_texts(record.run)
    excerpts: dict[str, list[Block]] = {}
    number: Counter[tuple[str, str]] = Counter()
    for tagging_error in errors:
        kind = tagging_error.error.kind
        key = (kind, class_of(tagging_error.error))
        number[key] += 1
        if number[key] <= EXAMPLES:
            excerpt = excerpt_of(tagging_error, texts[tagging_error.id])
            excerpts.setdefault(kind, []).append(excerpt)
    note = (
        "This page contains text of notes and is as private as they are. Underlined: gold; shaded: "
        f"predicted. At most {EXAMPLES} errors of a kind and class are shown."
    )
    folded = (
        Folded(kind.capitalize(), tuple(excerpts[kind])) for kind in ERROR_KINDS if kind in excerpts
    )
    return (Paragraph(note, is_note=True), *folded)


def _validation_texts(run: Run) -> Mapping[str, str]:
    """Read the texts of the validation documents by their ids.

    Raises
    ------
    RunError
        If a file has changed since the run was started.
    """
    configuration = load_configuration(run.config_file)
    table = run.data().to_pylist()
    before = {row["file"]: row["blake2b"] for row in table if row["split"] == _SPLIT}
    now = {
        row["file"]: row["blake2b"]
        for row in fingerprint(configuration.data, splits=(_SPLIT,)).to_pylist()
    }
    for file in {**before, **now}:
        if before.get(file) != now.get(file):
            raise RunError(
                f"{shown(run.folder)}: validation file {shown(file)} has changed since the run was "
                "started, so that its text is not that of the errors; restore it, or leave out "
                "--show-text"
            )
    notes = read_labelled(configuration.data, _SPLIT, configuration.labels)
    return {document.id: document.text for document in notes.documents}


def excerpt_of(tagging_error: TaggingError, text: str) -> Excerpt:
    """Return an error with the text around it.

    Parameters
    ----------
    tagging_error : TaggingError
        The error.
    text : str
        The text of its document.
    """
    error = tagging_error.error
    sides = {"gold": error.gold, "predicted": error.predicted}
    known = {name: mention for name, mention in sides.items() if mention}
    first = min(mention.start for mention in known.values())
    last = max(mention.end for mention in known.values())
    start, end = max(first - CONTEXT, 0), min(last + CONTEXT, len(text))
    cuts = {start, end, *(cut for mention in known.values() for cut in mention[:2])}
    parts = []
    for left, right in pairwise(sorted(cuts)):
        inside = [name for name, m in known.items() if m.start <= left and right <= m.end]
        parts.append((text[left:right], "both" if len(inside) == 2 else "".join(inside)))
    before = [("…", "")] if start else []
    after = [("…", "")] if end < len(text) else []
    classes = " → ".join(mention.label if mention else NONE for mention in sides.values())
    return Excerpt(f"{tagging_error.id}: {first}-{last}", classes, (*before, *parts, *after))

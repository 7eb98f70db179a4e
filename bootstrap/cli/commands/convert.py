"""``bootstrap convert``: notes in another format."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from bootstrap.cli.arguments import columns_of, problems_of
from bootstrap.cli.console import report_problems, say, warn
from bootstrap.config.configuration import load_configuration
from corpus.corpora import read_corpus, with_classes
from corpus.document import Document
from corpus.errors import InputError, shown
from corpus.formats import WriteReport, write
from corpus.formats.files import is_standard
from corpus.problems import Problems

_NAMED = 20  # columns or labels that a line names


def main(options: argparse.Namespace) -> None:
    """Read a corpus and write it in another format."""
    problems, columns = problems_of(options), columns_of(options)
    documents = read_corpus(
        options.source,
        format=options.source_format,
        columns=columns,
        problems=problems,
        encoding=options.encoding,
    )
    dropped = Counter[str]()
    renamed = with_labels(documents, labels_of(options), dropped)
    written = write(renamed, options.target, format=options.target_format, columns=columns)
    report_problems(problems)
    tell = warn if is_standard(options.target) else say
    tell([*written_lines(written, options.target, problems), *dropped_lines(dropped)])


def labels_of(options: argparse.Namespace) -> Mapping[str, str] | None:
    """Give the classes by the labels of the source that a configuration names, if one is given.

    Raises
    ------
    InputError
        If it has no ``[labels]``.
    """
    if options.labels is None:
        return None
    labels = load_configuration(options.labels).labels
    if labels is None:
        raise InputError(f"{shown(options.labels)} has no [labels] to rename by")
    return labels


def with_labels(
    documents: Iterable[Document], labels: Mapping[str, str] | None, dropped: Counter[str]
) -> Iterator[Document]:
    """Give documents with their labels renamed, and count the spans of labels not named.

    Without labels to rename by, all stay as they are.
    """
    classes = None if labels is None else dict(labels)
    for document in documents:
        if classes is not None:
            dropped.update(span.label for span in document.spans if span.label not in classes)
        yield with_classes(document, classes)


def dropped_lines(dropped: Mapping[str, int]) -> list[str]:
    """Name the labels that were dropped."""
    return _counted_line("spans of labels that [labels] does not name", dropped)


def written_lines(written: WriteReport, target: Path, problems: Problems) -> Sequence[str]:
    """Say what was written, what the format could not hold and what of the source is not kept."""
    lost = [f"{count:,} {what}" for what, count in written.left_out.items()]
    return [
        f"{written.documents:,} documents with {written.spans:,} spans are in {target}",
        *([f"left out, since the format has no place for it: {', '.join(lost)}"] if lost else []),
        *_counted_line("columns or keys that are no part of a note", problems.unused),
    ]


def _counted_line(what: str, counts: Mapping[str, int]) -> list[str]:
    """Name what is not written and how often it was there, in one line or none."""
    if not counts:
        return []
    named = [f"{shown(name)} ({count:,})" for name, count in sorted(counts.items())]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return [f"left out, {what}: {', '.join(named[:_NAMED])}{more}"]

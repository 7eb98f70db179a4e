"""The mapping of labels that a run needs if seed and validation have no class in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from corpus.document import Document
from corpus.errors import quoted
from corpus.tokens.normalisation import normalised_text


def unrelated_classes(seed: Iterable[Document], validation: Iterable[Document]) -> str:
    """Describe that two annotated sets have no class in common; empty if they have one.

    The message proposes ``[labels]``: each class of validation becomes the one of the seed with
    which it shares most mentions, or, without any, the most frequent one that is left.
    """
    known, wanted = _mentions(seed), _mentions(validation)
    if not known or not wanted or known.keys() & wanted.keys():
        return ""
    pairs = sorted(
        ((name, label) for name in known for label in wanted),
        key=lambda pair: (
            -len(known[pair[0]].keys() & wanted[pair[1]].keys()),
            -known[pair[0]].total(),
            -wanted[pair[1]].total(),
        ),
    )
    classes: dict[str, str] = {}
    for name, label in pairs:
        if label not in classes and name not in classes.values():
            classes[label] = name
    proposed = {name: name for name in classes.values()} | classes
    labels = ", ".join(f'{quoted(label)} = "{quoted(name)}"' for label, name in proposed.items())
    return (
        f"seed and validation have no class in common: seed has {_listed(known)}, and validation "
        f"{_listed(wanted)}; map them, perhaps as in labels = {{ {labels} }}"
    )


def _mentions(documents: Iterable[Document]) -> dict[str, Counter[str]]:
    """Return the texts of the entities of each class."""
    mentions: dict[str, Counter[str]] = {}
    for document in documents:
        for span in document.spans:
            text = normalised_text(document.text[span.start : span.end]).casefold()
            mentions.setdefault(span.label, Counter())[text] += 1
    return mentions


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, sorted(names)))

"""Content of annotators that comes from lists and notes, and its removal from models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from taggers.annotators import Annotator
from taggers.annotators.phrases import Phrases
from taggers.patterns.labelled import LabelledPatterns
from taggers.privacy.pruning import PHRASES, Pruning

if TYPE_CHECKING:
    from taggers.privacy.public_lists import PublicLists


def contents_of(annotators: Mapping[str, Annotator]) -> dict[str, int]:
    """Return the number of phrases, and of patterns."""
    contents = {}
    for annotator in annotators.values():
        if isinstance(annotator, Phrases):
            contents["phrases"] = annotator.size
        if isinstance(annotator, LabelledPatterns):
            contents["patterns"] = len(annotator.patterns)
    return contents


def pruned_annotators(
    annotators: Mapping[str, Annotator], pruning: Pruning
) -> dict[str, Annotator]:
    """Return annotators with the phrases of public lists only."""
    pruned = dict(annotators)
    phrases = pruned.get(PHRASES)
    if isinstance(phrases, Phrases) and phrases.size and PHRASES not in pruning.keep:
        pruned[PHRASES] = Phrases(pruning.lists.public_phrases(phrases.terms))
    return pruned


def words_in_phrases(
    words: Sequence[str], phrases: Mapping[str, Sequence[str]], lists: PublicLists
) -> npt.NDArray[np.bool_]:
    """Return which words are in phrases that are not public."""
    from gazetteers.folding import fold  # noqa: PLC0415 - not always used

    public = lists.public_phrases(phrases)
    private = [
        term for name, terms in phrases.items() for term in set(terms).difference(public[name])
    ]
    within = {word for term in fold(private) for word in term.split()} if private else set()
    return np.fromiter((word in within for word in fold(words)), bool, len(words))


def traces_in(
    annotators: Mapping[str, Annotator], words: Sequence[str], lists: PublicLists
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return which words are in phrases and patterns of annotators, by the name of the part."""
    traces = {}
    for annotator in annotators.values():
        if isinstance(annotator, Phrases) and annotator.size:
            traces[PHRASES] = words_in_phrases(words, annotator.terms, lists)
        if isinstance(annotator, LabelledPatterns):
            traces["patterns"] = annotator.traces(words)
    return traces

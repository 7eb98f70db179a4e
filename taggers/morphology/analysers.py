"""Parts of speech and lemmas of the tokens of batches, each document in its own language."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np

from corpus.batch import Batch
from corpus.errors import InputError
from corpus.ragged import ranges_of
from taggers.morphology.analysis import SPACY, Analysis
from taggers.morphology.languages import check_languages, find_languages

_NAME = re.compile(rf"apertium|simplemma|{SPACY}[a-zA-Z_0-9]+")


class Analyser(Protocol):
    """Finds parts of speech and lemmas in documents of one language."""

    def analyse(self, batch: Batch) -> Analysis:
        """Analyse documents."""


def check_names(analysers: Mapping[str, str]) -> None:
    """Raise an `InputError` if a name is none of an analyser, or a language none of a language."""
    for language, name in analysers.items():
        if not (language.isalpha() and _NAME.fullmatch(name)):
            raise InputError(
                f'analysers: {language} = "{name}": expected the code of a language, and '
                f'"apertium", "simplemma" or "{SPACY}PIPELINE"'
            )


def check_analysers(analysers: Mapping[str, str], *, pos: bool) -> None:
    """Check that analysers are installed, and find what is needed.

    Parameters
    ----------
    analysers : mapping of str to str
        The name of an analyser for each language.
    pos : bool
        Whether parts of speech are needed.

    Raises
    ------
    InputError
        If a language is unknown, or an analyser is not installed or does not find what is needed.
    """
    check_languages(tuple(analysers))
    for language, name in analysers.items():
        if pos and name == "simplemma":
            raise InputError(
                f'analysers: {language} = "simplemma" finds no parts of speech; name "apertium" or '
                f'"{SPACY}PIPELINE", or remove the stream "pos"'
            )
        analyser_of(language, name)


@functools.lru_cache(maxsize=8)
def analyser_of(language: str, name: str) -> Analyser:
    """Return the analyser of a language.

    Parameters
    ----------
    language : str
        The code of the language.
    name : str
        ``"apertium"``, ``"simplemma"``, or the name of a pipeline, such as
        ``"spacy:es_core_news_sm"``.

    Raises
    ------
    InputError
        If it is not installed, or does not know the language.
    """
    if name == "apertium":
        from taggers.morphology.apertium import Apertium  # noqa: PLC0415 - not always used

        return Apertium(language)
    if name == "simplemma":
        from taggers.morphology.lemmas import SimpleLemmas  # noqa: PLC0415 - not always used

        return SimpleLemmas(language)
    from taggers.morphology.spacy_pipeline import SpacyPipeline  # noqa: PLC0415 - the same

    return SpacyPipeline(language, name.removeprefix(SPACY))


#: The analyses of batches that are in use: several streams come from one.
_CACHE: WeakKeyDictionary[Batch, dict[tuple[tuple[str, str], ...], Analysis]] = WeakKeyDictionary()


def analyse(batch: Batch, analysers: Mapping[str, str]) -> Analysis:
    """Analyse each document of a batch in its own language.

    A token that is unknown in its language has no part of speech and is its own lemma.

    Parameters
    ----------
    batch : Batch
        Documents.
    analysers : mapping of str to str
        The name of an analyser for each language; see `check_names`.
    """
    of_batch = _CACHE.setdefault(batch, {})
    key = tuple(analysers.items())
    if key not in of_batch:
        of_batch[key] = _analyse(batch, analysers)
    return of_batch[key]


def _analyse(batch: Batch, analysers: Mapping[str, str]) -> Analysis:
    languages = np.array(find_languages(batch.texts.to_pylist(), tuple(analysers)))
    pos, lemmas = (np.full(batch.n_tokens, "", object) for _ in range(2))
    for language, name in analysers.items():
        rows = np.flatnonzero(languages == language)
        if not len(rows):
            continue
        analysis = analyser_of(language, name).analyse(batch.take(rows))
        tokens = ranges_of(batch.document_offsets[rows], batch.lengths[rows])
        pos[tokens], lemmas[tokens] = analysis.pos, analysis.lemmas
    lowers = [word.lower() for word in batch.vocabulary]
    words = (lowers[word] for word in batch.word_ids.tolist())
    return Analysis(
        pos.tolist(),
        [lemma or word for lemma, word in zip(lemmas.tolist(), words, strict=True)],
    )

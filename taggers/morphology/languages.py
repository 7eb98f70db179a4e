"""The language of each document, found by py3langid among a few languages."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from corpus.errors import InputError

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier


def find_languages(texts: Iterable[str], languages: Sequence[str]) -> list[str]:
    """Return the language of each text (paper 003, section 3.4.2).

    Parameters
    ----------
    texts : iterable of str
        The texts of documents.
    languages : sequence of str
        The codes of the languages that texts may have, such as ``"es"`` and ``"ca"``. A text
        without letters has the first one.

    Raises
    ------
    InputError
        If a language is unknown, or none is named.

    Examples
    --------
    >>> find_languages(["La paciente no fuma.", "La pacient no fuma."], ("es", "ca"))
    ['es', 'ca']
    """
    if len(languages) == 1:
        check_languages(languages)
        return [languages[0] for _ in texts]
    identifier = _identifier(tuple(languages))

    def language(text: str) -> str:
        if not any(map(str.isalpha, text)):
            return languages[0]
        scores = dict(identifier.rank(text))
        return max(languages, key=scores.__getitem__)  # the first of equal ones

    return [language(text) for text in texts]


def check_languages(languages: Sequence[str]) -> None:
    """Raise an `InputError` if a language is unknown, or none is named."""
    known = _whole_identifier().labels
    if not languages:
        raise InputError("no language is named: expected codes, such as es and ca")
    if any(language not in known for language in languages):
        raise InputError(
            f"{', '.join(languages)}: expected codes of languages that py3langid knows: "
            f"{', '.join(sorted(known))}"
        )


@functools.lru_cache(maxsize=8)
def _identifier(languages: tuple[str, ...]) -> LanguageIdentifier:
    check_languages(languages)
    from py3langid.langid import (  # noqa: PLC0415 - its model takes a second to load
        MODEL_FILE,
        LanguageIdentifier,
    )

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    identifier.set_languages(languages)
    return identifier


@functools.cache
def _whole_identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - as above

    return LanguageIdentifier.from_model_file(MODEL_FILE)

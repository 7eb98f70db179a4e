"""Words of the language, which say nothing of a person where they are in lower case."""

from __future__ import annotations

import functools

#: The languages, as simplemma names them.
_LANGUAGES = ("es", "ca")


@functools.lru_cache(1 << 16)
def is_common(word: str) -> bool:
    """Return whether a word is in lower case, and one of Spanish or Catalan that is no name.

    Examples
    --------
    >>> is_common("blanco"), is_common("Blanco"), is_common("pérez")
    (True, False, False)
    """
    if not word.islower():
        return False
    import simplemma  # noqa: PLC0415 - its dictionaries take a second to load

    # The dictionaries also have names, whose lemmas are in capitals.
    return any(
        simplemma.is_known(word, lang=language)
        and simplemma.lemmatize(word, lang=language)[0].islower()
        for language in _LANGUAGES
    )

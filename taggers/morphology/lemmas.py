"""Lemmas of words by simplemma."""

from __future__ import annotations

from collections.abc import Sequence

from corpus.batch import Batch
from corpus.errors import InputError
from taggers.morphology.analysis import Analysis


def lemmas_of(words: Sequence[str], languages: Sequence[str]) -> list[str]:
    """Return lemmas in the first of some languages that knows a word, or else the word itself.

    Parameters
    ----------
    words : sequence of str
        Words in lower case.
    languages : sequence of str
        Codes of languages, such as ``"es"``.
    """
    import simplemma  # noqa: PLC0415 - its dictionaries take a second to load

    def lemma(word: str) -> str:
        if not word or not word.isprintable():  # simplemma raises on empty words and surrogates
            return word
        for language in languages:
            if simplemma.is_known(word, lang=language):
                return simplemma.lemmatize(word, lang=language).lower()
        return word

    return [lemma(word) for word in words]


class SimpleLemmas:
    """Analyser that finds lemmas alone.

    Parameters
    ----------
    language : str
        The code of a language.

    Raises
    ------
    InputError
        If simplemma does not know the language.
    """

    def __init__(self, language: str) -> None:
        import simplemma  # noqa: PLC0415 - as above

        try:
            simplemma.is_known("a", lang=language)
        except ValueError:
            raise InputError(
                f'analysers: {language} = "simplemma": simplemma does not know the language'
            ) from None
        self._language = language

    def analyse(self, batch: Batch) -> Analysis:
        """Return the lemma of each token, and no parts of speech."""
        lemmas = lemmas_of([word.lower() for word in batch.vocabulary], (self._language,))
        return Analysis([""] * batch.n_tokens, [lemmas[word] for word in batch.word_ids.tolist()])

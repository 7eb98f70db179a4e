"""Parts of speech and lemmas by an installed pipeline of spaCy."""

from __future__ import annotations

import importlib.util
import itertools
from importlib.metadata import entry_points

from corpus.batch import Batch
from corpus.errors import InputError
from taggers.morphology.analysis import SPACY, Analysis

#: The entry points of installed pipelines.
_INSTALLED = "spacy_models"

#: Components that neither parts of speech nor lemmas need.
_UNUSED = ("ner", "parser", "senter", "entity_linker", "entity_ruler", "textcat")


class SpacyPipeline:
    """Analyser that is a pipeline of spaCy, such as ``es_core_news_sm``.

    A part of speech is that of Universal Dependencies, such as ``NOUN``. Verbs also have their
    form: ``VERB.Part`` is a participle.

    Parameters
    ----------
    language : str
        The code of the language.
    name : str
        The name of an installed pipeline. The folder of a model may name it, so that nothing else
        is imported: no other package, and no path.

    Raises
    ------
    InputError
        If spaCy or the pipeline is not installed, it is of another language, or it finds no parts
        of speech or lemmas.
    """

    def __init__(self, language: str, name: str) -> None:
        place = f'analysers: {language} = "{SPACY}{name}"'
        if importlib.util.find_spec("spacy") is None:
            raise InputError(f"{place}: spaCy is not installed: pip install spacy")
        if name not in entry_points(group=_INSTALLED).names:
            raise InputError(f"{place}: the pipeline is not installed: python -m spacy download")
        import spacy  # noqa: PLC0415 - it takes seconds, and is not always used

        try:
            self._nlp = spacy.load(name, exclude=_UNUSED)
        except Exception as error:  # a pipeline can raise any exception
            raise InputError(
                f"{place}: the pipeline cannot be loaded: {type(error).__name__}"
            ) from error
        if self._nlp.lang != language:
            raise InputError(f"{place}: the pipeline is of another language")
        sample = self._nlp("a")
        for attribute, what in (("POS", "parts of speech"), ("LEMMA", "lemmas")):
            if not sample.has_annotation(attribute):
                raise InputError(f"{place}: the pipeline finds no {what}; name another one")

    def analyse(self, batch: Batch) -> Analysis:
        """Return the part of speech and the lemma of each token."""
        from spacy.tokens import Doc  # noqa: PLC0415 - as above

        tokens = [batch.vocabulary[word] for word in batch.word_ids.tolist()]
        offsets = batch.document_offsets.tolist()
        pos, lemmas = list[str](), list[str]()
        with self._nlp.memory_zone():
            documents = (
                Doc(self._nlp.vocab, words=tokens[first:last])
                for first, last in itertools.pairwise(offsets)
            )
            for document in self._nlp.pipe(documents):
                for token in document:
                    form = token.morph.get("VerbForm", [])
                    pos.append(".".join([token.pos_, *form[:1]]))
                    lemmas.append(token.lemma_.lower())
        return Analysis(pos, lemmas)

"""A recognizer of Presidio that finds entities by a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from presidio_analyzer import EntityRecognizer, RecognizerResult
from presidio_analyzer.nlp_engine import NlpArtifacts

from bootstrap.api import load


class BootstrapRecognizer(EntityRecognizer):
    """A recognizer that finds what a model finds.

    Parameters
    ----------
    model : str or Path
        The folder of a run, or of a model.
    language : str
        The language of the texts for which Presidio asks it.
    names : mapping of str to str, optional
        The name in Presidio of each class of the model, such as ``{"PERSON": "PERSON"}``; classes
        that are not named keep theirs.
    trust : collection of str
        As in `bootstrap.load`.

    Raises
    ------
    InputError
        If the folder is neither, or the model is damaged or not trusted.

    Examples
    --------
    >>> recognizer = BootstrapRecognizer("runs/first", "es")  # doctest: +SKIP
    >>> AnalyzerEngine(registry=RecognizerRegistry([recognizer]))  # doctest: +SKIP
    """

    def __init__(
        self,
        model: str | Path,
        language: str,
        *,
        names: Mapping[str, str] | None = None,
        trust: Collection[str] = (),
    ) -> None:
        self._model = load(model, trust=trust)
        self._names = {name: (names or {}).get(name, name) for name in self._model.classes}
        entities = sorted(set(self._names.values()))
        super().__init__(supported_entities=entities, supported_language=language)

    def load(self) -> None:
        """Do nothing: the constructor has loaded the model."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Find entities in a text; the score of each is its probability.

        Parameters
        ----------
        text : str
            The text.
        entities : list of str
            The names of entities that are wanted; all if it is empty.
        nlp_artifacts : NlpArtifacts, optional
            Not used.
        """
        (tagged,) = self._model.tag([text], span_confidence=True)
        return [
            RecognizerResult(self._names[span.label], span.start, span.end, score)
            for span, score in zip(tagged.document.spans, tagged.span_confidences, strict=True)
            if not entities or self._names[span.label] in entities
        ]

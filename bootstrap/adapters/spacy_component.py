"""A component of spaCy that finds entities by a model: ``nlp.add_pipe("bootstrap")``.

spaCy finds it by the entry point ``spacy_factories``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import filter_spans, minibatch

if TYPE_CHECKING:
    from bootstrap.api import Model


@Language.factory(
    "bootstrap", default_config={"model": "", "jobs": 1, "trust": ()}, assigns=["doc.ents"]
)
def make_component(
    nlp: Language, name: str, model: str, jobs: int, trust: Sequence[str]
) -> Component:
    """Load a model as a component.

    Parameters
    ----------
    nlp : Language
        The pipeline.
    name : str
        The name of the component in the pipeline.
    model : str
        The folder of a run, or of a model.
    jobs : int
        Number of processes that tag.
    trust : sequence of str
        As in `bootstrap.load`.

    Raises
    ------
    InputError
        If the folder is neither, or the model is damaged or not trusted.

    Examples
    --------
    >>> nlp = spacy.blank("es")  # doctest: +SKIP
    >>> nlp.add_pipe("bootstrap", config={"model": "runs/first"})  # doctest: +SKIP
    >>> nlp("Visita de Joan Puig").ents  # doctest: +SKIP
    (Joan Puig,)
    """
    # Every pipeline of spaCy imports this module, whether it has the component or not.
    from bootstrap.api import load  # noqa: PLC0415 - see above

    return Component(load(model, jobs=jobs, trust=trust))


class Component:
    """A component that sets the entities of documents, and replaces those they have.

    An entity that begins or ends within a token of the pipeline is widened to the whole token.

    Parameters
    ----------
    model : Model
        The model.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    def __call__(self, doc: Doc) -> Doc:
        """Set the entities of a document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], batch_size: int = 1000) -> Iterator[Doc]:
        """Set the entities of documents, of `batch_size` at a time."""
        for docs in minibatch(stream, batch_size):
            tagged = self._model.tag([doc.text for doc in docs])
            for doc, result in zip(docs, tagged, strict=True):
                spans = [
                    doc.char_span(own.start, own.end, label=own.label, alignment_mode="expand")
                    for own in result.document.spans
                ]
                doc.ents = filter_spans(spans)
                yield doc

"""A tagger of patterns, which needs no training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from corpus.batch import Batch
from corpus.ragged import ranges_of
from corpus.tags import bio_labels, tags_of_entities
from taggers.base import Progress
from taggers.certainties import CertainTagger, Certainties
from taggers.model_folder import ModelFiles
from taggers.patterns import KERNELS
from taggers.patterns.labelled import LabelledPatterns, entities_of
from taggers.patterns.pattern_options import PatternOptions
from taggers.privacy.pruning import Pruning
from taggers.trained_tagger import Traces

if TYPE_CHECKING:
    from taggers.privacy.public_lists import PublicLists


class PatternTagger(CertainTagger[PatternOptions]):
    """A tagger of identifiers with a fixed format, and of rules that were learned.

    The certainty of the tokens of a span is the confidence of its pattern, and the one of all
    others is 1.
    """

    kind: ClassVar[str] = "patterns"
    options_type: ClassVar[type[PatternOptions]] = PatternOptions
    #: The modules whose compiled functions are called; see `taggers.base.kernels_of`.
    kernels: ClassVar[tuple[str, ...]] = ("corpus.tokens.scanner", *KERNELS)

    def __init__(self, options: PatternOptions | None = None) -> None:
        super().__init__(options)
        self._patterns: LabelledPatterns | None = None
        if not self.options.is_inside_model:  # an initial model has its labels before it is fitted
            self._use(LabelledPatterns(self.options.read(), self.options.labels))

    def _use(self, patterns: LabelledPatterns) -> None:
        self._patterns, self.labels = patterns, bio_labels(patterns.classes)

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Return the tagger, which has read the tables of its options: nothing is learned."""
        if progress:
            progress(1, 1)
        return self

    def _decoded(self, batch: Batch) -> Certainties:
        spans, confidences = self.patterns.find(batch)
        tags = tags_of_entities(entities_of(spans), batch.n_tokens, self.labels)
        certainty, lengths = np.ones(batch.n_tokens), spans.last - spans.first + 1
        certainty[ranges_of(spans.first, lengths)] = np.repeat(confidences, lengths)
        return tags, certainty

    @property
    def patterns(self) -> LabelledPatterns:
        """The patterns, with the classes of their spans."""
        self._check_trained()
        assert self._patterns is not None
        return self._patterns

    def _is_trained(self) -> bool:
        return self._patterns is not None

    def _learned_contents(self) -> dict[str, int]:
        return {"patterns": len(self.patterns.patterns)}

    def _learned_traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        return {"patterns": self.patterns.traces(words)}

    def _prune(self, pruning: Pruning, whole: Self) -> None:
        self._patterns = whole.patterns

    def _saved(self) -> tuple[dict[str, Any], Mapping[str, bytes]]:
        return {"patterns": self.patterns.settings()}, {}

    def _read(self, model: ModelFiles) -> None:
        self._use(LabelledPatterns.from_settings(model.fields.fields("patterns")))

"""The ensemble: a tagger that pools the predictions of several taggers, its members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError, quoted
from taggers.base import (
    Detail,
    Progress,
    Tagger,
    Tagging,
    Training,
    joined,
    kernels_of,
    trains_in_process,
)
from taggers.confidence import check_measure
from taggers.ensemble.ensemble_options import (
    EnsembleOptions,
    errors_of_member,
    kind_of_member,
    member_name,
)
from taggers.ensemble.side_by_side import run_side_by_side
from taggers.model_folder import ModelFiles
from taggers.privacy.pruning import PrunableTagger, Pruning
from taggers.privacy.public_lists import PublicLists
from taggers.registry import load_tagger
from taggers.trained_tagger import Traces, TrainedTagger

if TYPE_CHECKING:
    from taggers.crf.linear_chain import LinearChain

#: Tokens that are tagged at a time, to bound the memory for the marginals of members.
_PIECE = 131_072


@runtime_checkable
class ChainTagger(Tagger, Protocol):
    """A tagger whose tag sequences have the probabilities of a linear chain."""

    def chain(self, batch: Batch) -> LinearChain | None:
        """Return the chain of the documents of a batch, if its options allow it."""


class EnsembleTagger(TrainedTagger[EnsembleOptions]):
    """A tagger that pools the predictions of its members.

    Every member is trained on the same documents. The probability of a tag sequence is proportional
    to the weighted product of the members' probabilities; see `taggers.ensemble.pooling`. Kinds
    have equal weights, which the members of a kind share.

    Attributes
    ----------
    labels : tuple of str
        The labels of the training documents; empty before training.
    training : Training or None
        The results of training the members, summarised; None before training, and if no member
        optimises an objective.
    members : tuple of Tagger
        The trained members; empty before training.
    """

    kind = "ensemble"
    options_type = EnsembleOptions
    model_format = 2

    def __init__(self, options: EnsembleOptions | None = None) -> None:
        super().__init__(options)
        self.members: tuple[Tagger, ...] = ()

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Train the members; see `taggers.base.Tagger.fit`.

        Members with their own processes train side by side, as many as there are processors. The
        others train one after the other in the meantime. Each begins with the member of
        `warm_start` at the same place, if its kind is the same. Each receives a child of `rng`, so
        that members with the same options differ if their training is random. Each reports 100
        steps, the percentages of its own training.

        Raises
        ------
        TrainingError
            If training a member produces no usable model, or a model without marginals; the message
            names the member.
        InputError
            If a member cannot read a resource; the message names the member.
        """
        members = self.members or self._untrained()
        before = warm_start.members if warm_start is not None else ()
        children = rng.spawn(len(members))

        def train_member(number: int, report: Progress) -> None:
            member = members[number]
            start = before[number] if number < len(before) else None
            with errors_of_member(number, member.kind):
                member.fit(
                    train,
                    validation,
                    warm_start=start if start is not None and start.kind == member.kind else None,
                    rng=children[number],
                    progress=report,
                )
                _chain_of(member, train.slice(0, 1), train.labels)

        run_side_by_side(train_member, list(map(trains_in_process, members)), progress)
        self.members, self.labels = members, train.labels
        trainings = {member_name(n): m.training for n, m in enumerate(members) if m.training}
        self.training = Training.of_parts(trainings) if trainings else None
        return self

    def _untrained(self) -> tuple[Tagger, ...]:
        """Construct the members."""
        members = []
        for number, member in enumerate(self.options.members):
            with errors_of_member(number):
                members.append(kind_of_member(member.kind).tagger_type()(member.resolved()))
        return tuple(members)

    def tag(
        self, batch: Batch, *, measure: str = "probability", detail: Detail = "document"
    ) -> Tagging:
        """Predict the most probable tag sequences; see `taggers.base.Tagger.tag`.

        Raises
        ------
        InputError
            If the measure is unknown, or a member computes no marginals.
        ValueError
            If the tagger has not been trained.
        """
        check_measure(measure)
        self._check_trained()
        parts = (batch.slice(*piece) for piece in _pieces(batch.document_offsets))
        return joined([self._chain(part).tag(self.labels, measure, detail) for part in parts])

    def _chain(self, batch: Batch) -> LinearChain:
        """Return the pool of the members."""
        from taggers.ensemble.pooling import pooled  # noqa: PLC0415 - numba is slow to import

        chains = []
        for number, member in enumerate(self.members):
            with errors_of_member(number):
                chains.append(_chain_of(member, batch, self.labels))
        of_kind = Counter(member.kind for member in self.members)
        weights = [1 / (len(of_kind) * of_kind[member.kind]) for member in self.members]
        return pooled(chains, weights)

    @property
    def kernels(self) -> tuple[str, ...]:
        """The modules whose compiled functions are called; see `taggers.base.kernels_of`."""
        own = ("taggers.crf.linear_chain",)
        members = self.members or self._untrained()
        return tuple(
            dict.fromkeys([*own, *(name for member in members for name in kernels_of(member))])
        )

    def _is_trained(self) -> bool:
        return bool(self.members)

    def _learned_contents(self) -> dict[str, int]:
        total: Counter[str] = Counter()
        for _, member in self._prunable():
            total.update(member.contents())
        return dict(total)

    def _learned_traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        traces: Traces = {}
        for _, member in self._prunable():
            for part, mask in member.traces(words, lists).items():
                traces[part] = traces[part] | mask if part in traces else mask
        return traces

    def _prune(self, pruning: Pruning, whole: Self) -> None:
        members = []
        for number, member in whole._prunable():
            with errors_of_member(number):
                members.append(member.pruned(pruning))
        self.members = tuple(members)

    def _prunable(self) -> Iterator[tuple[int, PrunableTagger]]:
        """Yield the index of each member and the member; raise an error if one cannot be pruned."""
        for number, member in enumerate(self.members):
            if not isinstance(member, PrunableTagger):
                raise InputError(
                    f"{member_name(number)} is a model of kind "
                    f'"{member.kind}", which cannot be pruned'
                )
            yield number, member

    def _saved_options(self) -> dict[str, Any]:
        return {}  # each member has its own

    def _saved(self) -> tuple[dict[str, Any], Mapping[str, bytes]]:
        return {"members": [member.kind for member in self.members]}, {}

    def _saved_members(self) -> Mapping[str, Tagger]:
        return {_folder_name(number): member for number, member in enumerate(self.members)}

    def _read(self, model: ModelFiles) -> None:
        kinds = model.fields.texts("members")
        if not kinds:
            raise model.fields.error("members", "at least one member")
        self.members = tuple(_loaded(model, number, kind) for number, kind in enumerate(kinds))


def _folder_name(number: int) -> str:
    """Return the name of the folder of a member, whose index is counted from 0."""
    return f"member-{number + 1}"


def _loaded(model: ModelFiles, number: int, kind: str) -> Tagger:
    """Read a member of a kind."""
    kind_of_member(kind)
    tagger = load_tagger(model.member(_folder_name(number)))
    if tagger.kind != kind:
        raise model.fields.error("members", "the kinds of the members")
    return tagger


def _chain_of(member: Tagger, batch: Batch, labels: Sequence[str]) -> LinearChain:
    """Return the linear chain of a member; that of its marginals if it has none of its own."""
    from taggers.ensemble.pooling import chain_of_marginals  # noqa: PLC0415 - as above

    chain = member.chain(batch) if isinstance(member, ChainTagger) else None
    if chain is None:
        tagging = member.tag(batch, detail="labels")
        if tagging.marginals is None:
            raise InputError(
                f'a tagger of kind "{member.kind}" computes no marginals of labels, which an '
                "ensemble pools; its method tag has to return them for the detail labels"
            )
        _refuse_unknown(member, tagging.labels, labels)
        marginals = np.zeros((batch.n_tokens, len(labels)))
        marginals[:, [labels.index(name) for name in tagging.labels]] = tagging.marginals
        return chain_of_marginals(marginals, batch.document_offsets, labels)
    _refuse_unknown(member, chain.labels, labels)
    return chain


def _refuse_unknown(member: Tagger, own: Sequence[str], labels: Sequence[str]) -> None:
    """Raise an `InputError` if a member has a label that the ensemble lacks."""
    if unknown := [name for name in own if name not in labels]:
        raise InputError(
            f'a tagger of kind "{member.kind}" has the label {quoted(unknown[0])}, which is not a '
            "label of the training documents"
        )


def _pieces(document_offsets: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of documents with about `_PIECE` tokens each; at least one range."""
    number, start = len(document_offsets) - 1, 0
    while True:
        most = document_offsets[start] + _PIECE
        stop = int(np.searchsorted(document_offsets, most, side="right")) - 1
        stop = min(max(stop, start + 1), number)
        yield start, stop
        start = stop
        if start >= number:
            return

"""Options of the ensemble."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from taggers.ensemble.member import Member, errors_of_member, kind_of_member, member_name
from taggers.options import Capability, Coverage, TaggerOptions, option

#: The members by default.
DEFAULT_MEMBERS = (Member("crf"), *(Member("bilstm-crf") for _ in range(3)))


@dataclass(frozen=True, slots=True)
class EnsembleOptions(TaggerOptions):
    """Options of the ensemble; every field is a key of ``[tagger]``."""

    members: tuple[Member, ...] = option(
        DEFAULT_MEMBERS,
        "the taggers of the ensemble: a list of tables, each with a kind and its options "
        "(bootstrap help ensembles)",
        members=True,
    )

    def __post_init__(self) -> None:
        if not self.members:
            raise InputError('members is empty: expected at least one, such as { kind = "crf" }')
        for number, member in enumerate(self.members):
            if member.options is not None:
                with errors_of_member(number):
                    kind_of_member(member.kind)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities of training that all members have, and ``entity_probabilities``.

        The probabilities of entities are computed from the averaged marginals, for any members.
        """
        shared = frozenset.intersection(*(options.capabilities for _, options in self._resolved()))
        return shared | {"entity_probabilities"}

    def as_table(self) -> dict[str, Any]:
        return {"members": [member.as_table() for member in self.members]}

    def files(self) -> Mapping[str, Sequence[Path]]:
        """Return the files that training the members reads, as ``members[1].OPTION``."""
        return {
            f"{member_name(number)}.{name}": paths
            for number, options in self._resolved()
            for name, paths in options.files().items()
        }

    def check(self) -> Sequence[Coverage]:
        """Check the options of each member; members with the same options are checked once."""
        coverages: list[Coverage] = []
        for number, options in self._distinct():
            with errors_of_member(number):
                coverages += [
                    replace(coverage, of=f"{coverage.of} ({member_name(number)})")
                    for coverage in options.check()
                ]
        return coverages

    def second_view(self) -> Self:
        return self._with(lambda options: options.second_view())

    def with_word_counts(self, count: Callable[[], Path]) -> Self:
        count = functools.cache(count)
        return self._with(lambda options: options.with_word_counts(count))

    def with_embeddings(self, train: Callable[[], Path | None]) -> Self:
        train = functools.cache(train)
        return self._with(lambda options: options.with_embeddings(train))

    def listed(self, batch: Batch) -> npt.NDArray[np.bool_] | None:
        """Return which tokens are in the gazetteers of any member, shape (N,)."""
        listed = [options.listed(batch) for _, options in self._distinct()]
        masks = [mask for mask in listed if mask is not None]
        return np.logical_or.reduce(masks) if masks else None

    def _resolved(self) -> Iterator[tuple[int, TaggerOptions]]:
        """Yield the index and the options of each member."""
        for number, member in enumerate(self.members):
            with errors_of_member(number):
                options = member.resolved()
            yield number, options

    def _distinct(self) -> Iterator[tuple[int, TaggerOptions]]:
        """Yield the index and the options of each member that differ from all members before it."""
        seen: list[TaggerOptions] = []
        for number, options in self._resolved():
            if options not in seen:
                seen.append(options)
                yield number, options

    def _with(self, changed: Callable[[TaggerOptions], TaggerOptions]) -> Self:
        """Return options with changed options of each member."""
        kinds = [member.kind for member in self.members]
        return replace(
            self,
            members=tuple(
                Member(kinds[number], changed(each)) for number, each in self._resolved()
            ),
        )

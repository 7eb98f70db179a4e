"""Options of the ensemble."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from taggers.ensemble.member import Member, errors_of_member, kind_of_member, member_name
from taggers.options import Capability, Coverage, TaggerOptions

#: The members by default.
DEFAULT_MEMBERS = (Member("crf"), *(Member("bilstm-crf") for _ in range(3)))


@dataclass(frozen=True, slots=True)
class EnsembleOptions(TaggerOptions):
    """Options of the ensemble; every field is a key of ``[tagger]``."""

    members: tuple[Member, ...] = field(
        default=DEFAULT_MEMBERS,
        metadata={
            "help": "the taggers of the ensemble: a list of tables, each with a kind and its "
            "options (bootstrap help ensembles)",
        },
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
        shared = frozenset.intersection(*(each.capabilities for _, each in self._resolved()))
        return shared | {"entity_probabilities"}

    def as_table(self) -> dict[str, Any]:
        """Return the options as the values of a table of a configuration."""
        return {"members": [member.as_table() for member in self.members]}

    def files(self) -> Mapping[str, Sequence[Path]]:
        """Return the files that training the members reads, as ``members[1].OPTION``."""
        return {
            f"{member_name(number)}.{name}": paths
            for number, options in self._resolved()
            for name, paths in options.files().items()
        }

    def check(self) -> Sequence[Coverage]:
        """Check the options of the members; members with the same options are checked once.

        Returns
        -------
        sequence of Coverage
            The resources of the members whose coverage of the notes is reported.

        Raises
        ------
        InputError
            If the options of a member and their files do not fit; the message names the member.
        """
        found: list[Coverage] = []
        for number, options in self._distinct():
            with errors_of_member(number):
                found += [
                    replace(each, of=f"{each.of} ({member_name(number)})")
                    for each in options.check()
                ]
        return found

    def second_view(self) -> Self:
        """Return an ensemble of the second views of the members."""
        return self._with(lambda options: options.second_view())

    def with_word_counts(self, count: Callable[[], Path]) -> Self:
        """Return options whose members refer to the word counts of the unlabeled notes."""
        count = functools.cache(count)
        return self._with(lambda options: options.with_word_counts(count))

    def with_embeddings(self, train: Callable[[], Path | None]) -> Self:
        """Return options whose members refer to the embeddings of the run, trained once."""
        train = functools.cache(train)
        return self._with(lambda options: options.with_embeddings(train))

    def listed(self, batch: Batch) -> npt.NDArray[np.bool_] | None:
        """Return which tokens are in the gazetteers of any member, shape (N,)."""
        found = [options.listed(batch) for _, options in self._distinct()]
        masks = [each for each in found if each is not None]
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

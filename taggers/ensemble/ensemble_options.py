"""Options of the ensemble, and its members: kinds of taggers with their options."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from taggers.base import TrainingError
from taggers.options import Capability, Coverage, TaggerOptions, option
from taggers.registry import Kind, find_kind


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an ensemble.

    Parameters
    ----------
    kind : str
        The kind of its tagger: one of the package, or the name of an entry point.
    options : TaggerOptions, optional
        Options of that kind; its defaults if omitted.
    """

    kind: str
    options: TaggerOptions | None = None

    def resolved(self) -> TaggerOptions:
        """Return the options, or else the defaults of the kind.

        Raises
        ------
        InputError
            If the kind cannot be a member; see `kind_of_member`.
        """
        return self.options or kind_of_member(self.kind).options_type()()

    def as_table(self) -> dict[str, Any]:
        """Return the member as a table of a configuration: its kind and the options that it has."""
        return {"kind": self.kind, **(self.options.as_table() if self.options else {})}


def member_name(number: int) -> str:
    """Return the name of a member in messages, from its index counted from 0: ``members[1]``."""
    return f"members[{number + 1}]"


@contextmanager
def errors_of_member(number: int, kind: str = "") -> Iterator[None]:
    """Raise errors of input and of training as errors of a member; see `member_name`."""
    try:
        yield
    except (InputError, TrainingError) as error:
        own = TrainingError if isinstance(error, TrainingError) else InputError
        raise own(f"{member_name(number)}{kind and f' ({kind})'}: {error}") from error


def kind_of_member(name: str) -> Kind:
    """Return a kind of tagger that can be a member.

    The folder of an ensemble names the kinds of its members, and a model folder never causes an
    import path to be imported (see `taggers.registry`). The kind of a member therefore has a name.

    Raises
    ------
    InputError
        If the kind is unknown or an import path, needs no annotated documents, or is itself an
        ensemble.
    """
    if isinstance(name, str) and ":" in name:
        raise InputError(
            f'kind = "{name}" is an import path; expected a kind of the package or the name of an '
            "entry point, so that a saved ensemble can be loaded"
        )
    kind = find_kind(name)
    if not kind.needs_seed:
        raise InputError(
            f'kind = "{kind.name}" needs no annotated documents, and its labels are not the labels '
            "of the seed: it is a kind of [initial_model], and no member of an ensemble"
        )
    if member_fields(kind.options_type()):
        raise InputError(f'kind = "{kind.name}" has members itself; name these members instead')
    return kind


def member_fields(options: type[TaggerOptions]) -> dict[str, tuple[Member, ...]]:
    """Return the fields of options that hold members, and the default of each."""
    return {
        item.name: item.default  # type: ignore[misc]
        for item in fields(options)
        if item.metadata.get("members")
    }


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

        The probabilities of entities are computed from the pool, for any members.
        """
        shared = frozenset.intersection(*(options.capabilities for _, options in self._resolved()))
        return shared | {"entity_probabilities"}

    def as_table(self) -> dict[str, Any]:
        return {"members": [member.as_table() for member in self.members]}

    def training_files(self) -> Mapping[str, Sequence[Path]]:
        """Return the files that training the members reads, as ``members[1].OPTION``."""
        return {
            f"{member_name(number)}.{name}": paths
            for number, options in self._resolved()
            for name, paths in options.training_files().items()
        }

    def check(self) -> Sequence[Coverage]:
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

    def with_list_model(self, fit: Callable[[], Path | None]) -> Self:
        fit = functools.cache(fit)
        return self._with(lambda options: options.with_list_model(fit))

    def listed(self, batch: Batch) -> npt.NDArray[np.bool_] | None:
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
                Member(kinds[number], changed(options)) for number, options in self._resolved()
            ),
        )

"""The members of an ensemble: kinds of taggers with their options."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from corpus.errors import InputError
from taggers.options import TaggerOptions
from taggers.registry import Kind, find_kind

if TYPE_CHECKING:
    from taggers.base import Tagger


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

    def untrained(self) -> Tagger:
        """Construct an untrained tagger.

        Raises
        ------
        InputError
            If the kind cannot be a member; see `kind_of_member`.
        """
        tagger: Tagger = kind_of_member(self.kind).tagger_type()(self.resolved())
        return tagger

    def as_table(self) -> dict[str, Any]:
        """Return the member as a table of a configuration: its kind and the options that it has."""
        return {"kind": self.kind, **(self.options.as_table() if self.options else {})}


def member_name(number: int) -> str:
    """Return the name of a member in messages, from its index counted from 0: ``members[1]``."""
    return f"members[{number + 1}]"


@contextmanager
def errors_of_member(number: int) -> Iterator[None]:
    """Raise errors of input as errors of a member, whose index is counted from 0."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{member_name(number)}: {error}") from error


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
            f'kind = "{kind.name}" needs no annotated documents and its labels are not those of '
            "the seed: it is a kind of [initial_model], and no member of an ensemble"
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

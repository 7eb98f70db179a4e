"""The contract between a run and the options of a tagger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from corpus.batch import Batch
from corpus.errors import InputError, shown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: What a tagger can do beyond tagging documents, where a setting of a run needs it:
#:
#: - ``entity_probabilities``: `Tagger.tag` accepts ``detail="entity"``;
#: - ``document_weights``: `Tagger.fit` weights documents by ``Batch.weights``;
#: - ``partial_tags``: `Tagger.fit` accepts tokens whose tag is unknown (-1).
Capability = Literal["entity_probabilities", "document_weights", "partial_tags"]


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """How many tokens a resource of a tagger covers.

    Parameters
    ----------
    of : str
        What a covered token has, such as ``"a cluster in lower-w5"``.
    count : callable
        Counts the covered tokens of a batch.
    expected : float
        The share of covered tokens below which a warning is due; 0 never warns. A run does not
        start where no resource with an expected share covers any token.
    advice : str
        The likely reason, at the end of the warning.
    """

    of: str
    count: Callable[[Batch], int]
    expected: float = 0.0
    advice: str = ""


@dataclass(frozen=True, slots=True)
class TaggerOptions:
    """Base of the options of every kind of tagger.

    Options are a frozen dataclass whose fields are keys of ``[tagger]`` or ``[initial_model]``, all
    with defaults, of type str, int, float, bool, ``Literal``, ``tuple[str, ...]``,
    ``Mapping[str, str]`` or ``Mapping[str, float]``. ``__post_init__`` raises an `InputError` for
    values that contradict each other. Nothing else in a run knows the fields. The methods have
    defaults, so that a dataclass without any method is complete.

    The metadata of a field may hold:

    - ``help``: one sentence for ``bootstrap init`` and the documentation;
    - ``least`` and ``most``: the limits of a number;
    - ``example``: TOML that shows a value where the default is empty;
    - ``path``: True if the string, or each string of the tuple, is a path. A configuration
      resolves it relative to its own folder;
    - ``builtin``: the names that stand for resources of the package in place of a path.
    """

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What a tagger with these options supports; nothing optional by default."""
        return frozenset()

    def files(self) -> Mapping[str, Sequence[Path]]:
        """Return the files that training reads, by the option that names them.

        A run records their digests, and is not resumed if one has changed. The default returns
        every path among the fields.
        """
        return {name: paths for name in path_fields(type(self)) if (paths := self.paths(name))}

    def paths(self, name: str) -> list[Path]:
        """Return the paths in a field, without the names of builtin resources."""
        value, builtin = getattr(self, name), path_fields(type(self))[name]
        values = [value] if isinstance(value, str) else value
        return [Path(each) for each in values if each and each not in builtin]

    def check(self) -> Sequence[Coverage]:
        """Check the options against the files that they name, before a run begins.

        The default checks that the files are there.

        Returns
        -------
        sequence of Coverage
            The resources whose coverage of the notes is reported.

        Raises
        ------
        InputError
            If a file is missing or of another kind, or does not hold what the options name.
        """
        for name, paths in self.files().items():
            for path in paths:
                if not path.is_file():
                    raise InputError(f"{name}: {shown(path)} is not there or is not a file")
        return ()

    def with_word_counts(self, count: Callable[[], Path]) -> Self:
        """Return options that name the word counts of the unlabeled notes.

        Parameters
        ----------
        count : callable
            Counts all words of the unlabeled notes, once, and returns the file of the counts (see
            `corpus.counts.WordCounts`). The default does not call it and returns the options.
        """
        return self


def path_fields(options: type[DataclassInstance]) -> dict[str, tuple[str, ...]]:
    """Return the fields of options that hold paths, with the builtin names that each accepts."""
    return {
        each.name: tuple(each.metadata.get("builtin", ()))
        for each in fields(options)
        if each.metadata.get("path")
    }

"""The contract between a run and the options of a tagger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError, shown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: Optional capabilities of a tagger, which some settings of a run require:
#:
#: - ``entity_probabilities``: `Tagger.tag` accepts ``detail="entity"``;
#: - ``document_weights``: `Tagger.fit` weights documents by ``Batch.weights``;
#: - ``partial_tags``: `Tagger.fit` accepts tokens whose tag is unknown (-1).
Capability = Literal["entity_probabilities", "document_weights", "partial_tags"]

#: Replaces the paths of resources in a saved model, which contains the resources themselves.
INSIDE_MODEL = "."


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """The token coverage of a resource of a tagger.

    Parameters
    ----------
    of : str
        What a covered token has, such as ``"a cluster in lower-w5"``.
    count : callable
        Counts the covered tokens of a batch.
    expected : float
        The share of covered tokens below which a warning is printed; 0 disables the warning. A run
        does not start if no resource with an expected share covers any token.
    advice : str
        The likely cause of low coverage, appended to the warning.
    """

    of: str
    count: Callable[[Batch], int]
    expected: float = 0.0
    advice: str = ""


@dataclass(frozen=True, slots=True)
class TaggerOptions:
    """Base class of the options of every kind of tagger.

    Options are a frozen dataclass whose fields are the keys of ``[tagger]`` or ``[initial_model]``.
    Every field has a default and one of the types str, int, float, bool, ``Literal``,
    ``tuple[str, ...]``, ``Mapping[str, str]`` or ``Mapping[str, float]``, or holds other taggers
    as ``tuple[taggers.ensemble.member.Member, ...]``. ``__post_init__`` raises an `InputError` for
    inconsistent values. The run treats options as opaque: it uses only the methods below. All
    methods have defaults, so that a subclass with fields alone is complete.

    The metadata of a field may hold:

    - ``help``: one sentence for ``bootstrap init`` and the documentation;
    - ``least`` and ``most``: the minimum and the maximum of a number;
    - ``example``: an example value in TOML, for fields whose default is empty;
    - ``path``: True if the string, or each string of the tuple, is a path. A configuration
      resolves it relative to its own folder;
    - ``builtin``: names of builtin resources that are accepted in place of a path;
    - ``may_be_empty``: True if the strings of a mapping may be empty.
    """

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The optional capabilities of a tagger with these options; none by default."""
        return frozenset()

    def as_table(self) -> dict[str, Any]:
        """Return the options as the values of a table of a configuration.

        The default returns the fields.
        """
        return asdict(self)

    def files(self) -> Mapping[str, Sequence[Path]]:
        """Return the files that training reads, by the option that names them.

        A run records their digests, and cannot be resumed after one of them has changed. The
        default returns the paths in all fields.
        """
        return {name: paths for name in path_fields(type(self)) if (paths := self.paths(name))}

    def paths(self, name: str) -> list[Path]:
        """Return the paths in the field `name`, without the names of builtin resources."""
        value, builtin = getattr(self, name), path_fields(type(self))[name]
        values = [value] if isinstance(value, str) else value
        return [Path(each) for each in values if each and each not in builtin]

    def check(self) -> Sequence[Coverage]:
        """Check the options and the files that they name, before a run starts.

        The default checks that the files exist.

        Returns
        -------
        sequence of Coverage
            The resources whose coverage of the notes is reported.

        Raises
        ------
        InputError
            If a file is missing, has another format, or lacks what the options refer to.
        """
        for name, paths in self.files().items():
            for path in paths:
                if not path.is_file():
                    raise InputError(f"{name}: {shown(path)} is not there or is not a file")
        return ()

    def second_view(self) -> Self:
        """Return the options of a tagger with another view of the same documents.

        The strategies that select where two views agree train a second tagger with these options.
        It should make other errors than the first one: it lacks features of the layout, which
        differs most between a seed and other documents. The default returns the options unchanged;
        the second tagger then differs by its training documents alone.
        """
        return self

    def with_word_counts(self, count: Callable[[], Path]) -> Self:
        """Return options that refer to the word counts of the unlabeled notes.

        The default returns the options unchanged, for taggers that use no word counts.

        Parameters
        ----------
        count : callable
            Counts the words of all unlabeled notes at its first call, and returns the path of the
            counts (see `corpus.counts.WordCounts`).
        """
        return self

    def with_embeddings(self, train: Callable[[], Path | None]) -> Self:
        """Return options that refer to word embeddings trained on the text of the run.

        The default returns the options unchanged, for taggers that use no such embeddings.

        Parameters
        ----------
        train : callable
            Trains embeddings of words, and clusters of them, on the text of all documents of the
            run at its first call. It returns their folder, or None if the text has too few words.
        """
        return self

    def listed(self, batch: Batch) -> npt.NDArray[np.bool_] | None:
        """Return which tokens of a batch are in the gazetteers of the options, shape (N,).

        A run measures with it whether entities in the gazetteers are found more often. The default
        returns None, for options that name no gazetteers.
        """
        return None


def path_fields(options: type[DataclassInstance]) -> dict[str, tuple[str, ...]]:
    """Return the fields of options that hold paths, and the builtin names that each accepts."""
    return {
        each.name: tuple(each.metadata.get("builtin", ()))
        for each in fields(options)
        if each.metadata.get("path")
    }

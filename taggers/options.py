"""The options of taggers: how fields are declared and checked, and what a run asks of them."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Self,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from corpus.storage.fields import Fields

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: Optional capabilities of a tagger, which some settings of a run require:
#:
#: - ``entity_probabilities``: `Tagger.tag` accepts ``detail="entity"``;
#: - ``document_weights``: `Tagger.fit` weights documents by ``Batch.weights``;
#: - ``partial_tags``: `Tagger.fit` accepts tokens whose tag is unknown (-1).
Capability = Literal["entity_probabilities", "document_weights", "partial_tags"]
ALL_CAPABILITIES: frozenset[Capability] = frozenset(get_args(Capability))

#: What is propagated of an entity: its text, or the words of a full name as well.
Reach = Literal["text", "words"]

#: Replaces the paths of resources in a saved model, which contains the resources themselves.
INSIDE_MODEL = "."

_UNIONS = (Union, UnionType)
_TYPES = {str: "string", int: "integer", float: "number", bool: "true or false"}


def option(
    default: Any,
    help: str,
    *,
    least: float | None = None,
    most: float | None = None,
    example: str = "",
    path: bool | tuple[str, ...] = False,
    members: bool = False,
    choices: Sequence[str] = (),
) -> Any:
    """Declare a field of options: one key of a section of a configuration.

    Parameters
    ----------
    default : Any
        The default; `dataclasses.MISSING` if a configuration must name the key.
    help : str
        One sentence for ``bootstrap init`` and the page of settings.
    least, most : float, optional
        The minimum and the maximum of a number, or of each number of a list or table.
    example : str
        An example value in TOML, for fields whose default is empty.
    path : bool or tuple of str
        Whether the string, or each string of the tuple, is a path. A configuration resolves it
        relative to its own folder. A tuple names builtin resources that are accepted, too.
    members : bool
        Whether the field holds other taggers with their options.
    choices : sequence of str
        The values of a string whose type is not a ``Literal``: the names of the rows of a table.

    Examples
    --------
    >>> @dataclass(frozen=True, slots=True)
    ... class WordOptions(TaggerOptions):
    ...     min_count: int = option(1, "ignore words with fewer occurrences", least=1)
    >>> WordOptions().min_count
    1
    """
    metadata: dict[str, Any] = {"help": help, "least": least, "most": most, "example": example}
    metadata |= {"path": path, "members": members, "choices": tuple(choices)}
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


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

    Options are a frozen dataclass whose fields are the keys of ``[tagger]`` or ``[initial_model]``,
    each declared by `option`. Every field has a default and one of the types str, int, float, bool,
    ``Literal``, ``tuple[str, ...]``, ``tuple[int, ...]``, ``Mapping[str, str]`` or
    ``Mapping[str, float]``, or a union of some of them, or holds other taggers. ``__post_init__``
    raises an `InputError` for inconsistent values. The run treats options as opaque: it uses only
    the methods below. All methods have defaults, so that a subclass with fields alone is complete.
    """

    @classmethod
    def from_fields(cls, values: Fields) -> Self:
        """Build options from the description of a model, and check every value.

        Parameters
        ----------
        values : Fields
            The values of the fields. Paths can only be `INSIDE_MODEL`, since a model contains the
            resources that it was trained with.

        Raises
        ------
        InputError
            If an option is unknown, or a value is invalid for its option.
        """
        known, hints = {item.name: item.metadata for item in fields(cls)}, get_type_hints(cls)
        checked: dict[str, Any] = {}
        for key in values:
            if key not in known:
                raise InputError(f"{values.place} has an option that its kind does not know")
            try:
                value = checked_value(values.value(key), hints[key], known[key])
            except InputError as error:
                raise InputError(f'{values.place}: "{key}": {error}') from None
            paths = (value,) if isinstance(value, str) else value
            if known[key].get("path") and not set(paths) <= {"", INSIDE_MODEL}:
                raise values.error(key, f'"{INSIDE_MODEL}", since a model contains its resources')
            checked[key] = value
        try:
            return cls(**checked)
        except InputError:  # whose message may quote the model
            raise InputError(
                f"{values.place}: its options have values that cannot be combined, or are not valid"
            ) from None

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The optional capabilities of a tagger with these options; none by default."""
        return frozenset()

    def as_table(self) -> dict[str, Any]:
        """Return the options as the values of a table of a configuration.

        The default returns the fields.
        """
        return asdict(self)

    def training_files(self) -> Mapping[str, Sequence[Path]]:
        """Return the files that training reads, by the option that names them.

        A run records their digests, and cannot be resumed after one of them has changed. The
        default returns the paths in all fields.
        """
        return {name: paths for name in path_fields(type(self)) if (paths := self.paths(name))}

    def paths(self, name: str) -> list[Path]:
        """Return the paths in the field `name`, without the names of builtin resources."""
        value, builtin = getattr(self, name), path_fields(type(self))[name]
        values = [value] if isinstance(value, str) else value
        return [Path(path) for path in values if path and path not in builtin]

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
            If a file or an installed package is missing, a file has another format, or it lacks
            what the options refer to.
        """
        for name, paths in self.training_files().items():
            for path in paths:
                if not path.is_file():
                    raise InputError(f"{name}: {path} is not there or is not a file")
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

    def with_list_model(self, fit: Callable[[], Path | None]) -> Self:
        """Return options that refer to a model of lists fitted to the words of the run.

        The default returns the options unchanged, for taggers that use no such model.

        Parameters
        ----------
        fit : callable
            Fits a tagger of the kind "lists" to the words of the unlabeled notes at its first call.
            It returns the folder of the model, or None if there is none.
        """
        return self

    def listed(self, batch: Batch) -> npt.NDArray[np.bool_] | None:
        """Return which tokens of a batch are in the gazetteers of the options, shape (N,).

        A run measures with it whether entities in the gazetteers are found more often. The default
        returns None, for options that name no gazetteers.
        """
        return None

    def refuse_unnamed(self, *names: str) -> None:
        """Raise an `InputError` if a field with paths of gazetteers contains an empty path."""
        for name in names:
            if "" in getattr(self, name):
                raise InputError(f'{name} names "": expected paths of gazetteers')


def path_fields(options: type[DataclassInstance]) -> dict[str, tuple[str, ...]]:
    """Return the fields of options that hold paths, and the builtin names that each accepts."""
    return {
        item.name: path if isinstance(path, tuple) else ()
        for item in fields(options)
        if (path := item.metadata.get("path"))
    }


def describe(kind: Any, metadata: Mapping[str, Any]) -> str:
    """Describe the values of a field: ``integer, at least 1`` or ``"stop" or "longest"``."""
    choices = metadata.get("choices") or (get_args(kind) if get_origin(kind) is Literal else ())
    if choices:
        *first, last = (f'"{name}"' for name in choices)
        return f"{', '.join(first)} or {last}" if first else last
    if metadata.get("members"):
        return "list of tables"
    if get_origin(kind) in _UNIONS:
        return " or ".join(describe(part, metadata) for part in get_args(kind))
    if get_origin(kind) is tuple:
        text = f"list of {_TYPES[get_args(kind)[0]]}s"
    elif get_origin(kind) is Mapping:
        value = get_args(kind)[1]
        text = f"table of {f'{_TYPES[value]}s' if value in _TYPES else describe(value, {})}"
    else:
        text = _TYPES[kind]
    has_limits = kind not in (str, tuple[str, ...])  # which may stand beside a number in a union
    least, most = (metadata.get(name) if has_limits else None for name in ("least", "most"))
    if least is not None and most is not None:
        return f"{text}, {least} to {most}"
    if least is not None:
        return f"{text}, at least {least}"
    return text if most is None else f"{text}, at most {most}"


def checked_value(value: Any, kind: Any, metadata: Mapping[str, Any]) -> Any:
    """Convert a value of TOML or JSON to the value of a field.

    Parameters
    ----------
    value : Any
        A value of TOML or JSON.
    kind : type
        The type of the field; see `TaggerOptions`.
    metadata : mapping of str to Any
        Its metadata; see `option`.

    Raises
    ------
    InputError
        If it has another type, is outside of its limits, or is not finite. The message describes
        what was expected, but not the value.
    """
    if metadata.get("members"):  # which their owner has parsed
        return value
    try:
        return msgspec.convert(value, _constrained(kind, metadata))
    except msgspec.ValidationError:
        text = describe(kind, metadata).replace("number", "finite number")
        article = "an " if text[0] == "i" else "" if text.startswith(('"', "true")) else "a "
        example = f", such as {metadata['example']}" if metadata.get("example") else ""
        raise InputError(f"expected {article}{text}{example}") from None


def _constrained(kind: Any, metadata: Mapping[str, Any]) -> Any:
    """Return the type of a field with its limits, for msgspec."""
    if choices := metadata.get("choices"):
        return Literal[choices]
    if get_origin(kind) in _UNIONS:
        return functools.reduce(operator.or_, (_constrained(p, metadata) for p in get_args(kind)))
    if get_origin(kind) is tuple:
        return tuple[_constrained(get_args(kind)[0], metadata), ...]  # type: ignore[misc]
    if get_origin(kind) is Mapping:
        return dict[str, _constrained(get_args(kind)[1], metadata)]  # type: ignore[misc]
    least, most = metadata.get("least"), metadata.get("most")
    if kind is float:  # without infinities and NaN
        least = -sys.float_info.max if least is None else least
        most = sys.float_info.max if most is None else most
    return Annotated[kind, msgspec.Meta(ge=least, le=most)] if kind in (int, float) else kind


def is_required(item: Field[Any]) -> bool:
    """Return whether a field has no default, so that a configuration must name it."""
    return item.default is MISSING and item.default_factory is MISSING

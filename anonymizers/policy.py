"""Policies: which operator replaces the mentions of each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from anonymizers.categories import UNKNOWN, builtin_categories, categories
from anonymizers.known_patients import KnownOptions
from anonymizers.operator import Operator
from anonymizers.operators import PLACEHOLDER, operator_type
from corpus.errors import InputError, one_line, quoted
from corpus.storage.fields import parse_toml, read_content

#: The policies of the package, by name.
POLICIES = ("placeholders", "surrogates", "limited", "strict")


class _PolicyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A policy as its file has it."""

    extends: str = ""
    categories: dict[str, str] = {}
    operators: dict[str, str | dict[str, Any]] = {}
    known: KnownOptions | None = None
    phrases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """What replaces the mentions of each class.

    Parameters
    ----------
    categories : mapping of str to str
        The category of each class.
    operators : mapping of str to Operator
        The operator of classes and of categories. The one of a class comes first.
    known : KnownOptions, optional
        Where to find what is known of patients.
    phrases : tuple of str
        Gazetteers whose phrases are also replaced: files or built-in lists.
    """

    categories: Mapping[str, str]
    operators: Mapping[str, Operator]
    known: KnownOptions | None = None
    phrases: tuple[str, ...] = ()

    def category(self, label: str) -> str:
        """Return the category of a class; `UNKNOWN` if nobody has described it."""
        return self.categories.get(label, UNKNOWN)

    def operator(self, label: str) -> Operator:
        """Return the operator of a class, which is a placeholder where the policy names none."""
        category = self.category(label)
        if category == UNKNOWN:  # whatever it is called: it may have the name of a category
            return PLACEHOLDER
        return self.operators.get(label) or self.operators.get(category) or PLACEHOLDER

    @property
    def needs_key(self) -> bool:
        """Whether a replacement depends on the key."""
        return any(operator.needs_key for operator in self.operators.values())


def read_policy(name: str) -> Policy:
    """Read a policy.

    Parameters
    ----------
    name : str
        One of `POLICIES`, or the path of a TOML file. Its table ``[operators]`` has the operator
        of classes and categories: a name, or a table with its name as ``operator`` and its options.
        Its table ``[categories]`` has the category of other classes. The rest is as in the policy
        that it names as ``extends``.

    Raises
    ------
    InputError
        If the file cannot be read or has a value that a policy does not have.
    """
    if name in POLICIES:
        return _policy_of((files("anonymizers") / "policies" / f"{name}.toml").read_bytes(), name)
    path = Path(name)
    try:
        return _policy_of(read_content(path), name)
    except OSError as error:
        raise InputError(
            f"the policy {path} cannot be read: {error.strerror}; expected a TOML file or one of "
            f"{', '.join(POLICIES)}"
        ) from None


def _policy_of(content: bytes, name: str) -> Policy:
    try:
        file = msgspec.convert(parse_toml(content, name), _PolicyFile)
    except (msgspec.ValidationError, InputError) as error:
        raise InputError(f"{name}: {one_line(str(error))}; see `bootstrap help policies`") from None
    if file.extends and file.extends not in POLICIES:
        raise InputError(f"{name}: extends: expected one of {', '.join(POLICIES)}")
    base = read_policy(file.extends) if file.extends else Policy(builtin_categories(), {})
    for label, category in file.categories.items():
        if category not in categories():
            raise InputError(
                f"{name}: [categories] {quoted(label)}: expected one of {', '.join(categories())}"
            )
    known = {**base.categories, **file.categories}
    for of in file.operators:
        if of not in categories() and of not in known:
            raise InputError(
                f"{name}: [operators] {quoted(of)} is neither a category nor a class that has one: "
                f"name one of {', '.join(categories())} for it in [categories]"
            )
    operators = {of: _operator(value, f"{name}: {of}") for of, value in file.operators.items()}
    return Policy(known, {**base.operators, **operators}, file.known, file.phrases)


def _operator(value: str | Mapping[str, Any], place: str) -> Operator:
    """Return an operator of a policy with its options."""
    table = {"operator": value} if isinstance(value, str) else dict(value)
    kind = operator_type(str(table.pop("operator", "")), place)
    try:
        return msgspec.convert(table, kind)
    except (msgspec.ValidationError, InputError) as error:
        raise InputError(f"{place}: {one_line(str(error))}") from None

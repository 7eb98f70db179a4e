"""The contract of operators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import msgspec

from anonymizers.keys import Key
from anonymizers.mention import Mention

#: How an operator of another package may fail; a program that ends would print its reason.
FAILURES = (Exception, SystemExit)


class Operator(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base class of operators, whose fields are the options of a policy.

    An operator of another package is a subclass that an entry point of the group
    ``bootstrap.operators`` names. It implements `replace`, or `replace_all` if what replaces a
    mention depends on others. Its docstring says what it protects against and what it loses.
    """

    #: Whether the replacement depends on the place of the mention.
    needs_place: ClassVar[bool] = False

    @property
    def needs_key(self) -> bool:
        """Whether the replacement depends on the key."""
        return True

    @abstractmethod
    def replace(self, mention: Mention, key: Key) -> str | None:
        """Return what replaces a mention; None if nothing can, so that a placeholder does."""

    def replace_all(self, mentions: Sequence[Mention], key: Key) -> list[str | None]:
        """Return what replaces mentions of whole notes, in order; None as in `replace`."""
        if self.needs_place:
            return [_or_none(self, mention, key) for mention in mentions]
        texts: dict[tuple[str, str, str], str | None] = {}  # half of the mentions recur
        for mention in mentions:
            value = mention.patient, mention.label, mention.text
            if value not in texts:
                texts[value] = _or_none(self, mention, key)
        return [texts[mention.patient, mention.label, mention.text] for mention in mentions]

    def replaced(self, mentions: Sequence[Mention], key: Key) -> list[str | None]:
        """Return the result of `replace_all`, with None for what is no text."""
        try:
            texts = list(self.replace_all(mentions, key))
        except FAILURES:
            texts = []
        if len(texts) != len(mentions):
            return [None] * len(mentions)
        return [text if isinstance(text, str) and _is_writable(text) else None for text in texts]


def _or_none(operator: Operator, mention: Mention, key: Key) -> str | None:
    try:
        return operator.replace(mention, key)
    except FAILURES:
        return None


def _is_writable(text: str) -> bool:
    """Return whether a text can be encoded: it may have a half of a surrogate pair."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)

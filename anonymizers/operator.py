"""The contract of operators, and how policies name them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import msgspec

from anonymizers.keys import Key
from anonymizers.mention import Mention


class Operator(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base class of operators, whose fields are the options of a policy.

    An operator of another package is a subclass that an entry point of the group
    ``bootstrap.operators`` names. Its docstring says what it protects against and what it loses.
    """

    #: Whether the replacement depends on the key.
    needs_key: ClassVar[bool] = True

    @abstractmethod
    def replace(self, mention: Mention, key: Key) -> str | None:
        """Return what replaces a mention; None if nothing can, so that a placeholder does."""

    def replace_all(self, mentions: Sequence[Mention], key: Key) -> list[str | None]:
        """Return what replaces the mentions of a batch of whole notes, in order."""
        return [self._replaced(mention, key) for mention in mentions]

    def _replaced(self, mention: Mention, key: Key) -> str | None:
        try:
            return self.replace(mention, key)
        except Exception:
            return None

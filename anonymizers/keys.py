"""Secret keys, from which all replacements follow."""

from __future__ import annotations

import os
import secrets
import struct
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Self, TypeVar

from corpus.errors import InputError
from corpus.storage.atomic import write_atomically

#: The environment variable that has a key in hexadecimal.
VARIABLE = "BOOTSTRAP_KEY"

#: The least bytes of a key.
LEAST_BYTES = 32
_MOST_BYTES = 1 << 16

#: Numbers of 64 bits in bytes, by how many there are.
_QUADS = [struct.Struct(f">{number}Q") for number in range(9)]

Item = TypeVar("Item")


class Key:
    """A secret key.

    Who has it can compute the replacement of any name. It is never written or shown; `fingerprint`
    tells keys apart.

    Parameters
    ----------
    secret : bytes
        At least `LEAST_BYTES`.

    Raises
    ------
    InputError
        If the secret is too short.
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) < LEAST_BYTES:
            raise InputError(
                f"a key has {len(secret)} bytes; expected at least {LEAST_BYTES}: make one with "
                "`bootstrap key FILE`"
            )
        self._secret = blake2b(secret, person=b"bootstrap key").digest()

    @classmethod
    def random(cls) -> Self:
        """Return a key that nobody else will have."""
        return cls(secrets.token_bytes(LEAST_BYTES))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a key from a file, whose content is the secret, without a final line break.

        Raises
        ------
        InputError
            If the file cannot be read, or is too short or too long.
        """
        try:
            with path.open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
        except OSError as error:
            raise InputError(f"the key file {path} cannot be read: {error.strerror}") from None
        if len(content) > _MOST_BYTES:
            raise InputError(f"{path} is no key: it has more than {_MOST_BYTES:,} bytes")
        try:
            return cls(content.removesuffix(b"\n").removesuffix(b"\r"))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    @classmethod
    def from_environment(cls) -> Self | None:
        """Return the key of the environment variable `VARIABLE`; None if it is not set.

        Raises
        ------
        InputError
            If it is not hexadecimal, or too short.
        """
        value = os.environ.get(VARIABLE)
        if value is None:
            return None
        try:
            return cls(bytes.fromhex(value))
        except ValueError:
            raise InputError(f"{VARIABLE} is no key: expected hexadecimal digits") from None
        except InputError as error:
            raise InputError(f"{VARIABLE}: {error}") from None

    @property
    def fingerprint(self) -> str:
        """What tells keys apart, and does not reveal them: 16 hexadecimal digits."""
        return self.digest("fingerprint", size=8).hex()

    def digest(self, *parts: str, size: int = 32) -> bytes:
        """Return bytes that follow from the key and some texts; `size` is at most 64."""
        # With their lengths, so that no two lists of texts are the same.
        content = "".join([f"{len(part)}:{part}" for part in parts])
        encoded = content.encode("utf-8", "surrogatepass")
        return blake2b(encoded, key=self._secret, digest_size=size).digest()

    def draws(self, *parts: str) -> Draws:
        """Return random numbers that follow from the key and some texts."""
        return Draws(self.digest(*parts))


class Draws:
    """Random numbers that follow from a seed.

    Parameters
    ----------
    seed : bytes
        At most 64 bytes.
    """

    def __init__(self, seed: bytes) -> None:
        self._seed, self._block = seed, 0
        self._numbers: list[int] = [*_QUADS[len(seed) // 8].unpack_from(seed)]

    def _number(self) -> int:
        """Return a number below 2 ** 64."""
        if not self._numbers:
            self._block += 1
            more = blake2b(self._block.to_bytes(8, "big"), key=self._seed).digest()
            self._numbers = [*_QUADS[8].unpack(more)]
        return self._numbers.pop()

    def uniform(self) -> float:
        """Return a number in [0, 1)."""
        return (self._number() >> 11) * 2.0**-53

    def below(self, number: int) -> int:
        """Return an integer from 0 to one less than a number, which is far below 2 ** 64."""
        return self._number() * number >> 64

    def choice(self, items: Sequence[Item]) -> Item:
        """Return one of some items."""
        return items[self.below(len(items))]


def write_new_key(path: Path) -> Key:
    """Write a random key to a new file, which only its owner can read.

    Raises
    ------
    InputError
        If the file exists.
    """
    if path.exists():
        raise InputError(
            f"{path} exists: a key is never replaced, since what it made depends on it"
        )
    secret = secrets.token_hex(LEAST_BYTES).encode()
    write_atomically(path, secret + b"\n")
    return Key(secret)

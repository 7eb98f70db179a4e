"""TOML that others may have written."""

from __future__ import annotations

import tomllib
from typing import Any

from corpus.errors import InputError


def parse_toml(content: bytes, place: str) -> dict[str, Any]:
    """Parse TOML.

    Parameters
    ----------
    content : bytes
        A document in UTF-8.
    place : str
        Where it is, for error messages.

    Raises
    ------
    InputError
        If it is not TOML, or is nested too deeply.
    """
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{place} is not TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{place} is nested too deeply; expected a few levels") from None
    except ValueError:
        raise InputError(f"{place} has a number of too many digits") from None

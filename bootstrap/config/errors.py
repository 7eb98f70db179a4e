"""The error of a wrong setting."""

from __future__ import annotations

from corpus.errors import InputError


class ConfigurationError(InputError):
    """A setting that does not exist, or cannot have its value."""

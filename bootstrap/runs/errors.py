"""Errors of run folders."""

from __future__ import annotations

from corpus.errors import InputError


class RunError(InputError):
    """A run folder is missing, damaged or in use, or belongs to another run."""

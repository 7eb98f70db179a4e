"""Runs on disk, and what is shown of them: tables, curves and reports."""

from __future__ import annotations

from bootstrap.runs.folder import Run, RunError, locked, new_folder

__all__ = ["Run", "RunError", "locked", "new_folder"]

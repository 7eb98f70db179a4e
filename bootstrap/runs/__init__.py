"""Runs on disk, and what is shown of them: tables, curves and reports."""

"""Synthetic clinical notes in Spanish and Catalan, with gold spans. They contain no real text."""

from corpus.synthetic.notes import synthetic_notes

__all__ = ["synthetic_notes"]

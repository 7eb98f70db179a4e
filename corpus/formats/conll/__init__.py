"""CoNLL columns: a token and its tag a line, and a blank line after each sentence."""

from corpus.formats.conll.reading import count, read
from corpus.formats.conll.writing import write

__all__ = ["count", "read", "write"]

"""Patterns: expressions of identifiers with a fixed format, written by people or learned."""

#: The file of the patterns before a tagger, in the folder of its model.
PATTERNS_FILE = "patterns.json"

#: The modules whose compiled functions find patterns; see `taggers.base.kernels_of`.
KERNELS = ("taggers.patterns.windows",)

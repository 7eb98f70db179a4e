"""The tagger that is spaCy's transition-based recognizer (paper 004)."""

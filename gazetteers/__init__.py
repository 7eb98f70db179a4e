"""Lists of names: frequency dictionaries and phrase lists. Knows nothing of models and runs."""

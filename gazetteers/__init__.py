"""Frequency dictionaries and phrase lists. Knows nothing of models and runs.

Empty for now: the models that start from lists of names bring its contents.
"""

"""Gazetteers, word frequencies of names and phrase matching; independent of models and runs."""

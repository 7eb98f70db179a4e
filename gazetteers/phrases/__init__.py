"""Matching of the phrases of gazetteers in batches."""

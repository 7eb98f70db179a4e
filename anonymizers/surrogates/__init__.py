"""Surrogates: other values of the same category, which look like the originals."""

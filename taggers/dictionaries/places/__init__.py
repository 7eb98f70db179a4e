"""A tagger of names of people and places built from lists, without annotation."""

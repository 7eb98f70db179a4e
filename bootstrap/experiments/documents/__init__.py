"""The documents of the runs of an experiment: splits, drawn seeds, and their files."""

"""The notes of a run: splits, fingerprints and checks."""

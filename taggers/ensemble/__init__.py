"""Ensembles: taggers that pool the predictions of other taggers."""

"""Ensembles: taggers that average the marginals of other taggers."""

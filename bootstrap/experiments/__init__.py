"""Experiments: grids of runs on drawn seeds, cross-validation, and tables that compare them."""

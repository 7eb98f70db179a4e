"""Training a CRF: observed counts, the likelihood of weights, and L-BFGS."""

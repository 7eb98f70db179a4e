"""Training a CRF: what the documents say, the likelihood of weights, and L-BFGS."""

"""Taggers with a neural network: the BiLSTM-CRF and its layers."""

"""Patterns: expressions of identifiers with a fixed format, written by people or learned."""

"""Execution of functions in this process and in others."""

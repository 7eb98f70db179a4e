"""Evaluation: scores and errors of predicted against gold annotations."""

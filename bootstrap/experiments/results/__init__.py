"""The results of an experiment: scores of its runs, their comparison, and its page."""

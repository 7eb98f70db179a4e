"""What to do after a run: where recall is low, and the cheapest step to raise it."""

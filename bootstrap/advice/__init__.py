"""What to do after a run: where recall is missing, and the cheapest step that would add to it."""

"""The tagger that classifies n-grams of words (paper 000)."""

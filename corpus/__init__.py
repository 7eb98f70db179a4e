"""Documents and spans, file formats, tokens, batches, tags and scores. Knows nothing of models."""

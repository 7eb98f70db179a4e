"""Documents and spans, file formats, tokens, batches, tags and scores; independent of models."""

"""Languages of documents, and parts of speech and lemmas of tokens."""

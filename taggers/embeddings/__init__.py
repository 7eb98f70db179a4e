"""Word embeddings trained on unlabeled notes, and word clusters (paper 003, section 3.3)."""

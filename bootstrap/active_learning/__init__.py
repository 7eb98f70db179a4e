"""Active learning: rounds of documents that a person annotates (paper 003, section 4.4)."""

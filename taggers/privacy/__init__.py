"""What a model reveals of its training documents: counts of patients, pruning and traces."""

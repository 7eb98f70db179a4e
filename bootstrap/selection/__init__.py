"""Selection of the pseudo-labelled documents that join the training set."""

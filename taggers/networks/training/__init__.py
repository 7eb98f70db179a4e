"""Training of networks in Keras, in a separate process."""

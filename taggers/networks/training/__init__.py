"""Training of networks in Keras, in a process of its own."""

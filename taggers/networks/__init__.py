"""Neural networks that tag: layers for Keras 3, on any of its backends."""

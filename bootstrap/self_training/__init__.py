"""The self-training loop (paper 003, section 3.2.1): pure, without files and console."""

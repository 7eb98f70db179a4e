"""Files of the program: written atomically and locked, with digests, and checked when read."""

"""The commands, a module each with `register`, which adds its arguments, and `main`.

All modules are imported to build the parser, so what is slow to import is imported in `main`.
"""

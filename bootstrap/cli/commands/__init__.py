"""The functions that carry out commands; `bootstrap.cli.parser` has their arguments."""

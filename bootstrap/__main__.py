"""``python -m bootstrap``: the command line."""

from bootstrap.cli.program import run

if __name__ == "__main__":
    run()

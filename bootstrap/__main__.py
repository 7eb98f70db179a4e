"""``python -m bootstrap``: the command line."""

import sys

from bootstrap.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

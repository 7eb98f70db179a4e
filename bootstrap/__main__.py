"""``python -m bootstrap``: the command line."""

import sys
from pathlib import Path

from bootstrap.cli.program import run

if __name__ == "__main__":
    if not sys.flags.safe_path and Path(sys.path[0]) != Path(__file__).parents[1]:
        del sys.path[0]  # the current folder, which may be a run of somebody else
    run()

"""``python -m bootstrap``: the command line."""

import sys
from pathlib import Path

from bootstrap.cli.program import run

if __name__ == "__main__":
    # Python puts the current folder first, which may be a run of somebody else, with modules in it.
    first, own = Path(sys.path[0]).resolve(), Path(__file__).resolve().parents[1]
    if not sys.flags.safe_path and first != own:
        del sys.path[0]
    run()

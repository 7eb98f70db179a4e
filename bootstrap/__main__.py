"""``python -m bootstrap``: the command line."""

import sys

from bootstrap.cli.main import main

sys.exit(main())

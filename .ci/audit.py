"""Ask the database of advisories about every version of the lock.

    python .ci/audit.py

`pip-audit` looks at what the Python that runs it would install, and at one version of a package at
a time. So that versions for other systems are audited, too, it runs on lists without markers. It
needs the network, and fails if a package cannot be audited.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from locked import Pin, read_locks, versions_of

_COMMAND = (
    "pip_audit",
    "--strict",
    "--disable-pip",
    "--require-hashes",
    "--progress-spinner",
    "off",
)


def lists_of(versions: Sequence[Sequence[Pin]]) -> list[list[Pin]]:
    """Return lists without markers that have each package once, and together every version."""
    return [
        [dataclasses.replace(pin, marker="") for pin in pins if pin is not None]
        for pins in zip_longest(*versions)
    ]


def audit(pins: Sequence[Pin]) -> int:
    """Run `pip-audit` on a list, and return its exit code."""
    print(f"auditing {len(pins)} packages", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "requirements.txt"
        path.write_text("".join(f"{pin.line}\n" for pin in pins), encoding="utf-8")
        return subprocess.run([sys.executable, "-m", *_COMMAND, "-r", path], check=False).returncode


if __name__ == "__main__":
    sys.exit(max([audit(pins) for pins in lists_of(versions_of(read_locks()))]))

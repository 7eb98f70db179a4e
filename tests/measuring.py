"""The memory that a piece of Python takes, in a process of its own."""

import subprocess
import sys

_PEAK = """
from pathlib import Path
print(int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024)
"""


def measured(code: str, *arguments: object) -> tuple[str, float]:
    """Run a piece of Python; return what it prints, and the MiB of memory that it takes at most."""
    command = [sys.executable, "-c", code + _PEAK, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said, _, memory = done.stdout.strip().rpartition("\n")
    return said, float(memory)

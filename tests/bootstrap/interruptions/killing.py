"""Commands that are killed at each of their steps on disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def killed_everywhere(folder: Path, *command: object) -> list[str]:
    """Carry out a command, killed at each of its steps on disk and then repeated.

    Returns
    -------
    list of str
        The names of the folders in which it ended, the undisturbed one last.
    """
    script = "tests.bootstrap.interruptions.crash_everywhere"
    done = subprocess.run(
        [sys.executable, "-m", script, folder, *map(str, command)],
        check=True,
        capture_output=True,
        text=True,
        timeout=1500,
        cwd=Path(__file__).parents[3],
    )
    places = [line.split(": ") for line in done.stdout.splitlines()]
    wrong = [place for place in places[:-1] if place[1] != "99, 0"]
    assert not wrong, (wrong, done.stderr[-2000:])
    assert places[-1][1] == "0, 0"
    assert len(places) > 15
    return [name for name, _ in places]

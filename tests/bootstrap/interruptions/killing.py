"""Commands that are killed at each of their steps on disk."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def attempts(folder: Path, how: str, prepared: object, *command: object) -> list[dict[str, Any]]:
    """Carry out a command, disturbed at each of its steps and repeated; see `crash_everywhere`."""
    script = "tests.bootstrap.interruptions.crash_everywhere"
    done = subprocess.run(
        [sys.executable, "-m", script, *map(str, (folder, how, prepared, *command))],
        check=False,
        capture_output=True,
        text=True,
        timeout=1500,
        cwd=Path(__file__).parents[3],
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def killed_everywhere(folder: Path, *command: object) -> list[str]:
    """Return the folders in which a run killed everywhere and resumed ended, the whole one last."""
    *killed, whole = attempts(folder, "run killed", "", *command, "{}")
    assert all((attempt["code"], attempt["again"]) == (99, 0) for attempt in killed), killed
    assert whole["code"] == 0 and len(killed) >= 15, whole
    return [attempt["name"] for attempt in (*killed, whole)]

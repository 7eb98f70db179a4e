"""Memory of counting many words, training embeddings of them and showing neighbours.

The notes consist of different words, five times each. The peak memory of the largest process of
each command is printed.

    python benchmarks/embeddings.py --words 600000
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_WORDS = 100  # words per note
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def word(number: int) -> str:
    """Convert a number to a word."""
    number = number * 7919 + 26**4
    letters = ""
    while number:
        number, letter = divmod(number, 26)
        letters += _LETTERS[letter]
    return letters


def write_notes(path: Path, words: int) -> None:
    """Write every word five times, each time in a different order."""
    rng = random.Random(0)
    with path.open("w") as file:
        for time_ in range(5):
            order = rng.sample(range(words), words)
            for begin in range(0, words, _WORDS):
                text = " ".join(map(word, order[begin : begin + _WORDS]))
                file.write(json.dumps({"id": f"{time_}-{begin}", "text": text}) + "\n")


def measured(*arguments: object) -> None:
    """Run a command and print its peak memory and duration."""
    program = [
        sys.executable,
        "-c",
        "import sys; from bootstrap.cli.main import main; sys.exit(main())",
        *map(str, arguments),
    ]
    begin = time.perf_counter()
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    print(
        f"{' '.join(map(str, arguments[: 2 if arguments[1] == 'show' else 1])):12} "
        f"{usage.ru_maxrss / 1e6 * 1.024:.2f} GB  {time.perf_counter() - begin:.0f} s",
        flush=True,
    )


def main() -> None:
    """Print the memory and the duration of each command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=600_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        notes = folder / "notes.jsonl"
        write_notes(notes, options.words)
        measured("count", notes, "-o", folder / "words.parquet")
        measured(
            "embed", "train", notes, "-o", folder / "e", "--normalise", "none", "--epochs", "2"
        )
        measured("embed", "show", folder / "e", word(17))


if __name__ == "__main__":
    main()

"""Regular expressions that others may have written, compiled within limits.

An expression of 30 characters can take hours or gigabytes to compile, which nothing interrupts. All
of them are therefore compiled in a process of their own first. It runs this file, which imports
nothing else of the package but errors.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

import regex

from corpus.errors import InputError

#: The most rules, and characters of one of them and of all together.
_MOST, _LONGEST, _LONGEST_TOGETHER = 500, 10_000, 50_000
#: The seconds of a processor and the memory that compiling may take, and the seconds until it must
#: have ended, for a machine that is busy, and for Windows, which has no limits of these.
_SECONDS, _MEMORY, _WAIT = 1, 1 << 27, 20
#: The levels of calls in that process. They must suffice in a process that has many already.
_DEEPEST = 400

# A reference to a group by number: \1, \g<1>, (?1), (?R), or the condition (?(1)...).
_NUMBERED = re.compile(r"(?<!\\)(?:\\\\)*(?:\\[1-9]|\\g<[-+0-9]|\(\?(?:\(?[-+]?[0-9]|R\)))")


def combined(rules: Mapping[str, str]) -> str:
    """Return the expression of the first rule that matches; its number is the last group."""
    return "|".join(f"(?P<_{number}>{rule})" for number, rule in enumerate(rules.values()))


@functools.lru_cache(maxsize=8)  # options, a tagger and its annotator compile the same rules
def compiled(rules: tuple[tuple[str, str], ...]) -> regex.Pattern[str]:
    """Return the expression of rules by name, see `combined`.

    Raises
    ------
    InputError
        If a rule is not a valid regular expression, matches the empty string or does not combine
        with the others, or if they are too many, or take too much time or memory to compile.
    """
    names = ", ".join(name for name, _ in rules)
    if len(rules) > _MOST or sum(len(rule) for _, rule in rules) > _LONGEST_TOGETHER:
        raise InputError(
            f"there are {len(rules):,} rules, {names}; expected at most {_MOST:,} with "
            f"{_LONGEST_TOGETHER:,} characters together"
        )
    paths = os.pathsep.join(path for path in sys.path if path)
    try:
        # With -P, nothing is imported from the current folder.
        done = subprocess.run(
            [sys.executable, "-P", __file__],
            input=json.dumps(rules).encode(),
            capture_output=True,
            timeout=_WAIT,
            check=False,
            env={**os.environ, "PYTHONPATH": paths},
        )
        fault, ended = done.stdout.decode(), done.returncode == 0
    except subprocess.TimeoutExpired:
        fault, ended = "", False
    if fault:
        raise InputError(fault)
    if not ended:
        raise InputError(
            f"the rules {names} take more than {_SECONDS} second or {_MEMORY >> 20} MiB to "
            "compile; expected rules without nested repetition such as (a{1000}){1000}"
        )
    return regex.compile(combined(dict(rules)))


def main() -> None:
    """Check the rules that standard input names, and write what is wrong to standard output."""
    with suppress(ImportError):  # on Windows
        import resource  # noqa: PLC0415 - the same

        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
        with suppress(ValueError):  # on macOS, or where less is allowed
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    sys.setrecursionlimit(_DEEPEST)
    try:
        _check(json.loads(sys.stdin.buffer.read()))
    except InputError as error:
        sys.stdout.buffer.write(str(error).encode())


def _check(rules: Sequence[tuple[str, str]]) -> None:
    """Compile each rule alone, then all of them together."""
    groups = {f"_{number}" for number in range(len(rules))}
    for name, rule in rules:
        if len(rule) > _LONGEST:
            raise InputError(
                f"the rule {name} has {len(rule):,} characters; expected at most {_LONGEST:,}"
            )
        try:
            pattern = regex.compile(rule)
        except (regex.error, OverflowError, RecursionError) as error:
            reason = "it has too many levels" if isinstance(error, RecursionError) else error
            raise InputError(
                f"the rule {name} is not a valid regular expression: {reason}"
            ) from None
        if pattern.flags != regex.compile("").flags:
            raise InputError(
                f"the rule {name} cannot be combined with others: it sets flags for all of "
                "them; write flags for a part of the expression, (?i:...)"
            )
        if _NUMBERED.search(rule):
            raise InputError(
                f"the rule {name} refers to a group by number, which changes when rules are "
                "combined; name the group: (?P<sign>[/-]) and (?P=sign)"
            )
        if groups & pattern.groupindex.keys():
            raise InputError(
                f"the rule {name} cannot be combined with others: it names a group as "
                "another rule does"
            )
        groups |= pattern.groupindex.keys()
        if pattern.match(""):
            raise InputError(f"the rule {name} matches the empty string")
    regex.compile(combined(dict(rules)))


if __name__ == "__main__":
    main()

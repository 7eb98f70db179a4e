"""The lock: the versions and hashes of all packages that `make` installs.

`make lock` writes the files in `.ci/lock/`, one for each environment. They are universal: a package
has several versions only where no single one serves all versions of Python.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / ".ci" / "lock"

#: The files of the lock: what users install, with the tests and networks, with the documentation,
#: to build the package, and for releases.
ENVIRONMENTS = ("run", "dev", "docs", "build", "tools")

_HASH = re.compile(r"--hash=(?P<hash>sha256:[0-9a-f]{64})(?=\s|$)")


class SupplyError(Exception):
    """The lock, the list of licences or the list of components is not as it must be."""


@dataclass(frozen=True, order=True)
class Pin:
    """A version of a package that is installed where its marker holds.

    Parameters
    ----------
    name : str
        The normalised name.
    version : str
    marker : str
        Empty if it holds everywhere.
    hashes : tuple of str
        A hash of each file of this version, such as ``"sha256:0123..."``.
    """

    name: NormalizedName
    version: str
    marker: str
    hashes: tuple[str, ...]

    @property
    def line(self) -> str:
        """The pin as `pip` reads it."""
        where = f" ; {self.marker}" if self.marker else ""
        return " ".join(
            [f"{self.name}=={self.version}{where}", *map("--hash={}".format, self.hashes)]
        )


def read_lock(path: Path) -> list[Pin]:
    """Read a file of the lock.

    Raises
    ------
    SupplyError
        If a line is anything but a version with hashes.
    """
    lines = path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return [_pin(line, path) for line in lines if line.strip() and not line.startswith("#")]


def _pin(line: str, path: Path) -> Pin:
    """Read a line of the lock."""
    stated, _, options = line.partition("--hash=")
    hashes = tuple(_HASH.findall(f"--hash={options}"))
    if not hashes or _HASH.sub("", f"--hash={options}").strip():
        raise SupplyError(f"{path.name}: {stated.strip()!r} needs hashes alone; run `make lock`")
    requirement = Requirement(stated)
    versions = list(requirement.specifier)
    if len(versions) != 1 or versions[0].operator != "==" or requirement.url:
        raise SupplyError(f"{path.name}: {stated.strip()!r} needs one version; run `make lock`")
    marker = str(requirement.marker or "")
    return Pin(canonicalize_name(requirement.name), versions[0].version, marker, hashes)


def read_locks() -> dict[str, list[Pin]]:
    """Read the files of all environments."""
    return {name: read_lock(LOCK / f"{name}.txt") for name in ENVIRONMENTS}


def project() -> dict[str, Any]:
    """Read the table `project` of `pyproject.toml`."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return table


def environments_of(locks: Mapping[str, Iterable[Pin]]) -> dict[NormalizedName, list[str]]:
    """Return the environments of each package, sorted by the name of the package."""
    found: dict[NormalizedName, list[str]] = {}
    for environment, pins in locks.items():
        for name in dict.fromkeys(pin.name for pin in pins):
            found.setdefault(name, []).append(environment)
    return dict(sorted(found.items()))


def versions_of(locks: Mapping[str, Iterable[Pin]]) -> list[list[Pin]]:
    """Return the pins of each package, one for each version, sorted."""
    unique = {(pin.name, pin.version): pin for pins in locks.values() for pin in pins}
    found: dict[str, list[Pin]] = {}
    for _, pin in sorted(unique.items()):
        found.setdefault(pin.name, []).append(pin)
    return list(found.values())

"""List the licences of all packages of the lock in `docs/licences.md`, and check them.

    python .ci/licences.py            # write the list; needs all environments in one folder
    python .ci/licences.py --check    # check the list, and what is installed, without changes

The licences are those that the metadata of the installed packages state.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import NamedTuple

from locked import ROOT, SupplyError, environments_of, read_locks, versions_of
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.utils import NormalizedName, canonicalize_name

PAGE = ROOT / "docs" / "licences.md"
BEGIN, END = "<!-- begin of the list -->", "<!-- end of the list -->"

#: Licences that any package may have: they allow use in any program, and redistribution.
ALLOWED = {
    *("0BSD", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "Zlib"),
    *("Apache-2.0", "CNRI-Python", "LLVM-exception", "MIT-CMU", "MPL-2.0", "PSF-2.0"),
}

#: Other licences that a package may have. `docs/licences.md` gives the reasons.
EXCEPTIONS = {"gensim": {"LGPL-2.1-only"}, "python-stdnum": {"LGPL-2.1-or-later"}}

#: Licences of packages whose metadata state none, or which are for other systems than Linux: what
#: the files of the locked version say.
STATED = {
    "appnope": "BSD-2-Clause",  # macOS
    "cffi": "MIT-0",  # PyPy
    "namex": "Apache-2.0",  # its metadata name the file alone
    "pycparser": "BSD-3-Clause",  # PyPy
    "python-stdnum": "LGPL-2.1-or-later",  # its metadata name another version than its files
    "tensorflow": "Apache-2.0",  # macOS, Windows, and Linux on other processors than x86-64
}

_CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}

#: Names of licences in metadata, in lower case, that are no SPDX identifiers.
_NAMES = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd": "BSD",
    "bsd 2-clause license": "BSD-2-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "mit license": "MIT",
    "psfl": "PSF-2.0",
}


class Row(NamedTuple):
    """A package of the list, its licence, and the environments that contain it."""

    name: str
    licence: str
    environments: str


def licence_of(found: Distribution) -> str:
    """Return the licence that the metadata of a package state, as an SPDX expression or family.

    Raises
    ------
    SupplyError
        If they state none that is known.
    """
    name = canonicalize_name(found.name)
    metadata = found.metadata
    for field in ("License-Expression", "License"):
        for text in metadata.get_all(field, []):
            if licence := _expression(text):
                return licence
    classifiers = [text.split(" :: ")[-1] for text in metadata.get_all("Classifier", [])]
    licences = {_CLASSIFIERS[text] for text in classifiers if text in _CLASSIFIERS}
    if not licences and name in STATED:
        return STATED[name]
    if not licences:
        raise SupplyError(
            f"{name}: its metadata state no known licence; add what its files say to STATED in "
            ".ci/licences.py"
        )
    return " AND ".join(sorted(licences))


def _expression(text: str) -> str | None:
    """Return a stated licence as an SPDX expression, or None if it is the text of a licence."""
    if text.strip().lower() in _NAMES:
        return _NAMES[text.strip().lower()]
    try:
        return str(canonicalize_license_expression(text))
    except InvalidLicenseExpression:
        return None


def installed(locked: Mapping[NormalizedName, set[str]]) -> dict[str, Distribution]:
    """Return the installed packages that are of a locked version."""
    return {
        name: found
        for found in distributions()
        if found.version in locked.get(name := canonicalize_name(found.name), ())
    }


def read_rows(page: str) -> list[Row]:
    """Read the list of a page."""
    listed = page.partition(BEGIN)[2].partition(END)[0]
    cells = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", listed, re.MULTILINE)
    return [Row(*row) for row in cells[1:]]


def with_rows(page: str, rows: Sequence[Row]) -> str:
    """Return a page with another list."""
    before, _, rest = page.partition(BEGIN)
    lines = [f"| {' | '.join(row)} |" for row in (Row("package", "licence", "environments"), *rows)]
    listed = "\n".join([lines[0], "|---|---|---|", *lines[1:]])
    return f"{before}{BEGIN}\n\n{listed}\n\n{END}{rest.partition(END)[2]}"


def new_rows(
    names: Mapping[NormalizedName, Sequence[str]], stated: Mapping[str, str], rows: Sequence[Row]
) -> list[Row]:
    """Return the list of locked packages with stated licences, or else with those of older rows.

    Raises
    ------
    SupplyError
        If the licence of a package is unknown.
    """
    listed = {row.name: row.licence for row in rows}
    known = {**listed, **STATED, **stated}
    if unknown := sorted(set(names) - set(known)):
        raise SupplyError(
            f"{', '.join(unknown)}: not installed, and not in {PAGE.name}; run `make licences`, or "
            "add what their files say to STATED in .ci/licences.py if they are for other systems"
        )
    return [
        Row(name, _clearer(known[name], listed.get(name, "")), ", ".join(where))
        for name, where in names.items()
    ]


def _clearer(licence: str, listed: str) -> str:
    """Return a listed licence if it is the same, but says more: metadata of versions differ."""
    return listed if _agree(licence, listed) and len(listed) > len(licence) else licence


def _agree(licence: str, other: str) -> bool:
    """Return whether licences are the same, or one of them does not say which BSD licence it is."""
    if re.search(r"\bBSD(?!-)", f"{licence} {other}"):
        licence, other = (re.sub(r"\bBSD-[23]-Clause\b", "BSD", text) for text in (licence, other))
    return licence == other


def problems_of(
    rows: Sequence[Row], names: Mapping[NormalizedName, Sequence[str]], stated: Mapping[str, str]
) -> Iterator[str]:
    """Yield what is wrong with a list, given the locked and the stated licences."""
    listed = {row.name: row.environments for row in rows}
    for name in sorted({*listed, *names}):
        expected = ", ".join(names.get(canonicalize_name(name), ("none",)))
        if listed.get(name, "none") != expected:
            yield f"{name}: listed for {listed.get(name, 'none')}, and locked for {expected}"
    for row in rows:
        if not _agree(stated.get(row.name, row.licence), row.licence):
            yield f"{row.name}: listed with {row.licence}, and installed with {stated[row.name]}"
        if others := not_allowed(row.name, stated.get(row.name, row.licence)):
            yield f"{row.name}: {', '.join(others)} is not one of the allowed licences"


def not_allowed(name: str, licence: str) -> list[str]:
    """Return the parts of a licence that a package may not have, whatever connects them."""
    parts = set(re.findall(r"[\w.+-]+", licence)) - {"AND", "OR", "WITH"}
    return sorted(parts - ALLOWED - EXCEPTIONS.get(name, set()))


def main(arguments: Sequence[str] | None = None, page: Path = PAGE) -> None:
    """Write or check the list.

    Raises
    ------
    SupplyError
        If it is wrong, or cannot be written.
    """
    parser = argparse.ArgumentParser(description="List the licences of all locked packages.")
    parser.add_argument("--check", action="store_true", help="change nothing, and fail if wrong")
    check = parser.parse_args(arguments).check
    locks = read_locks()
    names = environments_of(locks)
    versions = {pins[0].name: {pin.version for pin in pins} for pins in versions_of(locks)}
    stated = {name: licence_of(found) for name, found in installed(versions).items()}
    text = page.read_text(encoding="utf-8")
    rows = read_rows(text) if check else new_rows(names, stated, read_rows(text))
    if not check:
        page.write_text(with_rows(text, rows), encoding="utf-8")
    if problems := list(problems_of(rows, names, stated)):
        raise SupplyError("\n".join([*problems, f"run `make licences`, and read {PAGE.name}"]))


if __name__ == "__main__":
    try:
        main()
    except SupplyError as error:
        sys.exit(str(error))

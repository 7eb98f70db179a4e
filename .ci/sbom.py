"""Write the components of a release as a CycloneDX list (SBOM): every package of the lock.

    python .ci/sbom.py FOLDER

`cyclonedx-py` makes the list from the lock. What it cannot read there is added: licences, which
environments contain a package, and the code of others that is part of this package. Two lists of
one commit are equal.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from licences import PAGE, Row, read_rows
from locked import ROOT, SupplyError, project, read_locks, versions_of
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_VERSION = SchemaVersion.V1_6
_COMMAND = ("cyclonedx_py", "requirements", "--output-reproducible", "--sv", _VERSION.to_version())

Component = dict[str, Any]


def components_of_lock() -> dict[str, Any]:
    """Return the list that `cyclonedx-py` makes from the lock."""
    lines = [pin.line for pins in versions_of(read_locks()) for pin in pins]
    command = [sys.executable, "-m", *_COMMAND, "--pyproject", str(ROOT / "pyproject.toml"), "-"]
    done = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SupplyError(f"cyclonedx-py failed on the lock:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def completed(found: Mapping[str, Any], rows: Iterable[Row]) -> dict[str, Any]:
    """Return a list with licences, environments and dependencies."""
    of_packages = {row.name: row for row in rows}
    components = [_completed(each, of_packages) for each in found["components"]]
    root = found["metadata"]["component"]
    return {
        **found,
        "components": sorted(components, key=lambda each: str(each["bom-ref"])),
        "dependencies": _dependencies(root, components),
    }


def _completed(component: Component, rows: Mapping[str, Row]) -> Component:
    """Return a component with its licence and environments, under a name that stays the same."""
    row = rows.get(canonicalize_name(component["name"]))
    if row is None:
        raise SupplyError(f"{component['name']}: not in {PAGE.name}; run `make licences`")
    return {
        **{name: value for name, value in component.items() if name != "description"},
        "bom-ref": component["purl"],
        "scope": _scope(set(row.environments.split(", "))),
        "licenses": [_licence(row.licence)],
        "properties": [{"name": "bootstrap:environments", "value": row.environments}],
    }


def _scope(environments: set[str]) -> str:
    """Return whether users install a package always, with an extra, or never."""
    if "run" in environments:
        return "required"
    return "optional" if environments & {"dev", "docs"} else "excluded"


def _licence(licence: str) -> dict[str, Any]:
    """Return a licence in CycloneDX; a family such as BSD is no SPDX expression."""
    return {"license": {"name": licence}} if licence == "BSD" else {"expression": licence}


def _dependencies(root: Component, components: Sequence[Component]) -> list[dict[str, Any]]:
    """Return what the package itself needs; the lock does not say what other packages need."""
    direct = {canonicalize_name(Requirement(text).name) for text in project()["dependencies"]}
    refs = [each["bom-ref"] for each in components if canonicalize_name(each["name"]) in direct]
    return [{"ref": root["bom-ref"], "dependsOn": sorted(set(refs))}]


def validated(text: str) -> str:
    """Check a list against the schema of CycloneDX, and return it.

    Raises
    ------
    SupplyError
        If it does not satisfy the schema.
    """
    if error := JsonStrictValidator(_VERSION).validate_str(text):
        raise SupplyError(
            f"the list of components is no CycloneDX {_VERSION.to_version()}: {error}"
        )
    return text


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the list of components to the folder that the arguments name, beside the package."""
    (folder,) = map(Path, sys.argv[1:] if arguments is None else arguments)
    rows = read_rows(PAGE.read_text(encoding="utf-8"))
    text = json.dumps(completed(components_of_lock(), rows), indent=2) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"bootstrap_ner-{project()['version']}.cdx.json"
    path.write_text(validated(text), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except SupplyError as error:
        sys.exit(str(error))

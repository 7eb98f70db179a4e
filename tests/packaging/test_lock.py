"""The lock is complete, and satisfies `pyproject.toml`."""

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from locked import ENVIRONMENTS, LOCK, ROOT, SupplyError, read_lock, read_locks, versions_of
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
GROUPS = PYPROJECT["dependency-groups"]
REQUIRED = {
    "run": PROJECT["dependencies"],
    "dev": [*PROJECT["dependencies"], *EXTRAS["dev"], *EXTRAS["neural"]],
    "docs": [*PROJECT["dependencies"], *EXTRAS["docs"]],
    "build": GROUPS["build"],
    "tools": GROUPS["tools"],
}

HASH = "sha256:" + 64 * "0"


def requires(name: str) -> list[str]:
    """Return what an installed package asks for."""
    try:
        return distribution(name).requires or []
    except PackageNotFoundError:  # on another platform or version of Python
        return []


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_lock_satisfies_the_requirements(environment):
    pins = read_lock(LOCK / f"{environment}.txt")
    for requirement in map(Requirement, REQUIRED[environment]):
        versions = [p.version for p in pins if p.name == canonicalize_name(requirement.name)]
        assert versions, requirement.name
        assert all(map(requirement.specifier.contains, versions)), (requirement.name, versions)


def test_the_lock_names_the_extras_that_packages_ask_of_each_other():
    """Otherwise pip looks for the newest version of a package with an extra, and refuses it."""
    locked = {pin.name for pin in read_lock(LOCK / "dev.txt")}
    lines = (LOCK / "dev.txt").read_text(encoding="utf-8").splitlines()
    stated = {line.partition("==")[0] for line in lines if "==" in line}
    asked = {
        f"{canonicalize_name(requirement.name)}[{','.join(sorted(requirement.extras))}]"
        for name in locked
        for requirement in map(Requirement, requires(name))
        if requirement.extras and not requirement.marker
    }
    assert asked and asked <= stated


@pytest.mark.parametrize("path", sorted(LOCK.glob("*")), ids=lambda path: path.name)
def test_the_lock_names_no_server_and_no_folder(path):
    assert path.stem in ENVIRONMENTS
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"://|file:|(?<![\w\\])/\w+|^-.*|@", text, re.MULTILINE) == []


def test_the_environments_agree():
    locks = read_locks()
    versions = {pins[0].name: {pin.version for pin in pins} for pins in versions_of(locks)}
    for pins in locks.values():
        names = {pin.name for pin in pins}
        for name in names:
            assert {pin.version for pin in pins if pin.name == name} == versions[name], name
    hashes: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for pin in (pin for pins in locks.values() for pin in pins):
        hashes.setdefault((pin.name, pin.version), set()).add(pin.hashes)
    assert [key for key, several in hashes.items() if len(several) > 1] == []


def test_the_package_is_built_with_what_is_locked():
    assert GROUPS["build"] == PYPROJECT["build-system"]["requires"]


@pytest.mark.parametrize(
    "line",
    ["numpy==2.0", "numpy>=2 --hash=" + HASH, "numpy==2.0 --hash=sha256:0", "numpy --hash=" + HASH],
)
def test_a_line_without_version_or_hash_is_an_error(line, tmp_path):
    (tmp_path / "run.txt").write_text(f"{line}\n")
    with pytest.raises(SupplyError, match=r"run\.txt: 'numpy.*run `make lock`"):
        read_lock(tmp_path / "run.txt")


def test_pins_are_written_as_they_are_read(tmp_path):
    line = f'a-b==1.0 ; python_version < "3.12" --hash={HASH}'
    (tmp_path / "run.txt").write_text(line)
    assert [pin.line for pin in read_lock(tmp_path / "run.txt")] == [line]


def modules_imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_dependencies_whose_internals_are_imported_have_upper_bounds():
    folders = ("corpus", "gazetteers", "taggers", "anonymizers", "bootstrap")
    names = {
        name for f in folders for p in (ROOT / f).rglob("*.py") for name in modules_imported(p)
    }
    locked = {pin.name.replace("-", "_") for pin in read_lock(LOCK / "dev.txt")}
    private = {name.split(".")[0] for name in names if re.search(r"\._|\.src\b", name)} & locked
    assert not any(
        name.startswith(("numba.core", "joblib.externals", "llvmlite")) for name in names
    )
    bounded = {
        Requirement(text).name
        for text in PROJECT["dependencies"]
        if any(limit.operator in ("<", "<=", "==", "~=") for limit in Requirement(text).specifier)
    }
    assert private | {"gensim", "python-crfsuite"} <= bounded


def test_the_makefile_installs_from_the_lock_alone():
    commands = re.findall(r"\$\(PIP\) (.*)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert commands
    for command in commands:
        from_lock = command.startswith("--require-hashes --only-binary :all: -r $(LOCK)/")
        assert from_lock or command == "--no-build-isolation --no-deps --editable ."

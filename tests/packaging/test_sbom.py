"""The list of components is valid, and has every version of the lock."""

import json

import pytest
from licences import PAGE, read_rows
from locked import ROOT, SupplyError, read_locks, versions_of

sbom = pytest.importorskip("sbom", reason="cyclonedx-bom is not installed; `make .venv/.tools`")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release") / "dist"
    sbom.main([str(folder)])
    (path,) = folder.iterdir()
    return path


def test_every_version_of_the_lock_is_listed(written):
    listed = json.loads(written.read_text(encoding="utf-8"))
    actual = {component["purl"]: component for component in listed["components"]}
    pins = [pin for pins in versions_of(read_locks()) for pin in pins]
    assert sorted(actual) == sorted(f"pkg:pypi/{p.name}@{p.version}" for p in pins)
    for pin in pins:
        (reference,) = actual[f"pkg:pypi/{pin.name}@{pin.version}"]["externalReferences"]
        assert [f"sha256:{row['content']}" for row in reference["hashes"]] == list(pin.hashes)


def test_the_list_is_valid_and_names_the_release(written):
    text = written.read_text(encoding="utf-8")
    assert sbom.validated(text) == text
    listed = json.loads(text)
    root = listed["metadata"]["component"]
    assert written.name == f"bootstrap_ner-{root['version']}.cdx.json"
    assert (root["name"], listed["specVersion"]) == ("bootstrap-ner", "1.6")
    (needed,) = listed["dependencies"]
    assert needed["ref"] == root["bom-ref"]
    assert any(name.startswith("pkg:pypi/numpy@") for name in needed["dependsOn"])


def test_scopes_say_who_installs_a_component(written):
    listed = json.loads(written.read_text(encoding="utf-8"))["components"]
    scopes = {row["name"]: row["scope"] for row in listed}
    chosen = [scopes[name] for name in ("numpy", "keras", "mkdocs", "hatchling", "uv")]
    assert chosen == ["required", *("optional",) * 2, *("excluded",) * 2]


def test_the_list_names_no_folder_of_this_machine(written):
    text = written.read_text(encoding="utf-8")
    assert str(ROOT) not in text and "file:" not in text


def test_two_lists_are_equal(written, tmp_path):
    sbom.main([str(tmp_path)])
    assert (tmp_path / written.name).read_bytes() == written.read_bytes()


def test_an_invalid_list_is_an_error():
    with pytest.raises(SupplyError, match=r"is no CycloneDX 1\.6"):
        sbom.validated('{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": 1}')


def test_a_package_without_a_row_is_an_error():
    rows = read_rows(PAGE.read_text(encoding="utf-8"))
    with pytest.raises(SupplyError, match=r"not in licences\.md"):
        sbom.completed(sbom.components_of_lock(), rows[1:])

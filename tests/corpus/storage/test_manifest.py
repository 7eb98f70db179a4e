"""Manifests: what a folder holds is what was written, or is refused."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.errors import InputError
from corpus.storage.fields import is_unchanged, parse_toml, with_digest
from corpus.storage.manifest import digests_of_files, manifest_bytes, read_manifest

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # A document id may hold a surrogate, which UTF-8 cannot.
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "inside").mkdir()
    (tmp_path / "a.npy").write_bytes(b"first")
    (tmp_path / "inside" / "b.json").write_bytes(b"second")
    digests = digests_of_files(tmp_path, ["a.npy", "inside/b.json"])
    (tmp_path / "manifest.json").write_bytes(manifest_bytes({"iteration": 1}, digests))
    return tmp_path


def test_files_are_as_they_were_written(folder: Path) -> None:
    manifest = read_manifest(folder / "manifest.json")
    assert manifest.names == ("a.npy", "inside/b.json")
    assert manifest.description == {"iteration": 1}
    assert manifest.content("inside/b.json") == b"second"
    manifest.verify()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "a.npy").write_bytes(b"First"), "a.npy is damaged: it is not"),
        (lambda folder: (folder / "a.npy").write_bytes(b""), "a.npy is damaged: it is not"),
        (lambda folder: (folder / "a.npy").unlink(), "is damaged: it lacks the file a.npy"),
        (
            lambda folder: (
                (folder / "a.npy").unlink()
                or (folder / "a.npy").symlink_to(folder / "inside" / "b.json")
            ),
            "a.npy is a link; expected a copy",
        ),
        (
            lambda folder: (
                (folder / "inside").rename(folder / "other")
                and (folder / "inside").symlink_to(folder / "other")
            ),
            "inside is a link; expected a copy",
        ),
        (
            lambda folder: (folder / "inside" / "b.json").write_bytes(b"third!"),
            "b.json is damaged: it is not the file that was saved",
        ),
    ],
)
def test_a_changed_file_is_named(folder, change, message) -> None:
    change(folder)
    manifest = read_manifest(folder / "manifest.json")
    with pytest.raises(InputError, match=message):
        manifest.verify()
    name = "a.npy" if "a.npy" in message else "inside/b.json"
    with pytest.raises(InputError, match=message):
        manifest.content(name)


@pytest.mark.parametrize(
    "name", ["../a", "/dev/zero", "", ".hidden", "a/../../b", "a//b", "a/", "a b", "a\n"]
)
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(manifest_bytes({}, {name: "0" * 128}))
    with pytest.raises(InputError, match="names a file with other characters"):
        read_manifest(path)


def test_a_file_that_it_does_not_name_is_not_read(folder: Path) -> None:
    (folder / "other").write_bytes(b"")
    with pytest.raises(InputError, match="it lacks the file other"):
        read_manifest(folder / "manifest.json").content("other")


@given(st.dictionaries(st.text(), _VALUES))
def test_a_description_is_read_as_it_was_written(tmp_path_factory, description) -> None:
    for key in ("files", "digest"):
        description.pop(key, None)
    path = tmp_path_factory.mktemp("manifests") / "a.json"
    path.write_bytes(manifest_bytes(description))
    manifest = read_manifest(path)
    assert manifest.description == description
    assert manifest.names == ()


def test_every_flipped_bit_is_found_or_changes_nothing(folder: Path) -> None:
    path = folder / "manifest.json"
    content = path.read_bytes()
    before = json.loads(content)
    actual = 0
    for bit in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            assert read_manifest(path).fields.values == before
        except InputError as error:
            assert "\n" not in str(error)
            actual += 1
    assert actual > 7 * len(content)


def test_what_is_no_manifest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    with pytest.raises(InputError, match="cannot be read"):
        read_manifest(path)
    for content in (b"", b"[]", b"{", b"{}", b'{"digest": 7}', b'{"files": [], "digest": ""}'):
        path.write_bytes(content)
        with pytest.raises(InputError):
            read_manifest(path)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r")))
def test_toml_keeps_its_text_and_its_changes_are_found(comment: str) -> None:
    value = json.dumps(comment)
    if any(0xD800 <= ord(each) < 0xE000 for each in comment) or "\\ud" in value:
        value = '"plain"'
    content = with_digest(f"a = 1\nb = {value}")
    assert parse_toml(content, "it")["a"] == 1
    assert is_unchanged(content)
    assert not is_unchanged(content.replace(b"a = 1", b"a = 2"))
    assert not is_unchanged(content.replace(b"\nb", b"\n\nb"))
    without = content.rpartition(b"# blake2b")[0]
    assert is_unchanged(without.replace(b"a = 1", b"a = 2"))

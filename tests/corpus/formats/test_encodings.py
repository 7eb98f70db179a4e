"""Files in other encodings, read as UTF-8."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.document import Document
from corpus.errors import InputError
from corpus.formats import read
from corpus.formats.encodings import UNDECODABLE, checked_codec, transcoded
from corpus.problems import Problems


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
    st.sampled_from(["utf-8", "utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7"]),
    st.integers(1, 9),
)
def test_text_in_any_encoding_is_read_as_utf8(text: str, encoding: str, size: int) -> None:
    file = transcoded(io.BytesIO(text.encode(encoding)), encoding)
    assert b"".join(iter(lambda: file.read(size), b"")).decode() == text


@given(st.binary(max_size=40), st.sampled_from(["ascii", "cp1252", "cp949", "utf-16-le"]))
def test_bytes_that_cannot_be_decoded_are_never_utf8(data: bytes, encoding: str) -> None:
    found = transcoded(io.BytesIO(data), encoding).read()
    try:
        expected = data.decode(encoding)
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            found.decode()
    else:
        assert found == expected.encode()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_missing_byte_order_mark_is_undecodable(encoding: str) -> None:
    """Python's codec then calls no error handler."""
    assert transcoded(io.BytesIO(b"a,b,c,d,"), encoding).read().endswith(UNDECODABLE)


@pytest.mark.parametrize("name", ["klingon", "hex", "rot13", "base64", "undefined", "a\0b", ""])
def test_what_is_no_encoding_of_text_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"there is no encoding .*; expected .* utf-8 or latin-1"):
        checked_codec(name)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "cp1252"])
def test_every_text_format_has_any_encoding(tmp_path: Path, encoding: str) -> None:
    """Lines are found after decoding: a line feed of UTF-16 is two bytes."""
    contents = {
        "n.conll": "Núria\tB-N\nve\tO\n\nĊ".replace("Ċ", "ú\tO\n"),
        "n.csv": 'id,text\n1,"Núria ve"\n',
        "n.txt": "Núria ve",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content.encode(encoding))
        texts = [
            each.text.split()
            for each in read(tmp_path / name, encoding=encoding, problems=Problems())
        ]
        assert texts[0][:2] == ["Núria", "ve"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32", "ascii", "cp1252", "idna"])
@pytest.mark.parametrize("name", ["n.conll", "n.csv", "n.txt", "n.ann"])
@given(data=st.binary(max_size=60))
def test_any_bytes_in_any_encoding_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, encoding: str, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("notes")
    (folder / "n.txt").write_bytes(data)
    (folder / name).write_bytes(data)
    source = folder if name == "n.ann" else folder / name
    try:
        found = list(read(source, encoding=encoding, problems=Problems(invalid="skip")))
    except InputError as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert all(isinstance(each, Document) for each in found)

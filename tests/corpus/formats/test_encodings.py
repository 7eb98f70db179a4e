"""Files in other encodings, read as UTF-8."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.formats import read
from corpus.formats.files import checked_codec


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["n.conll", "n.csv"])
def test_a_missing_byte_order_mark_is_an_error(tmp_path: Path, name: str, encoding: str) -> None:
    """Python's codec then calls no error handler."""
    (tmp_path / name).write_bytes(b"a,b,c,d,")
    with pytest.raises(InputError, match=f"is not text in {encoding}; name another encoding"):
        list(read(tmp_path / name, encoding=encoding, problems=Problems()))


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

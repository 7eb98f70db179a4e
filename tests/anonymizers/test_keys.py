"""Keys decide all replacements, are never shown, and bad ones are refused."""

from collections import Counter
from pathlib import Path

import pytest

from anonymizers.keys import LEAST_BYTES, Draws, Key, write_new_key
from corpus.errors import InputError

SECRET = bytes(range(LEAST_BYTES))


def test_the_same_key_and_texts_give_the_same_numbers() -> None:
    numbers = [Key(SECRET).draws("name", "p1", "garcia").uniform() for _ in range(2)]
    assert numbers[0] == numbers[1]
    assert Key(SECRET).draws("name", "p2", "garcia").uniform() != numbers[0]
    assert Key(SECRET[::-1]).draws("name", "p1", "garcia").uniform() != numbers[0]


def test_texts_do_not_run_into_each_other() -> None:
    assert Key(SECRET).digest("ab", "c") != Key(SECRET).digest("a", "bc")


def test_numbers_are_uniform() -> None:
    draws = Draws(SECRET)
    counts = Counter(draws.below(5) for _ in range(10_000))
    assert set(counts) == set(range(5)) and max(counts.values()) < 2_200
    assert 0.48 < sum(draws.uniform() for _ in range(10_000)) / 10_000 < 0.52


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_final_line_break_of_a_file_does_not_count(end: bytes, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(SECRET + end)
    assert Key.read(tmp_path / "key").fingerprint == Key(SECRET).fingerprint


def test_the_environment_has_hexadecimal_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOOTSTRAP_KEY", raising=False)
    assert Key.from_environment() is None
    monkeypatch.setenv("BOOTSTRAP_KEY", SECRET.hex())
    key = Key.from_environment()
    assert key and key.fingerprint == Key(SECRET).fingerprint
    for value, message in (("no digits", "hexadecimal"), (SECRET[1:].hex(), "31 bytes")):
        monkeypatch.setenv("BOOTSTRAP_KEY", value)
        with pytest.raises(InputError, match=f"BOOTSTRAP_KEY.*{message}") as raised:
            Key.from_environment()
        assert value not in str(raised.value)


def test_a_file_that_is_no_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with pytest.raises(InputError, match="cannot be read"):
        Key.read(path)
    path.write_bytes(SECRET[1:] + b"\n")
    with pytest.raises(InputError, match="31 bytes; expected at least 32"):
        Key.read(path)
    path.write_bytes(SECRET * 10_000)
    with pytest.raises(InputError, match="more than"):
        Key.read(path)


def test_a_new_key_is_private_and_replaces_none(tmp_path: Path) -> None:
    path = tmp_path / "key"
    key = write_new_key(path)
    assert path.stat().st_mode & 0o077 == 0
    assert Key.read(path).fingerprint == key.fingerprint
    assert key.fingerprint not in path.read_text()
    with pytest.raises(InputError, match="exists"):
        write_new_key(path)

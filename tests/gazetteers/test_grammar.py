"""The shipped grammar is valid, a user's extends it, and its mistakes are named."""

from pathlib import Path

import pytest

from corpus.errors import InputError
from gazetteers.grammar import Grammar


def read(folder: Path, text: str) -> Grammar:
    path = folder / "words.toml"
    path.write_text(text, encoding="utf-8")
    return Grammar.read(path)


def test_a_grammar_of_a_user_extends_lists_and_tables(tmp_path: Path) -> None:
    shipped = Grammar.read()
    grammar = read(
        tmp_path,
        """
        [particles]
        es = ["DÉ", "von"]
        [names]
        person = ["middle_name"]
        ship = ["ship_name"]
        [kinds.street.heads]
        calle = ["kl."]
        "Callizo" = ["cllz."]
        [kinds.school]
        tails = ["aula"]
        [kinds.school.heads]
        colegio = ["col."]
        """,
    )
    assert grammar.particles == shipped.particles | {"de", "von"}
    assert grammar.names == {
        "person": (*shipped.names["person"], "middle_name"),
        "ship": ("ship_name",),
    }
    assert grammar.places["street"].heads == {
        **shipped.places["street"].heads,
        "calle": (*shipped.places["street"].heads["calle"], "kl."),
        "callizo": ("cllz.",),
    }
    assert grammar.places["street"].tails == shipped.places["street"].tails
    assert grammar.places["school"].heads == {"colegio": ("col.",)}
    assert grammar.places["hospital"] == shipped.places["hospital"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[kind.street]", "unknown field `kind`"),
        ("[particles]\nes = 'de'", r"Expected `array`, got `str` - at `\$\.particles"),
        ("[particles]\nes = []", "length >= 1"),
        ("[kinds.street]\nhead = ['c/']", "unknown field `head`"),
        ("[kinds.street.heads]\ncalle = ['/']", "matching regex"),
        ("[kinds.street.heads]\n'/' = ['c/']", "matching regex"),
        ("plaça = 1", "is not TOML"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"words\.toml.*{message}") as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)


def test_a_file_that_is_missing_or_not_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml is not there"):
        Grammar.read(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes("# ñ".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.toml is not TOML"):
        Grammar.read(tmp_path / "latin.toml")

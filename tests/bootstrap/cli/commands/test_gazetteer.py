"""``bootstrap gazetteer import``, ``merge`` and ``show``: what they say and write, how they end."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gazetteers.builtin import CENSUS, read_gazetteer
from gazetteers.gazetteer import Gazetteer

Command = Callable[..., Any]

MEN = "nombre;frec;edad_media\nJOSÉ;1.464;58,3\nJOSE;6;60\nJOSE MARIA;30;55\nÁNGEL;5;40\n"
WOMEN = "nombre,frec\nMARIA JOSE,20\nANGEL,2\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with two dictionaries."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "men.csv").write_text(MEN, encoding="cp1252")
    (folder / "women.csv").write_text(WOMEN, encoding="utf-8")
    return folder


def rows_of(path: Path) -> list[tuple[str, str, int]]:
    rows = Gazetteer.load(path).table().to_pylist()
    return [(row["term"], row["class"], row["count"]) for row in rows]


# What they do


def test_dictionaries_become_a_gazetteer_and_it_is_said_how(files, tmp_path, command) -> None:
    out = tmp_path / "names.parquet"
    done = command(
        "gazetteer", "import", files / "men.csv", files / "women.csv", "--class", "given", "-o", out
    )
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"{files / 'men.csv'}: cp1252 (guessed; --encoding names another), semicolon between "
        "columns",
        "  term: column 1",
        "  count: column 2",
        "  class: given",
        "  not used: column 3",
        "  4 rows: 3 terms",
        f"{files / 'women.csv'}: utf-8, comma between columns",
        "  term: column 1",
        "  count: column 2",
        "  class: given",
        "  2 rows: 2 terms",
        f"4 terms are in {out}: given 4 (1,527 in all)",
    ]
    assert rows_of(out) == [
        ("jose", "given", 1470),
        ("jose maria", "given", 30),
        ("maria jose", "given", 20),
        ("angel", "given", 7),
    ]


def test_every_option_of_import_is_heard(tmp_path: Path, command: Command) -> None:
    path, out = tmp_path / "places.txt", tmp_path / "places.parquet"
    text = "Código:Vía:Número:hombres:mujeres:tipo\n8001:Peña:7:1:2:calle\n8002:x:9:y:2:z\n"
    path.write_bytes(text.encode("cp850"))
    options = ["--term", "vía,codigo", "--count", "hombres", "--count", "mujeres", "--width", "6"]
    options += ["--delimiter", ":", "--encoding", "cp850", "--class-column", "TIPO"]
    done = command("gazetteer", "import", path, "-o", out, *options, "--invalid", "skip")
    assert done.code == 0
    assert rows_of(out) == [("peña 008001", "calle", 3)]
    assert done.out.splitlines() == [
        f"{path}: cp850, : between columns",
        "  term: column 2 (numbers with 6 digits, zeros on the left) and column 1 (numbers with 6 "
        "digits, zeros on the left)",
        "  count: column 4 + column 5",
        "  class: that of column 6",
        "  not used: column 3",
        "  1 row, 1 left out: 1 term",
        f"1 term is in {out}: calle 1 (3 in all)",
    ]
    assert done.err.splitlines() == [
        "count that is no whole number: 1",
        f"  {path}:3: expected digits, and nothing but 0 after a decimal point",
    ]


def test_a_list_without_a_header_does_not_lose_its_first_line_quietly(tmp_path, command) -> None:
    path = tmp_path / "list.csv"
    path.write_text("ANTONIO\nJOSE\nLUIS\n")
    done = command("gazetteer", "import", path, "-o", tmp_path / "o")
    said = "  term: column 1 (the only column of text; the first line was taken as the header)\n"
    assert said in done.out
    named = command("gazetteer", "import", path, "-o", tmp_path / "p", "--term", "antonio")
    assert "  term: column 1\n" in named.out


def test_the_files_of_the_institute_need_no_options(spain, tmp_path, command) -> None:
    done = command("gazetteer", "import", spain / "surnames.csv", "-o", tmp_path / "s.parquet")
    assert done.code == 0
    for line in ("  term: column 1", "  count: column 2 + column 3", "  class: apellido"):
        assert f"{line}\n" in done.out
    done = command("gazetteer", "show", tmp_path / "s.parquet", "García")
    assert done.out.startswith("apellido: ")
    assert "part of" in done.out


def test_builtin_lists_are_named_in_place_of_files(files, tmp_path, command) -> None:
    shown = command("gazetteer", "show", CENSUS, "Montserrat")
    assert (shown.code, shown.err) == (0, "")
    assert re.match(r"given_name: [\d,]{5,}, 0\.\d+% of 43,975,556\n", shown.out)
    own, out = tmp_path / "own.parquet", tmp_path / "names.parquet"
    command("gazetteer", "import", files / "women.csv", "--class", "given_name", "-o", own)
    assert command("gazetteer", "merge", CENSUS, own, "-o", out).code == 0
    census, merged = (
        {(row["term"], row["class"]): row["count"] for row in gazetteer.table().to_pylist()}
        for gazetteer in (read_gazetteer(CENSUS), Gazetteer.load(out))
    )
    added = {("maria jose", "given_name"): 20, ("angel", "given_name"): 2}
    assert merged == census | {name: census[name] + count for name, count in added.items()}


def test_what_is_merged_is_added_up(files: Path, tmp_path: Path, command: Command) -> None:
    parts = []
    for name, label in (("men", "given"), ("women", "given"), ("women", "x")):
        parts.append(tmp_path / f"{name}-{label}.parquet")
        source = files / f"{name}.csv"
        assert command("gazetteer", "import", source, "--class", label, "-o", parts[-1]).code == 0
    out = tmp_path / "all.parquet"
    done = command("gazetteer", "merge", *parts, "-o", out)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"6 terms are in {out}: given 4 (1,527 in all), x 2 (22 in all)\n"
    assert ("angel", "given", 7) in rows_of(out)
    assert ("angel", "x", 2) in rows_of(out)


@pytest.fixture
def names(files: Path, tmp_path: Path, command: Command) -> Path:
    """A gazetteer of two classes."""
    given, surname, out = (tmp_path / name for name in ("given", "surname", "names.parquet"))
    command("gazetteer", "import", *files.iterdir(), "--class", "given", "-o", given)
    (files / "surnames.csv").write_text("apellido,n\nÁNGEL,3\nPI,7\n", encoding="utf-8")
    command("gazetteer", "import", files / "surnames.csv", "--class", "surname", "-o", surname)
    assert command("gazetteer", "merge", given, surname, "-o", out).code == 0
    return out


def cells(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_show_lists_the_most_frequent_of_each_class(names: Path, command: Command) -> None:
    done = command("gazetteer", "show", names, "-n", "2")
    assert (done.code, done.err) == (0, "")
    assert cells(done.out) == [
        "given: 4 terms, 1,527 in all",
        "jose 1,470",
        "jose maria 30",
        "surname: 2 terms, 10 in all",
        "pi 7",
        "angel 3",
    ]
    assert "maria jose" in command("gazetteer", "show", names).out


@pytest.mark.parametrize(
    ("term", "number", "lines"),
    [
        ("ÁNGEL", [], ["given: 7, 0.4584% of 1,527", "surname: 3, 30.0000% of 10"]),
        (" josé   María ", [], ["given: 30, 1.9646% of 1,527"]),
        (
            "José",
            [],
            [
                "given: 1,470, 96.2672% of 1,527",
                "given: part of 2 terms, 50 in all",
                "jose maria 30",
                "maria jose 20",
            ],
        ),
        (
            "maria",
            ["-n", 1],
            ["not a term itself", "given: part of 2 terms, 50 in all", "jose maria 30"],
        ),
    ],
)
def test_show_says_what_a_term_counts_and_is_part_of(term, number, lines, names, command) -> None:
    done = command("gazetteer", "show", names, term, *number)
    assert (done.code, done.err) == (0, "")
    assert cells(done.out) == lines


@pytest.mark.parametrize("term", ["mar", "jose pi", " "])
def test_show_says_that_a_term_is_unknown(term: str, names: Path, command: Command) -> None:
    done = command("gazetteer", "show", names, term)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"bootstrap: {names}: no such term, and none that contains this word; bootstrap gazetteer "
        "show without a term lists the classes\n"
    )


# How they end


@pytest.mark.parametrize("action", ["import", "merge"])
def test_nothing_is_overwritten(action: str, names: Path, files: Path, command: Command) -> None:
    out = files / "mine"
    out.write_text("mine")
    source = files / "men.csv" if action == "import" else names
    done = command("gazetteer", action, source, "-o", out)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"bootstrap: {out} exists: nothing is overwritten")
    assert out.read_text() == "mine"


@pytest.mark.parametrize(
    ("data", "where", "message"),
    [
        (b"nombre,frec\nSECRETO,1\nSECRETO,x\n", ":3: ", "count that is no whole number"),
        (b'nombre,frec\n"SECRETO,1\n', ":2: ", "row with too few fields"),
        (b"nombre,frec\nSECRETO,1\n\xc3\xb1,1\n\xd1,1\n", ":4: ", "this is not utf-8"),
        (b"", " is empty", "expected a header and rows"),
        (b"\0\1\2", " is a binary file", "expected text"),
        (None, " cannot be read: ", "No such file or directory"),
    ],
)
def test_a_failed_import_is_one_line_and_leaves_nothing(
    data: bytes | None, where: str, message: str, files: Path, tmp_path: Path, command: Command
) -> None:
    """Also where the file before could be used."""
    bad, out = tmp_path / "bad.csv", tmp_path / "new" / "names.parquet"
    if data is not None:
        bad.write_bytes(data)
    before = sorted(tmp_path.rglob("*"))
    done = command("gazetteer", "import", files / "women.csv", bad, "-o", out)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"bootstrap: {bad}{where}")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert "SECRETO" not in done.err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("action", ["import", "merge"])
def test_a_file_counts_once(action: str, files: Path, names: Path, command: Command) -> None:
    source = files / "men.csv" if action == "import" else names
    again = source.parent / "." / ".." / source.parent.name / source.name
    done = command("gazetteer", action, source, again, "-o", files / "o.parquet")
    assert done.code == 2
    assert "is named twice; expected different files" in done.err
    assert not (files / "o.parquet").exists()


@pytest.mark.parametrize("action", ["merge", "show"])
def test_a_dictionary_is_no_gazetteer(action: str, files: Path, command: Command) -> None:
    target = ["-o", files / "o.parquet"] if action == "merge" else []
    done = command("gazetteer", action, files / "men.csv", *target)
    assert (done.code, done.out) == (2, "")
    assert "men.csv is not a gazetteer; bootstrap gazetteer import creates one" in done.err
    assert done.err.count("\n") == 1


def bytes_read(process: Any, path: Path) -> int:
    """Return how many bytes of a file a process has read."""
    with suppress(OSError):  # the process has ended, or has closed a file meanwhile
        for link in Path(f"/proc/{process.pid}/fd").iterdir():
            if link.readlink() == path:
                place = Path(f"/proc/{process.pid}/fdinfo/{link.name}").read_text()
                return int(place.split()[1])
    return 0


def test_ctrl_c_stops_at_once_and_leaves_nothing(tmp_path: Path, launch: Any) -> None:
    source, out = tmp_path / "names.csv", tmp_path / "new" / "names.parquet"
    source.write_bytes(b"nombre,frec\n" + b"ANA,1\n" * 20_000_000)
    process = launch.start("gazetteer", "import", source, "-o", out)
    while process.poll() is None and bytes_read(process, source) < 1_000_000:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    done = launch.finish(process)
    assert (done.code, done.err) == (130, "bootstrap: interrupted\n")
    assert list(tmp_path.iterdir()) == [source]

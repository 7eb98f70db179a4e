"""Names and values of others never reach the terminal as characters that it would obey."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.markup import escape
from rich.table import Table

from bootstrap.cli.console import SafeConsole, figures_table
from corpus.document import Document, Span
from corpus.errors import escaped
from corpus.formats import write

Command = Callable[..., Any]

#: Colours, a cleared screen, a bell, a return to the beginning of a line, erased characters, text
#: from right to left, invisible characters, and a line that looks like one of the program.
EVIL = "\x1b[31m\x9b2J\x07\r\x08\u202e\u2066\u200b\ufeff\x7f\nbootstrap: all is well"
LABEL = "P" + EVIL


def is_harmless(shown: str) -> bool:
    """Check that a terminal would show each character, and that no line is another's."""
    lines = shown.split("\n")
    return all(map(str.isprintable, lines)) and not any(
        line.startswith("bootstrap: all is well") for line in lines
    )


def _notes(*names: str) -> list[Document]:
    return [Document(name, "Anna vive en Vic", (Span(0, 4, LABEL),)) for name in names]


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a hostile name that holds notes, tables and configurations with such values."""
    monkeypatch.chdir(tmp_path)  # where commands write what no argument names
    folder = tmp_path / EVIL
    folder.mkdir()
    write(_notes("a" + EVIL, "b"), folder / "gold.jsonl")
    write([Document("b", "Anna vive en Vic", (Span(5, 9, LABEL),))], folder / "found.jsonl")
    write([Document(f"n{n}" + EVIL, f"Anna va a Vic {n}") for n in range(40)], folder / "u.jsonl")
    overlapping = {"id": EVIL, "text": "Anna Puig", "label": [[0, 4, LABEL], [2, 9, LABEL]]}
    (folder / "overlap.jsonl").write_text(json.dumps(overlapping), encoding="utf-8")
    columns = {"id": ["a"], "text": ["x"], EVIL: [1]}
    pq.write_table(pa.table(columns), folder / "columns.parquet")
    kinds = pa.array([{EVIL: 1}])
    pq.write_table(pa.table({"id": ["a"], "text": kinds, EVIL: [1]}), folder / "types.parquet")
    (folder / "terms.csv").write_text("term,count\nana,3\n\x1b[31mpere\x9b,2\n", encoding="utf-8")
    toml = json.dumps(EVIL)
    (folder / "key.toml").write_text(f"[data]\n{toml} = 1\n")
    (folder / "section.toml").write_text(f"[{toml}]\na = 1\n")
    (folder / "value.toml").write_text(f"[data]\nseed = {toml}\nunit = {toml}\n")
    (folder / "kind.toml").write_text(f'[data]\nseed = "gold.jsonl"\n[tagger]\nkind = {toml}\n')
    (folder / "labels.toml").write_text(f'[data]\nseed = "gold.jsonl"\n[labels]\n{toml} = {toml}\n')
    (folder / "broken.txt").write_text(f"ana 1 2\n{EVIL.partition(chr(13))[0]} 3\n")
    (folder / "model").mkdir()
    model = {"format": EVIL, "kind": EVIL, "files": {EVIL: EVIL}, "labels": [EVIL]}
    (folder / "model" / "model.json").write_text(json.dumps(model))
    return folder


COMMANDS = [
    # Arguments that no command knows, and values of options
    ("show", "--" + EVIL),
    (EVIL,),
    ("help", EVIL),
    ("tag", "--jobs", EVIL, "m", "a", "b"),
    ("convert", "--encoding", EVIL, "{}/gold.jsonl", "{}/out.jsonl"),
    ("check", "{}/labels.toml", "--set", f"data.{EVIL}=1"),
    ("--log", "{}", "show", "x"),
    # Notes
    ("convert", "--conflicts", "longest", "{}/overlap.jsonl", "{}/out.jsonl"),
    ("convert", "{}/columns.parquet", "{}/out.jsonl"),
    ("count", "{}/types.parquet", "-o", "{}/out.parquet"),
    ("evaluate", "{}/gold.jsonl", "{}/found.jsonl"),
    # Configurations
    *[("check", f"{{}}/{name}.toml") for name in ("key", "section", "value", "kind", "labels")],
    ("run", "{}/kind.toml", "--out", "{}/run"),
    ("experiment", "{}/key.toml"),
    # Models, embeddings and gazetteers
    ("tag", "{}/model", "{}/u.jsonl", "{}/out.jsonl"),
    ("embed", "load", "{}/broken.txt", "-o", "{}/embeddings"),
    ("gazetteer", "import", "--class", EVIL, "{}/terms.csv", "-o", "{}/out.parquet"),
    ("gazetteer", "show", "census-es", EVIL),
]


def _shown(arguments: tuple[str, ...]) -> str:
    return " ".join(arguments).replace(EVIL, "EVIL")


@pytest.mark.parametrize("arguments", COMMANDS, ids=_shown)
def test_no_command_prints_what_a_terminal_obeys(arguments, evil, command) -> None:
    done = command(*(word.replace("{}", str(evil)) for word in arguments))
    assert done.all
    assert is_harmless(done.all), done.all
    assert done.code != 1, done.err  # no internal error


@pytest.fixture(scope="module")
def evil_run(tmp_path_factory: pytest.TempPathFactory, make_project: Any, run_here: Command) -> Any:
    """A project whose folder and labels are hostile, and what its run printed."""
    folder = make_project(tmp_path_factory.mktemp("evil") / EVIL, unlabeled=300)
    for path in folder.glob("*.jsonl"):
        text = path.read_text(encoding="utf-8").replace('"PERSON"', json.dumps(LABEL))
        path.write_text(text, encoding="utf-8")
    done = run_here("run", folder / "config.toml", "--out", folder / "run", "--jobs", "1")
    assert done.code == 0, done
    return folder, done


def test_a_run_shows_hostile_labels_and_folders_escaped(evil_run: Any, command: Command) -> None:
    folder, done = evil_run
    assert is_harmless(done.all), done.all
    assert f"<{len(LABEL)} characters>" in done.out
    for arguments in (
        ("show", folder / "run"),
        ("check", folder / "config.toml"),
        ("run", folder / "config.toml", "--out", folder / "run", "--jobs", "1"),
        ("tag", folder / "run", folder / "gold.jsonl", folder / "tagged.jsonl"),
        ("tag", "--propagate", "x=text", folder / "run", folder / "gold.jsonl", folder / "t.jsonl"),
        ("evaluate", folder / "gold.jsonl", folder / "tagged.jsonl"),
        ("export", folder / "run", folder / "exported"),
        ("report", folder / "run", "-o", folder / "report.html"),
        ("plot", folder / "run", "-o", folder / "plot.png"),
    ):
        done = command(*arguments)
        assert done.all and is_harmless(done.all), (arguments, done.all)
        assert done.code in (0, 2), done.err


def test_data_on_standard_output_is_exact(evil_run: Any, command: Command) -> None:
    folder, _ = evil_run
    done = command("tag", folder / "run", folder / "gold.jsonl", "-", "--to", "jsonl")
    labels = {label for line in done.out.splitlines() for *_, label in json.loads(line)["label"]}
    assert LABEL in labels
    assert is_harmless(done.err)
    shown = json.loads(command("show", "--json", folder / "run").out)
    assert any(LABEL in key for key in shown[0])


@pytest.mark.slow
def test_a_terminal_gets_colours_of_the_program_alone(evil_run: Any, launch: Any) -> None:
    folder, _ = evil_run
    done = launch.on_terminal(
        *("run", folder / "config.toml", "--out", folder / "other", "--jobs", "1")
    )
    assert done.code == 0, done.out
    assert "\x1b[1;32m" in done.out  # the row of the best iteration
    for character in ("\x1b[31m", "\x9b", "\x07", "\x08", "\u202e", "\u2066", "\u200b", "\ufeff"):
        assert character not in done.out


def test_tables_are_escaped_and_keep_their_colours() -> None:
    file = io.StringIO()
    console = SafeConsole(file=file, width=200, force_terminal=True, color_system="standard")
    table = figures_table(["title" + EVIL], [["cell" + EVIL]])
    inner = Table()
    inner.add_column("nested\x1b[2J")
    console.print(table, inner, escape("text\x1b[31m"), "[red]red[/red]")
    shown = file.getvalue().replace("\x1b[31mred\x1b[0m", "red")
    for sequence in ("\x1b[1m", "\x1b[0m"):  # of titles
        shown = shown.replace(sequence, "")
    assert is_harmless(shown), shown
    assert escaped("title" + EVIL) in shown and escaped("cell" + EVIL) in shown
    assert r"nested\x1" in shown and r"text\x1b[31m" in shown

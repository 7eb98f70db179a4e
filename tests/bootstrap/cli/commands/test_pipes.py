"""Notes that go through a command by standard input and output."""

import csv
import json
import os
import subprocess
import sys
import threading

import pytest

from corpus.errors import InputError
from corpus.formats import find_files

PROGRAM = "import sys; from bootstrap.cli.main import main; sys.exit(main())"


def piped(content: str, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        input=content.encode(),
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_standard_output_has_notes_and_standard_error_the_report() -> None:
    code, out, err = piped("Núria\n\nPere", "convert", "--from", "text", "-", "-")
    assert code == 0
    assert [json.loads(line)["text"] for line in out.splitlines()] == ["Núria", "", "Pere"]
    assert "wrote 3 documents with 0 spans to -" in err


def test_a_note_that_cannot_be_read_ends_a_pipe() -> None:
    code, out, err = piped('{"text": "Núria"}\nPere\n', "convert", "-", "-", "--to", "text")
    assert (code, out) == (2, "Núria\n")
    assert "-:2: lines that are not a JSON object" in err
    assert "Pere" not in err


def test_a_named_pipe_is_read_once(tmp_path, command) -> None:
    contents = {
        "jsonl": '{"id": "1", "text": "Núria", "ward": 3}\n',
        "csv": "id,text,ward\n1,Núria,3\n",
    }
    for suffix, content in contents.items():
        pipe = tmp_path / f"in.{suffix}"
        os.mkfifo(pipe)
        writing = threading.Thread(target=pipe.write_text, args=(content,), daemon=True)
        writing.start()
        done = command("convert", pipe, tmp_path / f"{suffix}.csv")
        writing.join(10)
        assert done.code == 0
        (row,) = csv.DictReader((tmp_path / f"{suffix}.csv").open())
        assert (row["id"], row["text"], "ward" in row) == ("1", "Núria", False)
        lost = {"jsonl": "other columns: ward (1)", "csv": "that are not carried: ward"}
        assert lost[suffix] in done.out


def test_a_pipe_is_refused_where_notes_are_read_again(tmp_path) -> None:
    os.mkfifo(tmp_path / "in.jsonl")
    with pytest.raises(InputError, match=r"in\.jsonl can be read only once: name a file"):
        find_files(tmp_path / "in.jsonl")

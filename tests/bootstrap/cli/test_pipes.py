"""Notes that go through a command by standard input and output."""

import json
import subprocess
import sys

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
    assert "3 documents with 0 spans" in err


def test_a_note_that_cannot_be_read_ends_a_pipe() -> None:
    code, out, err = piped('{"text": "Núria"}\nPere\n', "convert", "-", "-", "--to", "text")
    assert (code, out) == (2, "Núria\n")
    assert "-:2: lines that are not a JSON object" in err
    assert "Pere" not in err

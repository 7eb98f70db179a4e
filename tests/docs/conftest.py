"""The pages of the documentation, and the code in them, as parameters of tests."""

import importlib.util
import re
import shlex
import sys
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")], key=lambda page: page.as_posix()
)
_BLOCK = re.compile(
    r"(?P<mark><!-- runnable -->\n+)?"
    r"^(?P<indent> *)```(?P<language>\w+)\n(?P<code>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A fenced block of code, and whether it is to be executed."""

    page: Path
    line: int
    language: str
    code: str
    runnable: bool

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def commands(self) -> list[list[str]]:
        """Split a shell block into the words of its commands, without comments and redirections."""
        whole_lines = self.code.replace("\\\n", " ").splitlines()
        parts = [
            part for line in whole_lines for part in _pipeline(shlex.split(line, comments=True))
        ]
        return [words for words in parts if words]


def _pipeline(words: list[str]) -> list[list[str]]:
    """Split the words of a line at its pipes, and leave out what follows a redirection."""
    ends = [place for place, word in enumerate(words) if word == "|"]
    parts = [words[a:b] for a, b in zip([0, *(e + 1 for e in ends)], [*ends, None], strict=True)]
    return [list(takewhile(lambda word: word not in ("<", ">", ">>"), part)) for part in parts]


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    result = []
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("language")) + 1
        code = re.sub(rf"^{match['indent']}", "", match["code"], flags=re.MULTILINE)
        result.append(Block(page, line, match["language"], code, bool(match["mark"])))
    return result


def prose_of(page: Path) -> str:
    """Return a page without its blocks of code, whose lines stay empty."""
    text = page.read_text(encoding="utf-8")
    return _BLOCK.sub(lambda match: "\n" * match[0].count("\n"), text)


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
COMMANDS = [
    (block, words) for block in BLOCKS if block.language == "bash" for words in block.commands()
]


def _load_hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "docs" / "hooks.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def hooks() -> ModuleType:
    """The module that generates the reference, and knows the parser and the settings."""
    return _load_hooks()


@pytest.fixture(scope="session")
def setting_keys(hooks: ModuleType) -> dict[str, set[str]]:
    """The keys of each section of the configuration, whatever its kind."""
    keys: dict[str, set[str]] = {}
    for row in hooks.setting_rows():
        keys.setdefault(row.section, {"kind"}).add(row.key)
    return keys


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test for each block or command, by the name of its parameter."""
    values: dict[str, list[tuple[str, object]]] = {
        "runnable_block": [(b.place, b) for b in BLOCKS if b.runnable],
        "toml_block": [(b.place, b) for b in BLOCKS if b.language == "toml"],
        "command": [(f"{b.place} {' '.join(words[:3])}", words) for b, words in COMMANDS],
    }
    for name, rows in values.items():
        if name in metafunc.fixturenames:
            ids, parameters = zip(*rows, strict=True)
            metafunc.parametrize(name, parameters, ids=ids)

"""The pages of the documentation, by topic.

They are in ``bootstrap/docs`` of an installed package, and in ``docs`` of a checkout.
"""

from __future__ import annotations

from pathlib import Path

from corpus.errors import InputError, shown

_PACKAGE = Path(__file__).resolve().parents[1]
#: Markers of pages whose content is generated when the site is built.
_GENERATED = ("<!-- commands -->", "<!-- settings -->", "<!-- notebook", "\n::: ")


def documentation_folder() -> Path:
    """Return the folder of the documentation.

    Raises
    ------
    InputError
        If the package was installed without it.
    """
    for folder in (_PACKAGE / "docs", _PACKAGE.parent / "docs"):
        if (folder / "index.md").is_file():
            return folder
    raise InputError("the documentation is not installed; `pip install` of a wheel includes it")


def find_topics() -> dict[str, Path]:
    """Return the pages that can be read as text, by topic, in alphabetical order.

    The topic of a page is the name of its file without the suffix.
    """
    pages = sorted(documentation_folder().rglob("*.md"), key=lambda page: page.stem)
    return {page.stem: page for page in pages if not _is_generated(page)}


def _is_generated(page: Path) -> bool:
    text = page.read_text(encoding="utf-8")
    return any(mark in text for mark in _GENERATED)


def title_of(page: Path) -> str:
    """Return the title of a page: its first heading."""
    with page.open(encoding="utf-8") as lines:
        return next((line[2:].strip() for line in lines if line.startswith("# ")), page.stem)


def read_topic(topic: str) -> str:
    """Return the page of a topic as Markdown.

    Raises
    ------
    InputError
        If there is no such topic.
    """
    topics = find_topics()
    if topic not in topics:
        raise InputError(f'there is no topic "{shown(topic)}"; the topics are {", ".join(topics)}')
    return topics[topic].read_text(encoding="utf-8")

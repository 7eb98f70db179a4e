"""Links between pages lead to files and headings that exist."""

import re
import unicodedata
from pathlib import Path

from tests.docs.conftest import PAGES, ROOT, prose_of

_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\((?P<target>[^()\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(?P<title>.+?) *$", re.MULTILINE)


def slug(title: str) -> str:
    """Return the anchor of a heading, as Python-Markdown and GitHub make it."""
    ascii_only = unicodedata.normalize("NFKD", title.replace("`", "")).encode("ascii", "ignore")
    words = re.sub(r"[^\w\s-]", "", ascii_only.decode()).strip().lower()
    return re.sub(r"[-\s]+", "-", words)


def anchors_of(page: Path) -> set[str]:
    return {slug(match["title"]) for match in _HEADING.finditer(prose_of(page))}


def relative_links(page: Path) -> list[str]:
    targets = [match["target"] for match in _LINK.finditer(prose_of(page))]
    return [target for target in targets if not target.startswith(("http://", "https://"))]


def test_relative_links_and_anchors_exist():
    broken = []
    for page in PAGES:
        for target in relative_links(page):
            name, _, anchor = target.partition("#")
            path = (page.parent / name).resolve() if name else page
            if not path.exists() or (anchor and anchor not in anchors_of(path)):
                broken.append((page.name, target))
    assert broken == []


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    named = set(re.findall(r": (\S+\.md)$", navigation, re.MULTILINE))
    pages = {
        page.relative_to(ROOT / "docs").as_posix()
        for page in PAGES
        if ROOT / "docs" in page.parents
    }
    assert named == pages


def test_files_of_the_repository_that_pages_name_exist():
    named = re.compile(
        r"`((?:corpus|gazetteers|taggers|bootstrap|benchmarks|tests|docs)/[\w/.]+\.\w+)`"
    )
    names = [(page.name, name) for page in PAGES for name in named.findall(page.read_text("utf-8"))]
    assert [(page, name) for page, name in names if not (ROOT / name).exists()] == []

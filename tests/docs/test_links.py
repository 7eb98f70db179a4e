"""Links between pages lead to files and headings that exist."""

import re
import unicodedata
from pathlib import Path

from tests.docs.conftest import PAGES, ROOT, blocks_of, prose_of

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


def test_relative_links_and_anchors_exist(page):
    broken = []
    for target in relative_links(page):
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists() or (anchor and anchor not in anchors_of(path)):
            broken.append(target)
    assert broken == []


def test_links_of_the_documentation_stay_inside_it(page):
    if (ROOT / "docs") not in page.parents:
        return  # pages of the repository link to the documentation
    outside = [
        target
        for target in relative_links(page)
        if (ROOT / "docs") not in (page.parent / target.partition("#")[0]).resolve().parents
        and target.partition("#")[0]
    ]
    assert outside == []


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    named = set(re.findall(r": (\S+\.md)$", navigation, re.MULTILINE))
    pages = {
        page.relative_to(ROOT / "docs").as_posix()
        for page in PAGES
        if ROOT / "docs" in page.parents
    }
    assert named == pages


def test_every_page_has_one_title_and_an_example(page):
    titles = re.findall(r"^# ", prose_of(page), re.MULTILINE)
    if "<!-- notebook" in page.read_text(encoding="utf-8"):
        return  # its title and its examples are those of the notebook
    assert len(titles) == 1
    if ROOT / "docs" in page.parents:
        assert blocks_of(page)


def test_files_of_the_repository_that_pages_name_exist(page):
    named = re.findall(
        r"`((?:corpus|gazetteers|taggers|bootstrap|benchmarks|tests|docs)/[\w/.]+\.\w+)`",
        page.read_text(encoding="utf-8"),
    )
    assert [name for name in named if not (ROOT / name).exists()] == []

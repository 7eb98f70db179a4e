"""Pages of reports, parsed and opened in a browser."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

#: Elements without an end tag.
_VOID = {"meta", "wbr", "br"}


class Page(HTMLParser):
    """Collects the tags and the text of a page, and checks that what opens closes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said = ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.said += data

    def names(self, kind: str) -> list[str]:
        """Return the names of the figures (`figure`) or the tables (`table`) of the page."""
        names = (attributes.get(f"data-{kind}") for _, attributes in self.tags)
        return [name for name in names if name]


@pytest.fixture(scope="session")
def parse() -> Callable[[Path], Page]:
    """Parse a page."""
    return lambda path: Page(path.read_text(encoding="utf-8"))


class Browser:
    """A browser without a window, spoken to by its DevTools protocol over two pipes."""

    def __init__(self, program: str, folder: Path) -> None:
        commands, self._out = os.pipe()
        self._in, answers = os.pipe()
        self._process = subprocess.Popen(
            [
                "bash", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "browser", program,
                "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--user-data-dir={folder / 'profile'}", "--remote-debugging-pipe", "about:blank",
            ],
            pass_fds=(commands, answers), env={**os.environ, "HOME": str(folder)},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(commands)
        os.close(answers)
        self._read = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        """Send a command and return its result; events on the way are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def wait_for(self, method: str) -> None:
        """Wait for an event."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._in], [], [], 60)
            assert ready, "the browser does not answer"
            data = os.read(self._in, 1 << 20)
            assert data, "the browser has ended"
            self._read += data
        message, _, self._read = self._read.partition(b"\0")
        return json.loads(message)


#: What is asked of a page.
_LOOK = """
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const root = document.documentElement, overflow = () => root.scrollWidth - root.clientWidth;
  const folded = overflow();
  for (const element of all("details")) element.open = true;
  const figures = all("figure svg").map((element) => element.getBoundingClientRect());
  return JSON.stringify({
    overflow: [folded, overflow()], drawn: figures.filter((element) => element.height > 40).length,
    wide: figures.filter((element) => element.right > innerWidth).length,
    paper: getComputedStyle(document.body).backgroundColor, title: document.title,
    words: all("svg text").map((element) => element.textContent).join(" "),
  });
})()
"""


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser, or a visible skip."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.skip("no Chromium: `apt-get install chromium` lets this test open pages")
    opened = Browser(program, tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def browse(browser: Browser) -> Callable[..., dict[str, Any]]:
    """Open a page in a browser and return what it shows: `browse(path, width=360)`."""

    def open_page(path: Path, *, width: int, scheme: str = "light") -> dict[str, Any]:
        browser.events.clear()
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Log", "Network"):
            browser.ask(f"{domain}.enable", session)
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.ask("Emulation.setDeviceMetricsOverride", session, **screen)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.ask("Emulation.setEmulatedMedia", session, features=[feature])
        browser.ask("Page.navigate", session, url=path.as_uri())
        browser.wait_for("Page.loadEventFired")
        answer = browser.ask("Runtime.evaluate", session, expression=_LOOK, returnByValue=True)
        seen: dict[str, Any] = json.loads(answer["result"]["value"])
        seen |= {"console": [], "requests": [], "blocked": []}
        for event in browser.events:
            parameters = event.get("params", {})
            match event.get("method"):
                case "Log.entryAdded":
                    seen["console"].append(parameters["entry"]["text"])
                case "Network.requestWillBeSent":
                    seen["requests"].append(parameters["request"]["url"].partition(":")[0])
                case "Network.loadingFailed":
                    seen["blocked"].append(parameters.get("blockedReason"))
        browser.ask("Target.closeTarget", targetId=target)
        return seen

    return open_page

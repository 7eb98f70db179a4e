"""Pages of reports, parsed and opened in a browser."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

#: Elements without an end tag.
_VOID = {"meta", "wbr", "br"}


class Page(HTMLParser):
    """Collects the tags and the text of a page, and sees that what opens closes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said = ""
        self.data: Any = {}
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            if self.tags[-1][1].get("type") == "application/json":
                self.data = json.loads(data)
        elif self.open[-1:] != ["style"]:
            self.said += data

    def names(self, kind: str) -> list[str]:
        """Return the names of the figures (`name`) or the tables (`table`) of the page."""
        found = (attributes.get(f"data-{kind}") for _, attributes in self.tags)
        return [name for name in found if name]


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
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic",
                "--no-first-run", "--disable-background-networking", "--disable-component-update",
                "--disable-sync", "--disable-dev-shm-usage",
                "--host-resolver-rules=MAP * ~NOTFOUND",
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
        found: dict[str, Any] = json.loads(message)
        return found


#: What is asked of a page: it waits until everything is drawn.
_LOOK = """
(async () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const marks = (chart) => chart.querySelectorAll("svg path").length;
  const width = (element) => element?.clientWidth ?? 0;
  const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
  const root = document.documentElement;
  const overflow = () => root.scrollWidth - root.clientWidth;
  const seen = {overflow_folded: overflow()};
  for (const each of all("details")) each.open = true;
  const charts = all(".chart");
  for (let turn = 0; turn < 100 && charts.some((each) => !marks(each)); turn++) await pause(50);
  PRESS
  await pause(200);
  return JSON.stringify({
    ...seen, width: innerWidth, overflow: overflow(), charts: charts.length,
    drawn: charts.filter((each) => marks(each) > 2).length,
    wide: charts.filter((each) => width(each.querySelector("svg")) > width(each) + 1).length,
    keys: all(".legend button").length,
    hidden: all(".legend button[aria-pressed=false]").length,
    paths: charts.reduce((sum, each) => sum + marks(each), 0),
    words: charts.map((each) => each.textContent).join(" "),
    tables: all("[data-table] table").length, title: document.title,
  });
})()
"""
_PRESS = 'document.querySelector(".legend button")?.click();'


def _chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if found := shutil.which(name):
            return found
    pytest.skip("no Chromium: `apt-get install chromium` lets this test open pages")


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser, or a visible skip."""
    opened = Browser(_chromium(), tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def browse(browser: Browser) -> Callable[..., dict[str, Any]]:
    """Open a page in a browser and return what it saw: `browse(path, width=360)`.

    With `before`, the window has another width at first; `printed` prints the page before.
    """

    def open_page(
        path: Path,
        *,
        width: int,
        press: bool = False,
        before: int | None = None,
        printed: bool = False,
    ) -> dict[str, Any]:
        browser.events.clear()
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            browser.ask(f"{domain}.enable", session)

        def resize(to: int) -> None:
            screen = {"width": to, "height": 900, "deviceScaleFactor": 1, "mobile": to < 600}
            browser.ask("Emulation.setDeviceMetricsOverride", session, **screen)

        resize(before or width)
        browser.ask("Page.navigate", session, url=path.as_uri())
        browser.wait_for("Page.loadEventFired")
        resize(width)
        paper = browser.ask("Page.printToPDF", session)["data"] if printed else ""
        script = _LOOK.replace("PRESS", _PRESS if press else "")
        found = browser.ask(
            "Runtime.evaluate", session, expression=script, awaitPromise=True, returnByValue=True
        )
        seen: dict[str, Any] = json.loads(found["result"]["value"])
        seen |= {"console": [], "requests": [], "blocked": [], "paper": b64decode(paper)}
        for event in browser.events:
            parameters = event.get("params", {})
            match event.get("method"):
                case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown":
                    seen["console"].append(parameters)
                case "Log.entryAdded":
                    seen["console"].append(parameters["entry"]["text"])
                case "Network.requestWillBeSent":
                    seen["requests"].append(parameters["request"]["url"])
                case "Network.loadingFailed":
                    seen["blocked"].append(parameters.get("blockedReason"))
        browser.ask("Target.closeTarget", targetId=target)
        return seen

    return open_page

"""Headless Chromium for tests and pictures, driven over WebDriver by the system's own chromedriver."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

AXE = Path(__file__).parents[2] / "build/sysroot/usr/src/axe-core-4.14.1/axe.min.js"
"""Where set-up unpacks it: packages.toml."""

RUN_AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]}).then((found) => done(found.violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.target.join(" ")).join(", ")}`)));
"""

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-default-apps", "--hide-scrollbars", "--force-color-profile=srgb",
)  # fmt: skip


def missing() -> str:
    """Why the browser can't be started; empty if it can."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"no {program}: apt-get install chromium chromium-driver"
    if not AXE.exists():
        return f"no {AXE}: `make test` sets it up"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "no selenium: pip install selenium"
    return ""


class Page:
    """One tab, with what a test of a page needs."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path) -> None:
        """Load a file and wait until its script is done."""
        self.driver.get(path.resolve().as_uri())
        self.js("return document.fonts.ready.then(() => true)")

    def js(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page; `return` gives its value back."""
        return self.driver.execute_script(script, *arguments)

    def until(self, script: str, *arguments: Any, seconds: float = 5.0) -> str:
        """The first answer of a script that is not empty; an AssertionError after so many seconds."""
        end = time.monotonic() + seconds
        while not (got := self.js(script, *arguments)):
            assert time.monotonic() < end, f"nothing within {seconds:g} s from: {script}"
            time.sleep(0.02)
        return str(got)

    def command(self, name: str, **arguments: Any) -> Any:
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, arguments)

    def inaccessible(self) -> list[str]:
        """What axe-core finds wrong with the page as it stands, of serious or critical impact, and where."""
        self.driver.execute_script(AXE.read_text(encoding="utf-8"))
        found: list[str] = self.driver.execute_async_script(RUN_AXE)
        return found

    def window(self, width: int, height: int = 900, *, phone: bool = False) -> None:
        """Give the page a viewport, before it is opened or after."""
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone
        )

    def media(self, scheme: str = "light", kind: str = "") -> None:
        """Prefer a colour scheme, or pretend to be a printer."""
        self.command(
            "Emulation.setEmulatedMedia", media=kind, features=[{"name": "prefers-color-scheme", "value": scheme}]
        )

    def point(self, x: float, y: float) -> None:
        """Move the pointer to a point of the viewport."""
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def console(self) -> list[str]:
        """Errors and warnings that the page caused so far."""
        return [f"{entry['level']}: {entry['message']}" for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that the page asked for so far, but data: URLs, which stay inside it."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [url for url in sent if not url.startswith("data:")]

    def screenshot(self, *, full: bool = True) -> bytes:
        """The page as PNG: the whole of it, or the viewport."""
        got = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        if full:
            size = self.command("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
            got = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        return base64.b64decode(got["data"])

    def pdf(self) -> bytes:
        """The page as printed on A4."""
        got = self.command("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)
        return base64.b64decode(got["data"])


@contextmanager
def browser() -> Iterator[Page]:
    """A browser with a profile of its own, gone at the end."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    class Driver(Service):  # type: ignore[misc]
        """By address: a bare machine may have no /etc/hosts, and so no "localhost"."""

        @property
        def service_url(self) -> str:
            return f"http://127.0.0.1:{self.port}"

        def is_connectable(self) -> bool:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                return False
            return True

    with tempfile.TemporaryDirectory(prefix="wulf-chromium-", ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = str(shutil.which("chromium"))
        for flag in (*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Driver(str(shutil.which("chromedriver"))))
        try:
            driver.set_page_load_timeout(60)
            driver.set_script_timeout(60)
            yield Page(driver)
        finally:
            driver.quit()

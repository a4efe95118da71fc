"""One Chromium for all browser tests; without one they are skipped with the reason, and fail in CI."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.browser.chromium import Page, browser, missing
from tests.unit.report.make_node import NODE_SHAPES
from tests.unit.report.make_run import SHAPES
from wulf.report.run.html import write_report


def need(why_not: str) -> None:
    """Skip the test if there is a reason; in CI, where everything must be there, fail it."""
    if why_not and os.environ.get("CI") == "true":
        pytest.fail(why_not)
    if why_not:
        pytest.skip(why_not)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Page]:
    need(missing())
    with browser() as page:
        yield page


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The report of a shape of run, written once."""
    folder = tmp_path_factory.mktemp("reports")

    @cache
    def written(shape: str) -> Path:
        path = folder / f"{shape}.html"
        write_report((SHAPES | NODE_SHAPES)[shape](), path)
        return path

    return written


@pytest.fixture
def page(chromium: Page) -> Page:
    """The browser, back at a desktop in daylight with nothing in its logs."""
    chromium.window(1280, 900)
    chromium.media("light")
    chromium.driver.get("about:blank")
    chromium.console()
    chromium.requests()
    return chromium

"""10,000 nodes with 20 metrics: a scrape and the page are bounded, in size and in time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.unit.sentry.making import NOW, made, many
from wulf.report.kit.page import render_view
from wulf.report.sentry.site import site_view
from wulf.scrape.openmetrics import Form
from wulf.sentry.metrics import SERIES, TABLE
from wulf.sentry.site import read_site
from wulf.sentry.state import SentryState
from wulf.workflow.sentry.metrics import Metrics

pytestmark = pytest.mark.alone

NODES, SCRAPE_S, PAGE_S = 10_000, 2.0, 15.0
"""Bounds of CPU time: twice and three times what it took."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("state") / "sentry.db", nodes=NODES, days=57, every=7, metrics=many(20))


def test_a_scrape(path: Path) -> None:
    content = Metrics(path, clock=lambda: NOW)
    began = time.process_time()
    text = content(Form.OPENMETRICS)
    assert time.process_time() - began < SCRAPE_S
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert SERIES <= len(lines) <= SERIES + len(TABLE)
    assert len(text.encode()) < 10e6
    assert text.count("wulf_node_measured_timestamp_seconds{") == NODES
    began = time.process_time()
    assert content(Form.OPENMETRICS) == text
    assert time.process_time() - began < 0.1, "nothing has changed"


def test_the_page(path: Path) -> None:
    began = time.process_time()
    with SentryState(path, read_only=True) as state:
        page = render_view(site_view(read_site(state, NOW, 60)))
    assert time.process_time() - began < PAGE_S
    assert len(page.encode()) < 1.5e6

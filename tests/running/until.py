"""Tests in the order of the command line, and none begins once the time is over: a plugin for `make test-changed`."""

from __future__ import annotations

import time

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("make test-changed")
    group.addoption("--until", type=float, metavar="EPOCH", help="No test begins after this, in seconds since 1970,")
    group.addoption("--but", action="append", default=[], metavar="FILE", help="but for those of this file.")


def file_of(name: str) -> str:
    return name.partition("::")[0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """After tests.running.tiers, whose order is good where there is time for all."""
    order = {file: at for at, file in reversed(list(enumerate(map(file_of, config.args))))}
    items.sort(key=lambda item: order.get(file_of(item.nodeid), len(order)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    until = item.config.getoption("--until")
    if until and time.time() > until and file_of(item.nodeid) not in item.config.getoption("--but"):
        pytest.skip("the time is over: left to `make test`")

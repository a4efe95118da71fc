"""For all tests."""

import signal

import pytest

from tests import caches
from tests.wording import COLLECTED, collected
from tests.wording import wording as wording


def pytest_configure() -> None:
    caches.use()
    # A shell has what it starts in the background ignore SIGINT; so would all that the tests start and interrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """For `--dist loadgroup`: a file stays together, but for lab tests that share no fixture of their file: those go to
    whoever is free.
    """
    config.stash[COLLECTED] = collected(config, items)
    for item in items:
        if item.path.parent.name != "lab" or "module" in _scopes(item):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def _scopes(item: pytest.Item) -> set[str]:
    """How long the fixtures live that a test uses."""
    made = getattr(item, "_fixtureinfo", None)  # pytest has no public way to ask
    return {found[-1].scope for found in made.name2fixturedefs.values()} if made else set()

"""For all tests."""

import os
import signal

from hypothesis import settings

from tests import caches

pytest_plugins = ["tests.running.tiers", "tests.wording", "tests.running.durations"]

# The same examples every time, and none too slow on a busy host: as Hypothesis does where CI is set.
settings.register_profile("wulf", deadline=None, derandomize=True, database=None)
settings.load_profile("wulf")


def pytest_configure() -> None:
    caches.use()
    os.environ["WULF_CONFIG"] = ""  # whatever the machine's user has set
    # hwloc, at the start of every MPI program, looks for an X server at localhost:0 to :9. A bare machine may have no
    # /etc/hosts, and so no "localhost": each look then waits five seconds for a name server.
    os.environ.setdefault("HWLOC_COMPONENTS", "-gl")
    # A shell has what it starts in the background ignore SIGINT; so would all that the tests start and interrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

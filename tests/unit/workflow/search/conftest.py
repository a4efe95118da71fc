"""A search over nodes in memory."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from tests.unit.workflow.search.standins import NODE
from wulf.cluster.mpi import WorldSpec
from wulf.store.run import RunWriter
from wulf.workflow.search import run as module
from wulf.workflow.search.run import run_search


@pytest.fixture
def searched(monkeypatch, tmp_path):
    """Runs a search over `Apps`; a second call goes on with the same run."""

    def run(prepare, apps, resume=False, **more):
        @contextmanager
        def opened(*_):
            yield apps

        monkeypatch.setattr(module, "open_applications", opened)
        with RunWriter(tmp_path / "run", "search", {}, resume=resume) as writer:
            return run_search(NODE, prepare, WorldSpec(), writer, **more)

    return run

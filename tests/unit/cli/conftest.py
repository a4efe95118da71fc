"""What tests of commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.unit.workflow.predict_fakes import FakeReplay
from wulf.workflow.foresight import replaying


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeReplay:
    """The session that commands have in the place of wulf-replay's."""
    made = FakeReplay()

    @contextmanager
    def session() -> Iterator[FakeReplay]:
        yield made

    monkeypatch.setattr(replaying, "replay_session", session)
    return made

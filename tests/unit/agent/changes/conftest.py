from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.agent.changes.machine import FakeNode


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    return FakeNode(tmp_path)

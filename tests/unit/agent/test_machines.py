"""Facts of recorded machines, every one of them; WULF_UPDATE=1 rewrites what is expected."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.machines import tree
from wulf.agent import facts
from wulf.agent.machine import Machine


@pytest.mark.parametrize("name", tree.names())
def test_recorded_machine_gives_its_facts(name: str, tmp_path: Path) -> None:
    with Machine(str(tree.unpack(name, tmp_path))) as machine:
        found = facts.read(machine)
    if os.environ.get("WULF_UPDATE"):
        tree.write_json(tree.FOLDER / name / "expected.json", found)
    assert found == tree.expected(name)

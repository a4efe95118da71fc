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


@pytest.mark.parametrize(("said", "expected"), [("2400", 2_400_000_000), ("0", None)])
def test_the_nominal_clock_is_acpis_where_the_driver_says_none(said: str, expected: int | None, tmp_path: Path) -> None:
    root = tree.unpack("epyc-without-pyroute2", tmp_path)
    for cpu in Path(root, "sys/devices/system/cpu").glob("cpu[0-9]*"):
        (cpu / "acpi_cppc").mkdir()
        (cpu / "acpi_cppc/nominal_freq").write_text(f"{said}\n")
    with Machine(str(root)) as machine:
        assert facts.read(machine, ["cpu.frequency_base"])["cpu.frequency_base"]["value"] == expected

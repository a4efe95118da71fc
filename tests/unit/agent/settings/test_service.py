"""Services under systemd, as systemctl answers, and without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wulf.agent.machine import Machine
from wulf.agent.settings.service import mechanism as service
from wulf.agent.unknown import Unknown


class Systemd:
    """Stands for the kernel: one unit, and the systemctl that knows it."""

    def __init__(self, **state: str) -> None:
        self.state = {"LoadState": "loaded", "ActiveState": "active", "UnitFileState": "enabled", **state}
        self.told: list[str] = []

    def ask(self, question: str, *arguments: str) -> Any:
        assert (question, arguments[:2], arguments[-1]) == ("output", ("systemctl", "show"), "irqbalance.service")
        return {"status": 0, "out": "".join(f"{name}={value}\n" for name, value in self.state.items()), "err": ""}

    def tell(self, request: str, *arguments: str) -> None:
        program, verb, unit = arguments
        assert (request, program, unit) == ("program", "systemctl", "irqbalance.service")
        self.told.append(verb)
        change = {
            "start": {"ActiveState": "active"},
            "stop": {"ActiveState": "inactive"},
            "enable": {"UnitFileState": "enabled"},
            "disable": {"UnitFileState": "disabled"},
            "mask": {"UnitFileState": "masked", "LoadState": "masked"},
            "unmask": {"UnitFileState": "disabled", "LoadState": "loaded"},
        }
        self.state.update(change[verb])

    def close(self) -> None:
        """Nothing is held."""


def node(root: Path, kernel: Any, systemd: bool = True) -> Machine:
    if systemd:
        (root / "run/systemd/system").mkdir(parents=True, exist_ok=True)
    machine = Machine(str(root))
    machine._kernel = kernel
    return machine


UNIT, ENABLED = {"unit": "irqbalance"}, {"unit": "irqbalance.service", "what": "enabled"}


def test_running_and_enabled_are_written_apart(tmp_path: Path) -> None:
    systemd = Systemd()
    machine = node(tmp_path, systemd)
    assert (service.read(machine, UNIT, ""), service.startup(machine, UNIT, "")) == (True, True)
    service.write(machine, UNIT, "", False)
    assert (service.read(machine, UNIT, ""), service.read(machine, ENABLED, "")) == (False, "enabled")
    service.write(machine, ENABLED, "", "disabled")
    assert (service.startup(machine, UNIT, ""), service.startup(machine, ENABLED, "")) == (False, "disabled")
    service.write(machine, UNIT, "", True)
    assert (service.read(machine, UNIT, ""), service.read(machine, ENABLED, "")) == (True, "disabled")
    assert systemd.told == ["stop", "disable", "start"]


@pytest.mark.parametrize("before", ["enabled", "disabled", "masked"])
@pytest.mark.parametrize("wanted", ["enabled", "disabled", "masked"])
def test_whatever_a_unit_was_can_be_put_back(before: str, wanted: str, tmp_path: Path) -> None:
    systemd = Systemd(UnitFileState=before, LoadState="masked" if before == "masked" else "loaded")
    machine = node(tmp_path, systemd)
    for state in (wanted, before):
        service.write(machine, ENABLED, "", state)
        assert service.read(machine, ENABLED, "") == state


def test_a_masked_unit_is_not_started_behind_its_masking(tmp_path: Path) -> None:
    systemd = Systemd(UnitFileState="masked", LoadState="masked", ActiveState="inactive")
    with pytest.raises(Unknown, match="is masked"):
        service.write(node(tmp_path, systemd), UNIT, "", True)
    assert systemd.told == []


@pytest.mark.parametrize("state", ["static", "indirect", "generated"])
def test_a_unit_that_others_start_has_no_start_up_value(state: str, tmp_path: Path) -> None:
    machine = node(tmp_path, Systemd(UnitFileState=state))
    with pytest.raises(Unknown, match=f"the unit is {state}"):
        service.startup(machine, UNIT, "")
    with pytest.raises(Unknown, match="can't be made 'static'"):
        service.write(machine, ENABLED, "", "static")


class Processes:
    """Stands for the kernel of a node without systemd."""

    def __init__(self, *running: str) -> None:
        self.running = set(running)
        self.told: list[tuple[str, ...]] = []

    def ask(self, question: str, *arguments: str) -> Any:
        assert question == "processes"
        return [42] if arguments[0] in self.running else []

    def tell(self, request: str, *arguments: str) -> None:
        self.told.append((request, *arguments))

    def close(self) -> None:
        """Nothing is held."""


def test_without_systemd_a_service_is_its_process(tmp_path: Path) -> None:
    machine = node(tmp_path, Processes("sshd"), systemd=False)
    assert service.read(machine, {"unit": "ssh", "process": "sshd"}, "") is True
    with pytest.raises(Unknown, match="no process irqbalance") as caught:
        service.read(machine, UNIT, "")
    assert caught.value.absent
    with pytest.raises(Unknown, match=r"no /etc/init.d/ssh to start and stop it with"):
        service.write(machine, {"unit": "ssh", "process": "sshd"}, "", False)


def test_init_scripts_and_their_links(tmp_path: Path) -> None:
    for name in ("etc/init.d/irqbalance", "etc/rc2.d/S01irqbalance", "etc/rc3.d/K01other"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    processes = Processes()
    machine = node(tmp_path, processes, systemd=False)
    assert (service.read(machine, UNIT, ""), service.startup(machine, UNIT, "")) == (False, True)
    service.write(machine, UNIT, "", True)
    assert processes.told == [("program", "/etc/init.d/irqbalance", "start")]
    (tmp_path / "etc/rc2.d/S01irqbalance").rename(tmp_path / "etc/rc2.d/K01irqbalance")
    assert service.startup(machine, UNIT, "") is False

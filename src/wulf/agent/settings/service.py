"""Services: whether they run now, and whether a boot starts them; through systemd, else processes and init.d.

Without systemd a service is known by its process, and can be changed where it has a script in /etc/init.d.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine

_SYSTEMD = "run/systemd/system"  # sd_booted(3)
_STARTED = {"enabled", "enabled-runtime", "alias", "static", "generated", "indirect"}
"""States in which a boot may start a unit; of these only 'enabled' says by itself that it does."""
_WRITES = {"enabled": "enable", "disabled": "disable", "masked": "mask"}


class Service(Mechanism):
    help = (
        "service: unit = 'irqbalance'; what = 'active' (true or false: whether it runs; its start-up value: whether a "
        "boot starts it) or 'enabled' (systemd's word: enabled, disabled, masked, …); process = its process's name"
    )
    words = ("unit",)
    optional = ("what", "process")
    survives_reboot = True  # what a boot starts; with it, whether it runs then

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        manager = _manager(machine, target)
        return manager.enabled() if target.get("what") == "enabled" else manager.active()

    def write(self, machine: Machine, target: Mapping[str, Any], place: str, value: Any) -> None:
        manager = _manager(machine, target)
        if target.get("what") == "enabled":
            manager.set_enabled(str(value))
        else:
            manager.set_active(bool(value))

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        state = _manager(machine, target).enabled()
        if target.get("what") == "enabled":
            return state
        if state in _STARTED - {"enabled"}:
            raise Unknown(f"the unit is {state}: a boot starts it where another unit asks for it")
        return state == "enabled"


class _Systemd:
    def __init__(self, machine: Machine, unit: str) -> None:
        self._machine = machine
        self._unit = unit if "." in unit else f"{unit}.service"
        self._state = self._show()

    def _show(self) -> dict[str, str]:
        asked = [f"--property={name}" for name in ("LoadState", "ActiveState", "UnitFileState")]
        said = self._machine.ask("output", "systemctl", "show", *asked, self._unit)
        if said["status"] != 0:
            raise Unknown(f"systemctl says of {self._unit}: {' '.join(said['err'].split())}")
        state = dict(line.partition("=")[::2] for line in said["out"].splitlines())
        if state.get("LoadState") == "not-found":
            raise Unknown(f"systemd knows no unit {self._unit}", absent=True)
        return state

    def active(self) -> bool:
        return self._state["ActiveState"] in ("active", "reloading", "activating")

    def enabled(self) -> str:
        return self._state["UnitFileState"] or "generated"  # '' is a unit without a file, made by a generator

    def set_active(self, on: bool) -> None:
        if on and self._state["LoadState"] == "masked":
            raise Unknown(
                f"{self._unit} is masked: systemd will not start it; set what = 'enabled' to 'disabled' first"
            )
        self._machine.tell("program", "systemctl", "start" if on else "stop", self._unit)

    def set_enabled(self, state: str) -> None:
        if state not in _WRITES:
            raise Unknown(f"a unit can't be made '{state}'; {', '.join(_WRITES)} can be written")
        if self.enabled() == "masked" and state != "masked":
            self._machine.tell("program", "systemctl", "unmask", self._unit)
        self._machine.tell("program", "systemctl", _WRITES[state], self._unit)


class _Processes:
    """A node whose first process is no systemd: a container, a node of the lab, another init."""

    def __init__(self, machine: Machine, unit: str, process: str) -> None:
        self._machine = machine
        self._script = f"etc/init.d/{unit.partition('.')[0]}"
        self._running = machine.ask("processes", process)
        if not self._running and not machine.exists(self._script):
            raise Unknown(f"no systemd here, no /{self._script}, and no process {process}", absent=True)

    def active(self) -> bool:
        return bool(self._running)

    def enabled(self) -> str:
        name = self._script.rpartition("/")[2]
        folders = [f"etc/rc{level}.d" for level in "2345S" if self._machine.exists(f"etc/rc{level}.d")]
        links = [link for folder in folders for link in self._machine.names(folder) if link[3:] == name]
        if not links:
            raise Unknown("no systemd here, and no link in /etc/rc*.d: what starts it is not known")
        return "enabled" if any(link.startswith("S") for link in links) else "disabled"

    def set_active(self, on: bool) -> None:
        if not self._machine.exists(self._script):
            raise Unknown(f"no systemd here, and no /{self._script} to start and stop it with")
        self._machine.tell("program", f"/{self._script}", "start" if on else "stop")

    def set_enabled(self, state: str) -> None:
        raise Unknown(f"no systemd here: what a boot starts can't be set to '{state}'")


def _manager(machine: Machine, target: Mapping[str, Any]) -> _Systemd | _Processes:
    unit = str(target["unit"])
    if machine.exists(_SYSTEMD):
        return _Systemd(machine, unit)
    return _Processes(machine, unit, str(target.get("process", unit.partition(".")[0])))


mechanism = Service()

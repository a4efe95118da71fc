"""Options of kernel modules: as they are in /sys/module, and as modprobe.d(5) or the command line gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent.boot import bootline, dropins
from wulf.agent.machine import shared
from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown
from wulf.agent.values import WORDS, below, from_text, to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine


class Module(Mechanism):
    help = "option of a kernel module: module = 'e1000e', option = 'InterruptThrottleRate'"
    words = ("module", "option")
    optional = WORDS

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        folder = f"sys/module/{_underscored(target['module'])}"
        if not machine.exists(folder):
            raise Unknown(f"the module {target['module']} is not loaded", absent=True)
        if not machine.exists(_path(target)):
            raise Unknown(f"{target['module']} does not show its option {target['option']} in /{folder}/parameters")
        return from_text(machine.text(_path(target)), target)

    def write(self, machine: Machine, target: Mapping[str, Any], place: str, value: Any) -> None:
        self.read(machine, target, place)
        try:
            machine.put(_path(target), to_text(value, target))
        except Unknown as unknown:
            raise Unknown(
                f"{unknown.reason}; an option that can't be changed while the module runs is given when it is loaded: "
                f"'options {target['module']} {target['option']}={to_text(value, target)}' in /etc/modprobe.d"
            ) from unknown

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        module, option = _underscored(target["module"]), target["option"]
        said = [text for name, key, text in _options(machine) if (name, key) == (module, option)]
        said += [text for text in [_on_command_line(machine, module, option)] if text is not None]
        if not said:
            raise Unknown(f"nothing in modprobe.d or on the command line gives {option}: the module's own default")
        return from_text(said[-1], target)


def _path(target: Mapping[str, Any]) -> str:
    return below("sys/module", f"sys/module/{_underscored(target['module'])}/parameters/{target['option']}")


def _underscored(name: str) -> str:
    return name.replace("-", "_")


@shared
def _options(machine: Machine) -> list[tuple[str, str, str]]:
    """(module, option, value) of every 'options' line, in the order in which they reach the module: the last counts."""
    found = []
    for path in dropins.files(machine, "modprobe.d", ".conf"):
        for line in dropins.lines(machine, path, comments="#"):
            words = line.split()
            if words[0] == "options" and len(words) > 2:
                pairs = (word.partition("=") for word in words[2:])
                found += [(_underscored(words[1]), option, value or "1") for option, _, value in pairs]
    return found


def _on_command_line(machine: Machine, module: str, option: str) -> str | None:
    """'e1000e.copybreak=0', as the next boot will have it; as this one, where the next one's can't be read."""
    try:
        said = bootline.next_value(machine, f"{module}.{option}")
    except Unknown:
        words = bootline.running(machine) if machine.exists("proc/cmdline") else []
        said = bootline.value(words, f"{module}.{option}")
    return None if said is False else "1" if said is True else str(said)


mechanism = Module()

"""The clock: what it is read from, and what keeps it in step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.fact import Topic
from wulf.agent.machine import shared
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("clock")

_FOLDER = "sys/devices/system/clocksource/clocksource0"
_STA_UNSYNC, _STA_NANO = 0x0040, 0x2000  # linux/timex.h
_KEEPERS = {
    "chronyd": "chrony",
    "ntpd": "ntpd",
    "ntpd-rs": "ntpd-rs",
    "openntpd": "openntpd",
    "systemd-timesyn": "systemd-timesyncd",
    "ptp4l": "ptp4l",
    "phc2sys": "phc2sys",
}


@topic.fact("source", "Clock source that the kernel uses: tsc, arch_sys_counter, kvm-clock, hpet, ...")
def source(machine: Machine) -> str:
    return machine.text(f"{_FOLDER}/current_clocksource")


@topic.fact("available", "Clock sources that the kernel could use")
def available(machine: Machine) -> str:
    return machine.text(f"{_FOLDER}/available_clocksource")


@shared
def _adjtimex(machine: Machine) -> dict[str, int]:
    state: dict[str, int] = machine.ask("adjtimex")
    return state


@topic.fact(
    "synchronised", "Whether something keeps the clock in step, as the kernel sees it (adjtimex(2), STA_UNSYNC)"
)
def synchronised(machine: Machine) -> bool:
    return not _adjtimex(machine)["status"] & _STA_UNSYNC


def _of_kept_clock(machine: Machine) -> dict[str, int]:
    """The clock's state while something keeps it. Without, its offset reads 0 and its errors 16 s: no knowledge."""
    if not synchronised(machine):
        raise Unknown("nothing keeps the clock in step, so the kernel knows no error of it", absent=True)
    return _adjtimex(machine)


@topic.fact("offset", "Offset that the kernel is still slewing away (adjtimex(2))", unit="s", uniform=False)
def offset(machine: Machine) -> float:
    state = _of_kept_clock(machine)
    return state["offset"] / (1e9 if state["status"] & _STA_NANO else 1e6)


@topic.fact("max_error", "Bound of the clock's error, as its keeper told the kernel (adjtimex(2))", "s", uniform=False)
def max_error(machine: Machine) -> float:
    return _of_kept_clock(machine)["maxerror"] / 1e6


@topic.fact("estimated_error", "Estimate of the clock's error by its keeper (adjtimex(2))", unit="s", uniform=False)
def estimated_error(machine: Machine) -> float:
    return _of_kept_clock(machine)["esterror"] / 1e6


@topic.fact("frequency_error", "Correction of the clock's rate, as a ratio (adjtimex(2))", unit="1", uniform=False)
def frequency_error(machine: Machine) -> float:
    return _of_kept_clock(machine)["frequency"] / 65536 / 1e6  # 16-bit fraction of a ppm


@topic.fact(
    "keepers", "Daemons that keep the clock: chrony, ntpd, systemd-timesyncd, ptp4l, ...; 'none' where none runs"
)
def keepers(machine: Machine) -> str:
    running = [_KEEPERS[daemon] for daemon in machine.ask("daemons") if daemon in _KEEPERS]
    return " ".join(sorted(running)) or "none"


@topic.fact("ptp_devices", "Hardware clocks for the Precision Time Protocol", unit="1")
def ptp_devices(machine: Machine) -> int:
    return len(machine.names("sys/class/ptp"))

"""How the processors change frequency (cpufreq) and sleep (cpuidle)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from wulf.agent.cpulist import CPU, agreed, fold, online, parse, present
from wulf.agent.fact import Topic
from wulf.agent.machine import shared
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("cpu")

_NO_CPUFREQ = "no cpufreq in /sys: a virtual machine, or a kernel without a frequency driver"
_NO_CPUIDLE = "no cpuidle in /sys: a virtual machine, or a kernel without an idle driver"


@shared
def _policies(machine: Machine) -> dict[str, list[int]]:
    """Folder of every frequency policy, and the CPUs that it steers."""
    folder = f"{CPU}/cpufreq"
    names = machine.names(folder) if machine.exists(folder) else []
    policies = [name for name in names if name.startswith("policy")]
    if not policies:
        raise Unknown(_NO_CPUFREQ, absent=True)
    return {f"{folder}/{name}": _cpus(machine.text(f"{folder}/{name}/affected_cpus")) for name in policies}


def _cpus(text: str) -> list[int]:
    """affected_cpus is a list apart by blanks, unlike all other lists of CPUs."""
    return parse(",".join(text.split()))


def _by_cpu(machine: Machine, file: str) -> str:
    """What `file` holds in the policies, with the CPUs where it differs."""
    return agreed({cpu: machine.text(f"{path}/{file}") for path, cpus in _policies(machine).items() for cpu in cpus})


def _hertz(machine: Machine, file: str, choose: Callable[[list[int]], int]) -> int:
    return 1000 * choose([machine.integer(f"{path}/{file}") for path in _policies(machine)])  # sysfs has kHz


@topic.fact("governor", "Frequency governor; where CPUs differ 'performance:0-7 powersave:8-15'")
def governor(machine: Machine) -> str:
    return _by_cpu(machine, "scaling_governor")


@topic.fact("frequency_driver", "Driver of the frequency: intel_pstate, amd-pstate-epp, acpi-cpufreq, ...")
def driver(machine: Machine) -> str:
    return _by_cpu(machine, "scaling_driver")


@topic.fact("energy_preference", "Energy-performance preference (EPP); where CPUs differ each with its CPUs")
def energy_preference(machine: Machine) -> str:
    return _by_cpu(machine, "energy_performance_preference")


@topic.fact("frequency_min", "Lowest frequency of the hardware, over all CPUs", unit="Hz")
def frequency_min(machine: Machine) -> int:
    return _hertz(machine, "cpuinfo_min_freq", min)


@topic.fact("frequency_max", "Highest frequency of the hardware, turbo included, over all CPUs", unit="Hz")
def frequency_max(machine: Machine) -> int:
    return _hertz(machine, "cpuinfo_max_freq", max)


@topic.fact(
    "frequency_limit", "Highest frequency that the settings allow; where CPUs differ, of the slowest", unit="Hz"
)
def frequency_limit(machine: Machine) -> int:
    return _hertz(machine, "scaling_max_freq", min)


@topic.fact(
    "frequency_base", "Nominal frequency, which all cores can hold (intel_pstate, CPPC); the lowest of all CPUs",
    unit="Hz",
)  # fmt: skip
def frequency_base(machine: Machine) -> int:
    try:
        return _hertz(machine, "base_frequency", min)
    except Unknown:
        nominal = _nominal(machine)
        if not nominal:
            raise
        return nominal


def _nominal(machine: Machine) -> int:
    """What ACPI's CPPC says, where the driver has no file of its own (AMD, ARM); 0 where the firmware does not."""
    try:
        paths = [f"{CPU}/cpu{cpu}/acpi_cppc/nominal_freq" for cpu in online(machine)]
    except Unknown:
        return 0
    megahertz = [machine.integer(path) for path in paths if machine.exists(path)]
    return 1_000_000 * min(megahertz, default=0)


@topic.fact("turbo", "Whether frequencies above the nominal one are allowed on every CPU")
def turbo(machine: Machine) -> bool:
    if machine.exists(f"{CPU}/intel_pstate/no_turbo"):
        return machine.integer(f"{CPU}/intel_pstate/no_turbo") == 0
    if machine.exists(f"{CPU}/cpufreq/boost") and machine.integer(f"{CPU}/cpufreq/boost") != 1:
        return False
    # Drivers may have a switch a policy, below the one of all (Linux 6.9 on).
    switches = [f"{policy}/boost" for policy in _policies(machine) if machine.exists(f"{policy}/boost")]
    if not switches and not machine.exists(f"{CPU}/cpufreq/boost"):
        raise Unknown("no switch for turbo in /sys (intel_pstate/no_turbo, cpufreq/boost)", absent=True)
    return all(machine.integer(switch) == 1 for switch in switches)


@topic.fact("idle_driver", "Driver of the sleep states (C-states): intel_idle, acpi_idle, haltpoll, none, ...")
def idle_driver(machine: Machine) -> str:
    return machine.text(f"{CPU}/cpuidle/current_driver")


@topic.fact("idle_governor", "Governor that chooses among the sleep states")
def idle_governor(machine: Machine) -> str:
    path = f"{CPU}/cpuidle/current_governor"  # writable under this name since Linux 5.9, before that read-only
    return machine.text(path if machine.exists(path) else f"{path}_ro")


@shared
def _idle_states(machine: Machine) -> list[tuple[str, dict[int, bool], int]]:
    """Of every sleep state: its name, for each CPU whether it is disabled, and its exit latency in µs."""
    having = [cpu for cpu in present(machine) if machine.exists(f"{CPU}/cpu{cpu}/cpuidle")]
    if not having:
        raise Unknown(_NO_CPUIDLE, absent=True)
    first = f"{CPU}/cpu{having[0]}/cpuidle"
    states = sorted((name for name in machine.names(first) if name.startswith("state")), key=lambda name: int(name[5:]))
    return [
        (
            machine.text(f"{first}/{state}/name"),
            {cpu: machine.integer(f"{CPU}/cpu{cpu}/cpuidle/{state}/disable") != 0 for cpu in having},
            machine.integer(f"{first}/{state}/latency"),
        )
        for state in states
    ]


@topic.fact("idle_states", "Sleep states (C-states) that exist, shallowest first")
def idle_states(machine: Machine) -> str:
    return ", ".join(name for name, _, _ in _idle_states(machine))


@topic.fact(
    "idle_states_disabled", "Sleep states that are disabled ('C6', on some CPUs 'C6:0-3'); 'none' if all may be used"
)
def idle_states_disabled(machine: Machine) -> str:
    words = []
    for name, disabled, _ in _idle_states(machine):
        cpus = [cpu for cpu in disabled if disabled[cpu]]
        if cpus:
            words.append(name if len(cpus) == len(disabled) else f"{name}:{fold(cpus)}")
    return ", ".join(words) or "none"


@topic.fact("idle_latency_max", "Longest time to wake from a sleep state that is enabled on some CPU", unit="s")
def idle_latency_max(machine: Machine) -> float:
    latencies = [latency for _, disabled, latency in _idle_states(machine) if not all(disabled.values())]
    if not latencies:
        raise Unknown("all sleep states are disabled", absent=True)
    return max(latencies) / 1e6

"""The processors: which, how many, with what instructions; and which CPUs are kept from the scheduler."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from wulf.agent.cpulist import CPU, cpuinfo, cpuinfo_field, online
from wulf.agent.fact import Topic
from wulf.agent.hardware.smbios import sockets as sockets_of
from wulf.agent.machine import shared
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("cpu")

# ARM's /proc/cpuinfo names neither maker nor model, but MIDR_EL1's implementer and part numbers; names from the
# Technical Reference Manuals of the cores.
_ARM_MAKERS = {
    "0x41": "ARM",
    "0x46": "Fujitsu",
    "0x48": "HiSilicon",
    "0x4e": "NVIDIA",
    "0x51": "Qualcomm",
    "0xc0": "Ampere",
}
_ARM_PARTS = {
    ("0x41", "0xd03"): "Cortex-A53",
    ("0x41", "0xd08"): "Cortex-A72",
    ("0x41", "0xd0b"): "Cortex-A76",
    ("0x41", "0xd0c"): "Neoverse-N1",
    ("0x41", "0xd40"): "Neoverse-V1",
    ("0x41", "0xd49"): "Neoverse-N2",
    ("0x41", "0xd4f"): "Neoverse-V2",
    ("0x46", "0x001"): "A64FX",
    ("0x48", "0xd01"): "TaiShan v110",
    ("0xc0", "0xac3"): "Ampere-1",
}

# Widest vector instructions first. x86 names as in the x86-64 psABI's levels and AMX; ARM's as in hwcap.
_SIMD = (
    ("amx_tile", "amx"),
    ("avx512f", "avx512"),
    ("avx2", "avx2"),
    ("avx", "avx"),
    ("sse4_2", "sse4.2"),
    ("sse2", "sse2"),
    ("sve2", "sve2"),
    ("sve", "sve"),
    ("asimd", "neon"),
    ("neon", "neon"),
)


@topic.fact("model", "Model of the processor")
def model(machine: Machine) -> str:
    try:
        return cpuinfo_field(machine, "model name", "cpu", "uarch")
    except Unknown:
        implementer = cpuinfo_field(machine, "CPU implementer")
        part = cpuinfo_field(machine, "CPU part")
    maker = _ARM_MAKERS.get(implementer, f"implementer {implementer}")
    return f"{maker} {_ARM_PARTS.get((implementer, part), f'part {part}')}"


@topic.fact("vendor", "Maker of the processor")
def vendor(machine: Machine) -> str:
    try:
        return cpuinfo_field(machine, "vendor_id", "mvendorid")
    except Unknown:
        implementer = cpuinfo_field(machine, "CPU implementer")
        return _ARM_MAKERS.get(implementer, f"implementer {implementer}")


@topic.fact("stepping", "Family, model and stepping (x86), or revision (ARM): what errata hang on")
def stepping(machine: Machine) -> str:
    try:
        parts = [cpuinfo_field(machine, name) for name in ("cpu family", "model", "stepping")]
        return "-".join(parts)
    except Unknown:
        variant = int(cpuinfo_field(machine, "CPU variant"), 16)
        return f"r{variant}p{cpuinfo_field(machine, 'CPU revision')}"


@topic.fact("microcode", "Revision of the microcode (x86)")
def microcode(machine: Machine) -> str:
    return cpuinfo_field(machine, "microcode")


@shared
def _topology(machine: Machine) -> list[tuple[int, str]]:
    """Of every CPU that is on: its socket, and the list of the CPUs of its core."""
    rows = []
    for cpu in online(machine):
        folder = f"{CPU}/cpu{cpu}/topology"
        # Since Linux 5.3 core_cpus_list; the older name says siblings where it means the core's threads.
        new = machine.exists(f"{folder}/core_cpus_list")
        threads = machine.text(f"{folder}/{'core_cpus_list' if new else 'thread_siblings_list'}")
        rows.append((machine.integer(f"{folder}/physical_package_id"), threads))
    return rows


@topic.fact("sockets", "Sockets with a CPU that is on", unit="1")
def sockets(machine: Machine) -> int:
    return len({socket for socket, _ in _topology(machine)})


@topic.fact("cores", "Cores with a CPU that is on, over all sockets", unit="1")
def cores(machine: Machine) -> int:
    return len(set(_topology(machine)))


@topic.fact("threads", "CPUs (hardware threads) that are on", unit="1")
def threads(machine: Machine) -> int:
    return len(online(machine))


@topic.fact("online", "List of the CPUs that are on")
def online_list(machine: Machine) -> str:
    return machine.text(f"{CPU}/online")


@topic.fact("smt", "Simultaneous multithreading: on, off, forceoff, notsupported, notimplemented")
def smt(machine: Machine) -> str:
    return machine.text(f"{CPU}/smt/control")


@topic.fact("cores_off", "Cores of all sockets that the firmware has switched off (needs root)", unit="1")
def cores_off(machine: Machine) -> int:
    off = [one.cores - one.enabled for one in sockets_of(machine) if one.cores and one.enabled]
    if not off:
        raise Unknown("the firmware does not say how many cores are on")
    return sum(off)


@topic.fact("firmware_smt", "Whether the firmware lets cores show more than one thread (needs root)")
def firmware_smt(machine: Machine) -> bool:
    threads = [one.threads > one.enabled for one in sockets_of(machine) if one.threads and one.enabled]
    if not threads:
        raise Unknown("the firmware does not say how many threads its cores show")
    return any(threads)


@topic.fact("isolated", "CPUs kept from the scheduler (isolcpus); 'none' where there are none")
def isolated(machine: Machine) -> str:
    return _list_or_none(machine, f"{CPU}/isolated")


@topic.fact("nohz_full", "CPUs without the timer tick (nohz_full); 'none' where there are none")
def nohz_full(machine: Machine) -> str:
    listed = _list_or_none(machine, f"{CPU}/nohz_full")
    return "none" if listed == "(null)" else listed  # so older kernels print an empty list


def _list_or_none(machine: Machine, path: str) -> str:
    try:
        return machine.text(path)
    except Unknown:
        if machine.exists(path):
            return "none"
        raise


@topic.fact("flags_digest", "Digest of the CPUs' feature flags: equal digests, equal instruction sets")
def flags_digest(machine: Machine) -> str:
    flags = sorted(_flags(machine))
    return hashlib.sha256(" ".join(flags).encode()).hexdigest()[:16]


@topic.fact("simd", "Widest vector instructions: sse2, sse4.2, avx, avx2, avx512, amx; neon, sve, sve2")
def simd(machine: Machine) -> str:
    flags = _flags(machine)
    for flag, name in _SIMD:
        if flag in flags:
            return name
    raise Unknown("no vector instructions among the flags in /proc/cpuinfo", absent=True)


@shared
def _flags(machine: Machine) -> set[str]:
    """Flags that all CPUs share: on hybrid processors a program may run on any of them."""
    each = [set(stanza.get("flags", stanza.get("Features", "")).split()) for stanza in cpuinfo(machine)]
    listed = [flags for flags in each if flags]
    if not listed:
        raise Unknown("/proc/cpuinfo has no flags", absent=True)
    return set.intersection(*listed)

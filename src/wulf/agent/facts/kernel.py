"""The kernel: which, how it was started, how it preempts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wulf.agent.fact import Topic
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("kernel")

# Boot parameters that change performance (Documentation/admin-guide/kernel-parameters.txt); a trailing '.' or '_'
# takes all that begin so. The rest (root=, console=, ...) rightly differs between nodes.
_TUNING = """
    amd_iommu amd_pstate audit clocksource cpufreq. cpuidle. default_hugepagesz gather_data_sampling hpet hugepages
    hugepagesz idle intel_idle. intel_iommu intel_pstate iommu iommu. irqaffinity isolcpus kpti kvm. l1tf l1d_flush
    kthread_cpus maxcpus mce mds meltdown mitigations mmio_stale_data nmi_watchdog nohpet nohz nohz_full nopti nosmp
    nosmt nospec_store_bypass_disable nospectre_v1 nospectre_v2 noxsave nr_cpus numa numa_balancing pci pcie_aspm
    pcie_aspm. preempt processor. psi pti rcu_nocb_poll rcu_nocbs rcupdate. rcutree. retbleed selinux skew_tick
    slab_nomerge spec_rstack_overflow spec_store_bypass_disable spectre_bhi spectre_v2 spectre_v2_user srbds swiotlb
    threadirqs transparent_hugepage tsc tsx tsx_async_abort workqueue. xen_
""".split()  # noqa: SIM905 - 70 words as a list take 70 lines

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DASHED = re.compile(r"\b20\d\d-[01]\d-[0-3]\d\b")
_SPELT = re.compile(rf"({'|'.join(_MONTHS)}) +(\d{{1,2}}) [\d:]+ (?:[AP]M )?\w+ (20\d\d)\b")

_SECRET = re.compile(r"(?i)((?:pass(?:word|wd)?|secret|token|key)[\w.-]*=)\S+|(?<=://)[^/@\s]+(?=@)")


@topic.fact("release", "Release of the kernel, as uname -r prints it")
def release(machine: Machine) -> str:
    return machine.text("proc/sys/kernel/osrelease")


@topic.fact("version", "Build of the kernel, as uname -v prints it")
def version(machine: Machine) -> str:
    return machine.text("proc/sys/kernel/version")


@topic.fact("built", "Day on which the kernel was built: how old its drivers are at least")
def built(machine: Machine) -> str:
    version = machine.text("proc/sys/kernel/version")
    dashed = _DASHED.search(version)  # Debian: '#1 SMP PREEMPT_DYNAMIC Debian 6.1.90-1 (2024-05-03)'
    if dashed:
        return dashed.group()
    spelt = _SPELT.search(version)  # the kernel's own: '#1 SMP Thu Feb  1 12:00:00 UTC 2024'
    if not spelt:
        raise Unknown(f"no date in the kernel's version, '{version[:80]}'")
    month, day, year = spelt.groups()
    return f"{year}-{_MONTHS.index(month) + 1:02}-{int(day):02}"


@topic.fact("architecture", "Machine architecture, as uname -m prints it")
def architecture(machine: Machine) -> str:
    return str(machine.ask("architecture"))


@topic.fact("cmdline", "Boot command line; passwords, keys and tokens in it are masked", uniform=False)
def cmdline(machine: Machine) -> str:
    return _SECRET.sub(lambda match: (match.group(1) or "") + "***", machine.text("proc/cmdline"))


@topic.fact("parameters", "Boot parameters that change performance, sorted; 'none' where there are none")
def parameters(machine: Machine) -> str:
    words = machine.text("proc/cmdline").split()
    tuning = [word for word in words if any(_names(entry, word.partition("=")[0]) for entry in _TUNING)]
    return " ".join(sorted(tuning)) or "none"


def _names(entry: str, parameter: str) -> bool:
    name = parameter.replace("-", "_")  # the kernel takes both spellings
    return name.startswith(entry) if entry[-1] in "._" else name == entry


@topic.fact(
    "preemption", "Preemption model that the kernel was built with: rt, dynamic, full, lazy, or voluntary or none"
)
def preemption(machine: Machine) -> str:
    build = machine.text("proc/sys/kernel/version")
    for mark, model in (("PREEMPT_RT", "rt"), ("PREEMPT_DYNAMIC", "dynamic"), ("PREEMPT_LAZY", "lazy")):
        if mark in build:
            return model
    return "full" if "PREEMPT" in build else "voluntary or none"


@topic.fact("preemption_mode", "Mode that a kernel with dynamic preemption runs in: none, voluntary, full, lazy")
def preemption_mode(machine: Machine) -> str:
    modes = machine.text("sys/kernel/debug/sched/preempt")  # 'none voluntary (full)'; needs root and debugfs
    mode = re.search(r"\((\w+)\)", modes)
    if mode is None:
        raise Unknown(f"/sys/kernel/debug/sched/preempt holds '{modes}', no mode in parentheses")
    return mode.group(1)


@topic.fact("io_uring", "Whether this user may use io_uring")
def io_uring(machine: Machine) -> bool:
    return bool(machine.ask("io_uring"))


@topic.fact("boot_id", "Random identifier of this boot", uniform=False)
def boot_id(machine: Machine) -> str:
    return machine.text("proc/sys/kernel/random/boot_id")


@topic.fact("uptime", "Time since the boot", unit="s", uniform=False)
def uptime(machine: Machine) -> float:
    return float(machine.text("proc/uptime").split()[0])


@topic.fact("tainted", "Taint bits (Documentation/admin-guide/tainted-kernels.rst)", unit="1")
def tainted(machine: Machine) -> int:
    return machine.integer("proc/sys/kernel/tainted")

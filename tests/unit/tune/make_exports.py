"""Settings of every mechanism, as a campaign might keep them, and the files exported from them.

`python -m tests.unit.tune.make_exports` writes the golden files anew.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from wulf.tune.export import export
from wulf.tune.export.entry import Entry, Source
from wulf.tune.export.formats import formats
from wulf.tune.kept import Effect, Kept
from wulf.tune.setting import Setting

GOLDEN = Path(__file__).with_name("golden")

SOURCE = Source("20261122T010203-tune-ab12", "2026-11-22")


def setting(name: str, mechanism: str, target: dict[str, Any], **fields: Any) -> Setting:
    told = {"title": name, "what": "x", "why": "x", "type": "int", "scope": "host", "tested": "netns"}
    return Setting.model_validate({**told, "name": name, "mechanism": mechanism, "target": target, **fields})


SETTINGS = {
    one.name: one
    for one in (
        setting("net.rmem_max", "sysctl", {"key": "net.core.rmem_max"}, unit="B",
                persist={"sysctl": "net.core.rmem_max"}),
        setting("net.busy_poll", "sysctl", {"key": "net.core.busy_poll", "scale": 1e-6}, unit="s",
                persist={"sysctl": "net.core.busy_poll"}),
        setting("tcp.rmem", "sysctl", {"key": "net.ipv4.tcp_rmem", "kind": "text"},
                persist={"sysctl": "net.ipv4.tcp_rmem"}),
        setting("net.arp_ignore", "sysctl", {"key": "net.ipv4.conf.{place}.arp_ignore"}),
        setting("nic.mtu", "link", {"attribute": "mtu"}, unit="B", persist={"link": "MTUBytes"}),
        setting("nic.gro_max_size", "link", {"attribute": "gro_max_size"}, unit="B"),
        setting("nic.gro", "ethtool", {"topic": "features", "field": "rx-gro"},
                persist={"link": "GenericReceiveOffload"}),
        setting("nic.adaptive_rx", "ethtool", {"topic": "coalesce", "field": "adaptive_rx"},
                persist={"link": "UseAdaptiveRxCoalesce"}),
        setting("nic.rx_usecs", "ethtool", {"topic": "coalesce", "field": "rx_usecs", "scale": 1e-6}, unit="s",
                persist={"link": "RxCoalesceSec"}),
        setting("nic.ring_rx", "ethtool", {"topic": "rings", "field": "rx"}, persist={"link": "RxBufferSize"}),
        setting("nic.eee", "ethtool", {"topic": "eee", "field": "enabled"},
                persist={"ethtool": "--set-eee <interface> eee"}),
        setting("irq.threaded", "sysfs", {"path": "sys/class/net/{nic}/threaded", "kind": "bool"},
                persist={"udev": "threaded"}),
        setting("irq.rps_cpus", "sysfs", {"path": "sys/class/net/{nic}/queues/{rx}/rps_cpus", "kind": "mask"},
                persist={"udev": "queues/{rx}/rps_cpus"}),
        setting("mem.thp", "sysfs", {"path": "sys/kernel/mm/transparent_hugepage/enabled", "kind": "choice"},
                persist={"tmpfiles": "/sys/kernel/mm/transparent_hugepage/enabled"}),
        setting("nic.throttle", "module", {"module": "e1000e", "option": "InterruptThrottleRate"},
                persist={"modprobe": "e1000e InterruptThrottleRate"}),
        setting("irq.irqbalance", "service", {"unit": "irqbalance"}, persist={"service": "irqbalance.service"}),
        setting("irq.irqbalance_enabled", "service", {"unit": "irqbalance", "what": "enabled"},
                persist={"service": "irqbalance.service"}),
        setting("cpu.latency", "pmqos", {}, unit="s", persist={"service": "a unit that holds /dev/cpu_dma_latency"}),
        setting("net.qdisc", "qdisc", {}),
        setting("firewall.bypass", "nftables", {"what": "bypass"}),
        setting("cpu.isolated", "bootline", {"word": "isolcpus"}, persist={"bootline": "isolcpus"}),
        setting("job.eager", "job", {"mca": "btl_tcp_eager_limit"}, unit="B"),
        setting("job.binding", "job", {"option": "--bind-to"}),
        setting("irq.affinity", "irq", {"what": "affinity"}),
        setting("bios.profile", "advice", {}),
    )
}  # fmt: skip

RTT = Effect(value=-1.84e-5, low=-1.89e-5, high=-1.78e-5, unit="s", metric="rtt", verdict="faster", basis="confirmed")
RATE = Effect(value=0.031, low=0.012, high=0.05, unit="1", metric="rate", verdict="faster", basis="confirmed")

NODES = "n[1-4]"


def kept(name: str, value: Any, before: Any, place: str = "", effect: Effect | None = None, nodes: str = NODES) -> Kept:
    return Kept(name=name, place=place, value=value, before=before, effect=effect, nodes=nodes)


KEPT = [
    kept("net.rmem_max", 4194304, 212992, effect=RATE),
    kept("net.busy_poll", 5e-5, 0.0),
    kept("tcp.rmem", "4096 131072 8388608", "4096 131072 6291456"),
    kept("net.arp_ignore", 1, 0, "eth0.100"),
    kept("nic.mtu", 6000, 1500, "eth0", RATE),
    kept("nic.mtu", 6000, 1500, "enp1s0"),
    kept("nic.gro_max_size", 131072, 65536, "eth0"),
    kept("nic.gro", False, True, "eth0", RTT),
    kept("nic.adaptive_rx", False, True, "eth0"),
    kept("nic.rx_usecs", 0.0, 3e-6, "eth0", RTT),
    kept("nic.ring_rx", 4096, 256, "enp1s0"),
    kept("nic.eee", False, True, "eth0"),
    kept("irq.threaded", True, False, "eth0"),
    kept("irq.rps_cpus", "0-3,33", "none", "rx-0 of eth0"),
    kept("mem.thp", "madvise", "always"),
    kept("nic.throttle", 0, 3),
    kept("irq.irqbalance", False, True),
    kept("irq.irqbalance_enabled", "disabled", "enabled"),
    kept("cpu.latency", 0.0, None, effect=RTT),
    kept("net.qdisc", "fq", "pfifo_fast", "eth0"),
    kept("firewall.bypass", "10.0.0.0/24 fd00::/64", False),
    kept("cpu.isolated", "2-31", "none"),
    kept("job.eager", 65536, 32768),
    kept("job.binding", "core", "none"),
    kept("irq.affinity", "3", "0-7", "eth0-rx-0 of eth0"),
    kept("bios.profile", "performance", "balanced"),
    kept("nic.mtu", 9000, None, "eth1"),
]


def entry(each: Kept) -> Entry:
    return Entry(SETTINGS[each.name], each, SOURCE)


def files(form: str) -> dict[str, str]:
    return export([entry(each) for each in KEPT], form).files


if __name__ == "__main__":
    shutil.rmtree(GOLDEN, ignore_errors=True)
    for form in formats():
        for name, text in files(form).items():
            path = GOLDEN / form / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

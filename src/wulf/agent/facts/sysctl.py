"""Kernel settings under /proc/sys that change how fast a node answers, or what can be measured; sysctl(8)'s names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.fact import Topic

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("sysctl")

# Name, unit, what it does. Source: Documentation/admin-guide/sysctl/net.rst, Documentation/networking/ip-sysctl.rst.
_SETTINGS: tuple[tuple[str, str | None, str], ...] = (
    ("net.core.busy_poll", "s", "Time that poll and select spin on the driver's queue; 0 is off"),
    ("net.core.busy_read", "s", "Time that a blocking read spins on the driver's queue; 0 is off"),
    ("net.core.default_qdisc", None, "Queueing discipline that new interfaces get"),
    ("net.core.dev_weight", "1", "Packets a CPU takes from its backlog in one round"),
    ("net.core.netdev_budget", "1", "Packets in all that one round of softirq takes"),
    ("net.core.netdev_budget_usecs", "s", "Time that one round of softirq may last"),
    ("net.core.netdev_max_backlog", "1", "Packets that wait for a CPU before more are dropped"),
    ("net.core.optmem_max", "B", "Most of ancillary buffer a socket"),
    ("net.core.rmem_default", "B", "Receive buffer that a socket starts with"),
    ("net.core.rmem_max", "B", "Receive buffer that a program may ask for"),
    ("net.core.rps_sock_flow_entries", "1", "Flows that receive flow steering remembers; 0 is off"),
    ("net.core.somaxconn", "1", "Longest queue of connections to accept"),
    ("net.core.wmem_default", "B", "Send buffer that a socket starts with"),
    ("net.core.wmem_max", "B", "Send buffer that a program may ask for"),
    ("net.ipv4.tcp_adv_win_scale", "1", "How a receive buffer is shared between window and overhead"),
    ("net.ipv4.tcp_autocorking", "1", "Whether small writes wait while a packet is under way; 0 is off"),
    ("net.ipv4.tcp_congestion_control", None, "TCP's congestion control"),
    ("net.ipv4.tcp_ecn", "1", "Explicit congestion notification: 0 off, 1 on, 2 if asked"),
    ("net.ipv4.tcp_limit_output_bytes", "B", "Most bytes of a socket below TCP, in queues of qdisc and driver"),
    ("net.ipv4.tcp_low_latency", "1", "Without effect since Linux 4.14"),
    ("net.ipv4.tcp_moderate_rcvbuf", "1", "Whether receive buffers grow by themselves"),
    ("net.ipv4.tcp_mtu_probing", "1", "Search of the path's MTU: 0 off, 1 when packets vanish, 2 always"),
    ("net.ipv4.tcp_no_metrics_save", "1", "Whether a new connection ignores what the last one learnt"),
    ("net.ipv4.tcp_notsent_lowat", "B", "Unsent bytes up to which a socket counts as writable"),
    ("net.ipv4.tcp_rmem", None, "Receive buffer of TCP in bytes: least, first, most"),
    ("net.ipv4.tcp_sack", "1", "Selective acknowledgement"),
    ("net.ipv4.tcp_slow_start_after_idle", "1", "Whether an idle connection starts slowly again"),
    ("net.ipv4.tcp_timestamps", "1", "TCP timestamps"),
    ("net.ipv4.tcp_tw_reuse", "1", "Reuse of sockets in TIME_WAIT"),
    ("net.ipv4.tcp_window_scaling", "1", "Window scaling"),
    ("net.ipv4.tcp_wmem", None, "Send buffer of TCP in bytes: least, first, most"),
    ("kernel.io_uring_disabled", "1", "io_uring: 0 for all, 1 for the privileged and io_uring_group, 2 for nobody"),
    (
        "kernel.perf_event_paranoid",
        "1",
        "Counters without privilege: -1 all, 1 own processes, 2 user code, 3 and 4 none",
    ),
    ("kernel.nmi_watchdog", "1", "Watchdog that takes a performance counter and interrupts every CPU"),
    ("kernel.sched_autogroup_enabled", "1", "Whether the scheduler groups tasks by session"),
    ("kernel.timer_migration", "1", "Whether timers move from idle CPUs to busy ones"),
)


def _add(name: str, unit: str | None, help: str) -> None:
    path = "proc/sys/" + name.replace(".", "/")

    @topic.fact(name, help, unit)
    def read(machine: Machine) -> float | str:
        if unit is None:
            return " ".join(machine.text(path).split())
        number = machine.integer(path)
        return number / 1e6 if unit == "s" else number  # all times here are in µs


for _name, _unit, _help in _SETTINGS:
    _add(_name, _unit, _help)

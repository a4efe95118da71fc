"""What the catalogue says of one setting: the schema of its TOML."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Value = bool | int | float | str
"""A setting's value in the catalogue's words: SI base units, or the words that the kernel uses."""


class Aim(StrEnum):
    """What a cluster is tuned for."""

    LATENCY = "latency"
    THROUGHPUT = "throughput"
    QUIET = "quiet"


PersistKind = Literal[
    "sysctl", "link", "udev", "ethtool", "tmpfiles", "modprobe", "bootline", "service", "nftables", "job"
]
"""Files that bring a setting back after a reboot; `PERSIST` says what the text beside each names."""

PERSIST: dict[PersistKind, str] = {
    "sysctl": "a key of sysctl.d(5)",
    "link": "an option of systemd.link(5), its section [Link]",
    "udev": "an attribute of the interface, below /sys/class/net/<interface>, that a udev rule writes",
    "ethtool": "arguments of ethtool, which a udev rule runs when the interface appears",
    "tmpfiles": "a file below /sys that systemd-tmpfiles writes at the start (tmpfiles.d(5), type w)",
    "modprobe": "module and option of modprobe.d(5)",
    "bootline": "a word of the kernel's command line",
    "service": "a unit that systemd enables or disables",
    "nftables": "a table of our own, in a file that nftables.service loads",
    "job": "a variable in the environment of the job",
}

GROUPS = {
    "nic": "Network interface",
    "irq": "Interrupts",
    "net": "Network stack",
    "tcp": "TCP",
    "firewall": "Firewall",
    "cpu": "Processor",
    "mem": "Memory",
    "job": "Jobs and MPI",
    "bios": "By hand: firmware",
    "switch": "By hand: switch",
}
"""First part of a setting's name, and what a heading calls it."""

CHECKLIST = {
    "1a": "the network driver's version is the latest",
    "1b": "the network driver's version is the same on all nodes",
    "1c": "interrupt moderation is in the mode for HPC",
    "2a": "no firewall works on the cluster's network",
    "2b": "nor will one after the next start",
    "2c": "nor has one since the last start",
    "2d": "irqbalance is stopped",
    "2e": "irqbalance will not be started at the next start",
}
"""The checklist of Garabato, Moré and Rosales: what each of its questions asks."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Advice(_Part):
    """The value recommended for an aim, and why. Without a value: whatever is there, for the reason given."""

    value: Value | None = None
    why: str
    sweep: tuple[Value, ...] = ()
    """Values that a campaign tries instead of one: the best is not known beforehand (MTU, ring sizes)."""


class EffectEvidence(_Part):
    """Who saw what effect."""

    effect: str
    source: str
    kind: Literal["measured", "documented", "folklore"] = "documented"
    """'measured': with figures; 'documented': by those who wrote the code; 'folklore': many say so, nobody shows it."""


class Special(_Part):
    """A value that is no quantity but a mode of its own: 3 µs of coalescing, to e1000e, is 'dynamic conservative'."""

    value: Value
    meaning: str
    drivers: tuple[str, ...] = ()
    """Where it has this meaning; empty: everywhere."""


class Kernels(_Part):
    """Versions of Linux, '4.14': it exists since the one; since the other it can be written, and has no effect."""

    since: str | None = None
    inert_since: str | None = None


class Setting(_Part):
    """One entry of the catalogue; docs/reference/settings.md is generated from all of them.

    Names are dotted, as facts are: 'nic.mtu', 'tcp.timestamps'. The first part groups them.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(\.[a-z0-9_]+)+$")]
    title: str
    what: str
    """What it does, for a person."""
    why: str
    """Why anybody would change it, and what it costs."""
    type: Literal["bool", "int", "float", "word", "text"]
    unit: str | None = None
    low: float | None = None
    high: float | None = None
    choices: tuple[Value, ...] = ()
    special: tuple[Special, ...] = ()
    mechanism: str
    """How it is read and written: a module of wulf.agent.settings; 'advice' where only a person can do it."""
    how: str = ""
    """For 'advice', and what is only read: where a person finds it, and how it is changed."""
    target: dict[str, Any] = Field(default_factory=dict)
    """The mechanism's own words: {attribute = "mtu"}."""
    scope: Literal["netns", "nic", "queue", "irq", "cpu", "host", "job", "switch", "firmware"]
    global_in_netns: bool = False
    """Can be written within a network namespace, and then holds for the whole host. So it is never written in a lab."""
    drivers: tuple[str, ...] = ()
    """Network drivers that have it; empty: not a matter of the driver."""
    checklist: tuple[str, ...] = ()
    """Questions of the papers' checklist that it answers: keys of CHECKLIST."""
    reboot: bool = False
    """Takes effect only after a reboot (or a reload of the driver)."""
    flap: bool = False
    """Changing it takes the link down for a moment."""
    security: Literal["none", "weakens", "strengthens"] = "none"
    """What changing it as recommended does to security. One that weakens is never changed unless it is named."""
    risk: str = ""
    """What may go wrong: whatever weakens says so here."""
    access: Literal["write", "report"] = "write"
    """'report': shown in an audit, never changed by wulf."""
    confounds: bool = False
    """Its state changes what others do: every arm of an experiment has it the same."""
    uniform: bool = True
    """Whether all nodes of a role should have the same value."""
    advice: dict[Aim, Advice] = Field(default_factory=dict)
    needs: tuple[str, ...] = ()
    """Settings that must be written before this one."""
    masked_by: dict[str, Value] = Field(default_factory=dict)
    """Without effect while these settings have these values: {"nic.adaptive_rx": true}."""
    resets: tuple[str, ...] = ()
    """Settings that a change of this one sets anew: they are saved and restored with it."""
    conflicts: tuple[str, ...] = ()
    """Settings that undo or contradict this one: irqbalance undoes pinning."""
    side_effects: str = ""
    kernels: Kernels = Kernels()
    persist: dict[PersistKind, str] = Field(default_factory=dict)
    """How it survives a reboot, by kind of file (`PERSIST`): {sysctl = "net.core.rmem_max"}, {link = "MTUBytes"}."""
    undo: str = "the value before is written back"
    evidence: tuple[EffectEvidence, ...] = ()
    tested: Literal["netns", "qemu", "recorded"]
    """How CI tests it: written in a lab, in a virtual machine, or read from a recorded tree alone."""

    @property
    def group(self) -> str:
        """First part of the name."""
        return self.name.partition(".")[0]

    @property
    def by_hand(self) -> bool:
        """Whether nothing but a person can read or change it."""
        return self.mechanism == "advice"

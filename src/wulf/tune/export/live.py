"""How a kept setting is read and written on a running node, from a shell: a kind of `settings.sh` and its arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from wulf.agent.unknown import Unknown
from wulf.agent.values import to_text
from wulf.tune.export.entry import Entry
from wulf.tune.export.words import kernel, switch
from wulf.tune.setting import Value


class Inexpressible(Exception):  # noqa: N818 - no fault: a format has its limits
    """A format has no words for a setting; the text is the reason, for a person."""


@dataclass(frozen=True)
class Live:
    """One setting in the shell's words."""

    kind: str
    """read_KIND and write_KIND of settings.sh."""
    arguments: tuple[str, ...]
    after: str
    before: str | None
    """None where that is not known."""


LINK_FILES = {"mtu": "mtu", "txqueuelen": "tx_queue_len"}
"""Attributes of a link that stand in /sys/class/net under another name, or that ip would show elsewhere."""

FEATURES = {
    "rx-checksum": "rx-checksumming", "tx-generic-segmentation": "generic-segmentation-offload",
    "rx-gro": "generic-receive-offload", "rx-lro": "large-receive-offload", "rx-hashing": "receive-hashing",
    "rx-ntuple-filter": "ntuple-filters", "rx-vlan-hw-parse": "rx-vlan-offload",
    "tx-vlan-hw-insert": "tx-vlan-offload",
}  # fmt: skip
"""The kernel's name of a feature → what `ethtool -k` shows it by, where that is not the name."""

TOPICS: dict[str, tuple[str, str]] = {
    "features": ("-k", "-K"), "coalesce": ("-c", "-C"), "rings": ("-g", "-G"), "channels": ("-l", "-L"),
    "pause": ("-a", "-A"),
}  # fmt: skip
"""ethtool's options to show and to set."""

FIELDS = {
    "coalesce": {name: (name.replace("_", "-"),) * 2 for name in ("rx_usecs", "tx_usecs", "rx_frames", "tx_frames")},
    "rings": {"rx": ("rx", "RX"), "tx": ("tx", "TX")},
    "channels": {"rx": ("rx", "RX"), "tx": ("tx", "TX"), "combined": ("combined", "Combined")},
    "pause": {"autoneg": ("autoneg", "Autonegotiate"), "rx": ("rx", "RX"), "tx": ("tx", "TX")},
}
"""Topic → field → what ethtool takes, and what it shows."""


def live(entry: Entry) -> Live:
    """How a shell changes it, and changes it back.

    Raises
    ------
    Inexpressible
        It can't.
    """
    mechanism = entry.setting.mechanism
    make = MECHANISMS.get(mechanism)
    if make is None:
        raise Inexpressible(NOT_OF_A_NODE.get(mechanism, f"no shell command is known for the mechanism {mechanism}"))
    return make(entry)


NOT_OF_A_NODE = {
    "advice": "only a person can change it",
    "job": "it belongs to the environment of a job, not to the node",
    "bootline": "it is read when the node starts: the boot loader's command line has to say it",
    "irq": "interrupts have new numbers after each start",
    "module": "the driver reads it when it is loaded: loading it anew takes the link down",
}

NOTHING = {"pmqos": "none"}
"""Mechanisms for which 'there was none' is a state that can be restored."""


def sysctl_key(entry: Entry) -> str:
    """As sysctl.d(5) has it: a dot within an interface's name is written as a slash."""
    return str(entry.setting.target["key"]).replace("{place}", entry.kept.place.replace(".", "/"))


def _scale(entry: Entry) -> float:
    return float(entry.setting.target.get("scale", 1))


def _pair(entry: Entry, words: Callable[[Value], str]) -> tuple[str, str | None]:
    """Values after and before, in the same words."""
    before = entry.kept.before
    nothing = NOTHING.get(entry.setting.mechanism)
    return words(entry.kept.value), nothing if before is None else words(before)


def _sysctl(entry: Entry) -> Live:
    path = "/proc/sys/" + sysctl_key(entry).translate(str.maketrans("./", "/."))
    return Live("file", (path,), *_pair(entry, lambda value: text_of(entry, value)))


def sysfs_path(entry: Entry) -> str:
    """Where it stands: the names of a place, 'rx-0 of eth0', fill the path's braces from the last to the first.

    Raises
    ------
    Inexpressible
        The place has fewer names than the path has braces.
    """
    path, names = str(entry.setting.target["path"]), [name for name in entry.kept.place.split(" of ") if name]
    wanted = re.findall("{[a-z]+}", path)
    if len(names) < len(wanted):
        raise Inexpressible(f"{entry.kept.place!r} names no place in {path}")
    for brace, name in zip(wanted, reversed(names), strict=False):
        path = path.replace(brace, name, 1)
    return "/" + path.lstrip("/")


def _sysfs(entry: Entry) -> Live:
    target = entry.setting.target
    kind = "choice" if target.get("choose") else KINDS.get(str(target.get("kind")), "file")
    return Live(kind, (sysfs_path(entry),), *_pair(entry, lambda value: text_of(entry, value)))


def text_of(entry: Entry, value: Value) -> str:
    """The text that the kernel's file takes.

    Raises
    ------
    Inexpressible
        The value is none of the target's kind.
    """
    try:
        return to_text(value, entry.setting.target)
    except Unknown as unknown:
        raise Inexpressible(unknown.reason) from unknown


KINDS = {"bool": "flag", "mask": "mask", "choice": "choice"}
"""A target's kind → how a shell reads such a file."""


def _link(entry: Entry) -> Live:
    attribute, device = str(entry.setting.target["attribute"]), entry.kept.place
    file = LINK_FILES.get(attribute) or dict[str, str](entry.setting.persist.items()).get("udev")
    pair = _pair(entry, lambda value: text_of(entry, value))
    return Live("file", (f"/sys/class/net/{device}/{file}",), *pair) if file else Live("ip", (device, attribute), *pair)


def _ethtool(entry: Entry) -> Live:
    topic, field, device = entry.setting.target["topic"], entry.setting.target["field"], entry.kept.place
    if topic == "features":
        names = (*TOPICS[topic], field, FEATURES.get(field, field))
        return Live("ethtool", (device, *names), *_pair(entry, switch))
    if topic == "coalesce" and "adaptive" in field:
        return Live("adaptive", (device, field[-2:]), *_pair(entry, switch))
    if (topic, field) == ("eee", "enabled"):
        return Live("eee", (device,), *_pair(entry, switch))
    if field not in FIELDS.get(topic, {}):
        raise Inexpressible(f"no words of ethtool are known for {topic}'s {field}")
    names = (*TOPICS[topic], *FIELDS[topic][field])
    return Live("ethtool", (device, *names), *_pair(entry, lambda value: switch(value, _scale(entry))))


def _service(entry: Entry) -> Live:
    kind = "enabled" if entry.setting.target.get("what") == "enabled" else "active"
    if kind == "enabled" and entry.kept.before not in (None, "enabled", "disabled", "masked"):
        raise Inexpressible(f"systemctl can't make a unit {entry.kept.before} again")
    return Live(kind, (unit_name(entry),), *_pair(entry, switch))


def unit_name(entry: Entry) -> str:
    """'irqbalance.service'."""
    unit = str(entry.setting.target["unit"])
    return unit if "." in unit else f"{unit}.service"


def _qdisc(entry: Entry) -> Live:
    for discipline in (entry.kept.value, entry.kept.before):
        if discipline in ("noqueue", "mq") or " " in str(discipline):
            raise Inexpressible(f"tc can't make the disciplines of all queues ({discipline}) in one step")
    return Live("qdisc", (entry.kept.place,), *_pair(entry, str))


def _pmqos(entry: Entry) -> Live:
    return Live("latency", (), *_pair(entry, lambda value: kernel(value, 1e-6)))


def networks(entry: Entry, value: Value | None) -> str:
    """Those that bypass the tracking of connections, sorted; 'none'.

    Raises
    ------
    Inexpressible
        They are not named.
    """
    if value in (False, None, "", "none"):
        return "none"
    named = entry.setting.target.get("networks", ()) if value is True else str(value).split()
    if not named:
        raise Inexpressible("no networks are named whose packets should pass untracked")
    return " ".join(sorted(map(str, named)))


def _nftables(entry: Entry) -> Live:
    if entry.setting.target["what"] != "bypass":
        raise Inexpressible("others' rules are never changed")
    return Live("bypass", (), networks(entry, entry.kept.value), networks(entry, entry.kept.before))


MECHANISMS: dict[str, Callable[[Entry], Live]] = {
    "sysctl": _sysctl,
    "sysfs": _sysfs,
    "link": _link,
    "ethtool": _ethtool,
    "service": _service,
    "qdisc": _qdisc,
    "pmqos": _pmqos,
    "nftables": _nftables,
}

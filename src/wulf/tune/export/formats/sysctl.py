"""Files that a node reads when it starts: sysctl.d, systemd's .link and tmpfiles.d, udev's rules, modprobe.d, units."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wulf.tune.export.boot import Boot, boot
from wulf.tune.export.entry import Entry
from wulf.tune.export.format import Format, Written, header
from wulf.tune.export.formats.shell import environment
from wulf.tune.export.live import Inexpressible

SYSCTL = "etc/sysctl.d/99-wulf.conf"
"""After 99-sysctl.conf, which is /etc/sysctl.conf: the last file of sysctl.d wins."""
RULES = "etc/udev/rules.d/99-wulf.rules"
TMPFILES = "etc/tmpfiles.d/wulf.conf"
MODPROBE = "etc/modprobe.d/wulf.conf"
GRUB = "etc/default/grub.d/99-wulf.cfg"
PROFILE = "etc/profile.d/wulf.sh"
UNITS = "etc/systemd/system/"
STARTED = f"{UNITS}multi-user.target.d/wulf.conf"
"""What the node starts besides: no command has to enable a unit."""
BYPASS = "etc/wulf/bypass.nft"

RULES_START = [
    "# $name is the interface's name after the rules before this file have named it.",
    'SUBSYSTEM!="net", GOTO="wulf_end"',
    'ACTION!="add|move", GOTO="wulf_end"',
    'ENV{WULF_INTERFACE}="$name"',
]


def write(entries: Sequence[Entry]) -> Written:
    """All files, paths relative to the root of a node."""
    written = Written()
    for entry in entries:
        try:
            place(written, entries, entry)
        except Inexpressible as reason:
            written.refused.append((entry, str(reason)))
    if RULES in written.lines:
        written.add(RULES, 'LABEL="wulf_end"')
    return written


def place(written: Written, entries: Sequence[Entry], entry: Entry) -> None:
    """Put one setting into its file.

    Raises
    ------
    Inexpressible
        There is none for it.
    """
    if entry.setting.mechanism == "job":
        lines = environment(entry)
        _start(written, PROFILE, entries)
        written.add(PROFILE, *lines)
        return
    line = boot(entry)
    path, start, placed = KINDS[line.kind](line)
    _start(written, path, entries, start)
    if line.kind == "service":  # whether it runs and whether it is started are one line at the start of a node
        placed = [text for text in placed if text not in written.lines[path]]
    written.add(path, f"# {entry.comment}", *placed)
    if line.kind in OURS:
        _start(written, STARTED, entries, ["[Unit]"])
        written.add(STARTED, f"# {entry.comment}", f"Wants={OURS[line.kind]}")
    if line.kind == "bypass":
        _start(written, BYPASS, entries)
        written.add(BYPASS, f"# {entry.comment}", *table(line.text.split()))


def _start(written: Written, path: str, entries: Sequence[Entry], start: Sequence[str] = ()) -> None:
    if path not in written.lines:
        written.add(path, *header(entries), *start)


Placed = tuple[str, Sequence[str], Sequence[str]]
"""A file's path, how it begins, and the lines of one setting."""


def _sysctl(line: Boot) -> Placed:
    return SYSCTL, (), [f"{line.key} = {line.text}"]


def _link(line: Boot) -> Placed:
    start = [
        f"# udev uses the first .link file that fits: this one stands before 99-default.link, and leaves {line.device}",
        "# the name that the kernel gave it.",
        "[Match]", f"OriginalName={line.device}", "", "[Link]",
    ]  # fmt: skip
    return f"etc/systemd/network/50-wulf-{line.device}.link", start, [f"{line.key}={line.text}"]


def _udev(line: Boot) -> Placed:
    return RULES, RULES_START, [f'ENV{{WULF_INTERFACE}}=="{line.device}", ATTR{{{line.key}}}="{line.text}"']


def _run(line: Boot) -> Placed:
    return RULES, RULES_START, [f'ENV{{WULF_INTERFACE}}=="{line.device}", RUN+="{line.key}"']


def _tmpfiles(line: Boot) -> Placed:
    return TMPFILES, (), [f"w {line.key} - - - - {line.text}"]


def _modprobe(line: Boot) -> Placed:
    return MODPROBE, (), [f"options {line.key}={line.text}"]


def _bootline(line: Boot) -> Placed:
    return GRUB, (), [f'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT {line.key}"']


def _service(line: Boot) -> Placed:
    if line.text == "on":
        return STARTED, ["[Unit]"], [f"Wants={line.key}"]
    drop_in = f"{UNITS}{line.key}.d/wulf.conf"
    return drop_in, ["[Unit]"], [f"# never true: {line.key} is not started", "ConditionPathExists=!/"]


def _latency(line: Boot) -> Placed:
    hold = f"exec 3>/dev/cpu_dma_latency && printf 0x%%08x {line.text} >&3 && exec sleep infinity"
    service = [
        "[Unit]", f"Description=No CPU may take longer than {line.text} us to wake", "",
        "[Service]", "# The kernel keeps to it while the file is open, and reads text as hexadecimal.",
        f"ExecStart=/bin/sh -c '{hold}'", "Restart=always",
    ]  # fmt: skip
    return f"{UNITS}{OURS['latency']}", (), service


def _bypass(line: Boot) -> Placed:
    """The table's unit; the table itself is `table`'s."""
    service = [
        "[Unit]", f"Description=Packets among {line.text} are not tracked as connections",
        "# whoever loads the node's own rules may flush ours with them",
        "After=nftables.service firewalld.service", "PartOf=nftables.service firewalld.service", "",
        "[Service]", "Type=oneshot", "RemainAfterExit=yes", f"ExecStart=/usr/sbin/nft -f /{BYPASS}",
        "ExecStop=/usr/sbin/nft delete table inet wulf",
    ]  # fmt: skip
    return f"{UNITS}{OURS['bypass']}", (), service


def table(networks: Sequence[str]) -> list[str]:
    """nft's script: a table of our own, made anew; nobody else's is touched."""
    chains = {"prerouting": ("raw", "notrack"), "output": ("raw", "notrack"), "input": ("filter", ACCEPT)}
    lines = ["add table inet wulf", "delete table inet wulf", "table inet wulf {"]
    for chain, (priority, verdict) in chains.items():
        lines += [f"    chain {chain} {{", f"        type filter hook {chain} priority {priority}; policy accept;"]
        for network in networks:
            family = "ip6" if ":" in network else "ip"
            lines.append(f"        {family} saddr {network} {family} daddr {network} {verdict}")
        lines.append("    }")
    return [*lines, "}"]


ACCEPT = "ct state untracked accept"
OURS = {"latency": "wulf-latency.service", "bypass": "wulf-bypass.service"}
"""Units of our own, by the kind of line that they bring back."""

KINDS: dict[str, Callable[[Boot], Placed]] = {
    "sysctl": _sysctl, "link": _link, "udev": _udev, "run": _run, "tmpfiles": _tmpfiles,
    "modprobe": _modprobe, "bootline": _bootline, "service": _service, "latency": _latency, "bypass": _bypass,
}  # fmt: skip

FORMAT = Format(
    name="sysctl",
    help="Files that a node reads when it starts: sysctl.d, .link, udev, tmpfiles.d, modprobe.d, units.",
    write=write,
    install="Copy `etc/` to the root of every node; with `etc/default/grub.d/` in it, `update-grub`; with "
    "`etc/modprobe.d/`, make the initial RAM disk anew, which may load the driver. Then start the node anew.",
    undo="Remove the same files, run the same commands again, and start the node anew.",
)

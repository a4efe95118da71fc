"""A profile of tuned: its own plug-ins where it has one, a script that can undo itself for the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wulf.tune.export.boot import Boot, boot
from wulf.tune.export.entry import Entry
from wulf.tune.export.format import Format, Written, header
from wulf.tune.export.formats.shell import call, script
from wulf.tune.export.live import NOT_OF_A_NODE, Inexpressible, Live, live, sysctl_key

PROFILE = "wulf/tuned.conf"
SCRIPT = "wulf/script.sh"

NET_OPTIONS = {"-K": "features", "-C": "coalesce", "-G": "ring", "-L": "channels", "-A": "pause"}
"""ethtool's option → the option of tuned's plug-in 'net'."""

ARGUMENTS = [
    "# tuned calls it so",
    "case ${1:-} in start) set -- apply ;; stop) set -- revert ;; verify) set -- status ;; esac",
    "",
]

Sections = dict[str, dict[str, tuple[list[str], list[str]]]]
"""Section → option → comments and words: settings that one option takes together share its line."""


def write(entries: Sequence[Entry]) -> Written:
    """tuned.conf, and script.sh where something needs it."""
    written, sections = Written(), Sections()
    listed: list[str] = []
    for entry in entries:
        try:
            section, option, word = _placed(entry)
        except Inexpressible as reason:
            written.refused.append((entry, str(reason)))
            continue
        if section == "script":
            listed += [f"    # {entry.comment}", f"    {word}"]
            continue
        comments, words = sections.setdefault(section, {}).setdefault(option, ([], []))
        comments.append(f"# {entry.comment}")
        words.append(word)
    if listed:
        sections["script"] = {"script": ([], ["${i:PROFILE_DIR}/script.sh"])}
        written.add(SCRIPT, *script(entries, listed, ARGUMENTS))
    written.add(PROFILE, *header(entries), "", "[main]", "summary=Settings that wulf tune kept")
    for section, options in sections.items():
        written.add(PROFILE, "", f"[{section}]", *_start(section))
        for option, (comments, words) in options.items():
            written.add(PROFILE, *comments, f"{option}={_joined(section, words)}")
    return written


def _start(section: str) -> list[str]:
    device = section.partition("-")[2]
    return ["type=net", f"devices={device}"] if device else []


def _joined(section: str, words: Sequence[str]) -> str:
    return ("," if section == "service" else " ").join(words)


def _placed(entry: Entry) -> tuple[str, str, str]:
    """Section, option and word of one setting.

    Raises
    ------
    Inexpressible
        tuned has no word for it, and a script can't do it either.
    """
    mechanism = entry.setting.mechanism
    if mechanism in BOOT:
        line = boot(entry)
        if line.kind in BOOT.values():
            return _at_boot(line)
    if mechanism in NOT_OF_A_NODE:
        raise Inexpressible(NOT_OF_A_NODE[mechanism])
    if mechanism == "sysctl":
        return "sysctl", sysctl_key(entry), live(entry).after
    words = live(entry)
    plugin = PLUGINS.get(words.kind)
    return plugin(words) if plugin else ("script", "", call(entry))


BOOT = {"module": "modprobe", "bootline": "bootline"}
"""Mechanisms that only the start of a node heeds → the kind of line."""


def _at_boot(line: Boot) -> tuple[str, str, str]:
    if line.kind == "bootline":
        return "bootloader", "cmdline_wulf", f"+{line.key}"
    module, _, option = line.key.partition(" ")
    return "modules", module, f"{option}={line.text}"


def _file(words: Live) -> tuple[str, str, str]:
    return "sysfs", words.arguments[0], words.after


def _ethtool(words: Live) -> tuple[str, str, str]:
    device, _, option, word, _ = words.arguments
    return f"net-{device}", NET_OPTIONS[option], f"{word} {words.after}"


def _adaptive(words: Live) -> tuple[str, str, str]:
    device, direction = words.arguments
    return f"net-{device}", "coalesce", f"adaptive-{direction} {words.after}"


def _service(words: Live) -> tuple[str, str, str]:
    verbs = {"active": ("start", "stop"), "enabled": ("enable", "disable")}[words.kind]
    return (
        "service",
        f"service.{words.arguments[0].removesuffix('.service')}",
        verbs[words.after not in ("on", "enabled")],
    )


def _latency(words: Live) -> tuple[str, str, str]:
    return "cpu", "force_latency", words.after


PLUGINS: dict[str, Callable[[Live], tuple[str, str, str]]] = {
    "file": _file, "choice": _file, "ethtool": _ethtool, "adaptive": _adaptive, "active": _service,
    "enabled": _service, "latency": _latency,
}  # fmt: skip

FORMAT = Format(
    name="tuned",
    help="A profile of tuned.",
    write=write,
    install="Copy `wulf/` to `/etc/tuned/` (from tuned 2.25 on: `/etc/tuned/profiles/`) on every node, then `tuned-adm "
    "profile wulf`. `tuned-adm verify` compares. tuned leaves virtual interfaces out of `[net-*]`.",
    undo="`tuned-adm profile` with the name of the profile before, or `tuned-adm off`. tuned keeps what was before in "
    "memory alone: where it was killed, write back the column *before*, or start the node anew.",
)

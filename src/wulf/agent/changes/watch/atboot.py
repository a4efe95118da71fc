"""A unit of systemd that takes back at the next boot what that would keep: there only while such a change is open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wulf.agent.changes.revert import outliving, revert
from wulf.agent.changes.state.journal import WATCHDOG, Journal
from wulf.agent.changes.state.lock import guard
from wulf.agent.changes.watch.arming import agent_command, agent_in, systemd_runs
from wulf.agent.files.durable import make_folder, remove, replace, sync_folder

if TYPE_CHECKING:
    from wulf.agent.changes.host import Host

UNITS = Path("/etc/systemd/system")
UNIT = "wulf-take-back.service"
OPTION = "--at-boot"
_WANTED = "multi-user.target"

_TEXT = """\
[Unit]
Description=Takes back what wulf has changed and a boot has kept
RequiresMountsFor={folder}

[Service]
Type=oneshot
Environment={environment}
ExecStart={command}

[Install]
WantedBy={wanted}
"""


def at_boot(host: Host, wanted: bool, units: Path = UNITS) -> None:
    """Have the next boot take back what it would keep, or no longer. Without systemd a boot keeps nothing.

    systemd reads the unit when it boots: it need not be told now. Raises OSError.
    """
    unit, link = units / UNIT, units / f"{_WANTED}.wants" / UNIT
    if not wanted:
        remove(link)
        remove(unit)
    elif systemd_runs():
        command, environment = agent_command(agent_in(host.folder), host, OPTION)
        text = _TEXT.format(
            folder=_quoted(str(host.folder)),
            environment=" ".join(_quoted(f"{name}={value}") for name, value in environment.items()),
            command=" ".join(_quoted(word).replace("$", "$$") for word in command),
            wanted=_WANTED,
        )
        make_folder(link.parent)
        replace(unit, text.encode(), 0o644)
        remove(link)
        link.symlink_to(Path("..", UNIT))
        sync_folder(link.parent)


def _quoted(word: str) -> str:
    """A word of a unit file (systemd.syntax(7), systemd.unit(5))."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return f'"{escaped}"'


def take_back(host: Host) -> dict[str, Any]:
    """After a boot: what it has kept is as it was before, but for what shall stay: {"results"}."""
    with guard(host):
        journal = Journal(host)
        chosen = [entry for entry in outliving(host, journal) if entry.boot != host.boot]
        return {"results": revert(host, journal, chosen, f"{WATCHDOG}the node has booted")}

"""What the shell offers where a user names a run, a network, a setting, a lab or a node: click's `shell_complete`.

Nobody sees an error of these: what can't be read offers nothing.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from wulf.core.errors import WulfError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click

SSH_CONFIG = Path("~/.ssh/config")


def runs(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """`last`, and the runs under `--in`."""
    from wulf.store.index import list_runs

    found = [path.name for path in list_runs(ctx.params.get("directory"))]
    return _beginning(incomplete, ["last", *found] if found else [])


def networks(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Those that `wulf networks list` has, and `this`."""
    from wulf.model.network.file import network_names

    return _beginning(incomplete, ["this", *network_names()])


def settings(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Of a list with commas its last: the catalogue's names."""
    from wulf.tune.catalogue import catalogue

    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in _beginning(last, catalogue())]


def labs(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The labs of this user."""
    from wulf.lab import state

    with suppress(WulfError, OSError):
        return _beginning(incomplete, state.names())
    return []


def lab_nodes(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The nodes of the lab that `--name` names."""
    from wulf.lab import state

    with suppress(WulfError, OSError):
        found = state.load(ctx.params.get("name") or state.default_name())
        return _beginning(incomplete, [node["name"] for node in found["nodes"]] if found else [])
    return []


def nodes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """With `--lab` its nodes; else the hosts that ssh's own configuration names."""
    if ctx.params.get("lab"):
        return lab_nodes(ctx, param, incomplete)
    text = ""
    with suppress(OSError):
        text = Path(ctx.params.get("ssh_config") or SSH_CONFIG).expanduser().read_text(errors="replace")
    hosts = [word for line in text.splitlines() for word in _hosts(line)]
    return _beginning(incomplete, hosts)


def _hosts(line: str) -> list[str]:
    """Those of a `Host` line that are no patterns."""
    keyword, *words = line.replace("=", " ", 1).split() or [""]
    return [word for word in words if not set(word) & set("*?!")] if keyword.lower() == "host" else []


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]

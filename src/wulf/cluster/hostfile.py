"""MPI hostfiles: Open MPI (``n1 slots=4``), MPICH and Intel MPI (``n1:4``), a scheduler's list (a host a line).

``#`` starts a comment. Slots say how many ranks a host takes; wulf wants the hosts alone, so that a host named once
per slot, as PBS and Slurm write it, is one node. ``user@host`` keeps the user for ssh.
"""

from __future__ import annotations

import re
from pathlib import Path

from wulf.cluster.inventory import Inventory, Node, expand
from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, text_of

# Open MPI spells its keys in several ways (slots, max_slots, max-slots, cpu, username, ...): any key=value is taken.
_HOST = re.compile(r"(?:(?P<user>[^@\s]+)@)?(?P<host>\[[0-9A-Fa-f:]+\]|[^:\s]+|[0-9A-Fa-f:]*::[0-9A-Fa-f:]*)(?::\d+)?")
_OPTION = re.compile(r"[A-Za-z_-]+=\S+|slots|max_slots")


def read(path: Path) -> Inventory:
    """The nodes of the file, in its order, each once; reached by ssh.

    Raises
    ------
    UsageError
        The file can't be read, or a line is none of the dialects: names file and line.
    """
    try:
        lines = text_of(path).splitlines()
    except Unreadable as error:
        raise UsageError(f"{path}: can't read the hostfile: {error}") from error
    nodes: dict[str, Node] = {}
    for number, line in enumerate(lines, start=1):
        for node in _nodes_of(line.partition("#")[0], f"{path}:{number}"):
            nodes.setdefault(node.name, node)
    if not nodes:
        raise UsageError(f"{path}: the hostfile names no host")
    return Inventory(tuple(nodes.values()))


def _nodes_of(text: str, where: str) -> list[Node]:
    # "slots = 4" is as good as "slots=4" to Open MPI
    words = re.sub(r"\s*=\s*", "=", text).split()
    if not words:
        return []
    match = _HOST.fullmatch(words[0])
    wrong = words[0] if match is None else next((word for word in words[1:] if not _OPTION.fullmatch(word)), None)
    if match is None or wrong is not None:
        raise UsageError(f"{where}: {wrong!r} is not understood", "a line is: host [slots=N], or host:N")
    host, user = match["host"].strip("[]") if match["host"].startswith("[") else match["host"], match["user"]
    try:
        names = expand(host) if "[" in host else [host]
        return [Node(name, ssh=f"{user}@{name}" if user else None) for name in names]
    except UsageError as error:
        raise UsageError(f"{where}: {error.what}", error.next_step) from error

"""The format of cluster.toml, and errors that name file, line and field.

nodes = "n[1-4]"               # ClusterShell syntax; or a list: ["login", "n[1-4]"]
launcher = "ssh"               # local, ssh, slurm, lab, null; default ssh
network = "10.0.0.0/24"        # the network that the probes use; default: by the nodes' names
gateways = "n[1,33]"           # by way of which ssh reaches the others, a share each; default: all directly
gateway_ssh_config = "/etc/ssh/inner" # for ssh -F on the gateways; default: your own configuration there
ssh_config = "ssh_config"      # for ssh -F, relative to this file; default: your own

[roles]                        # nodes that should have the same settings; default: by their hardware
compute = "n[2-4]"

[slurm]                        # options of the job that the launcher slurm asks for, as salloc has them
partition = "main"
time = 30

[node.n3]                      # what differs for one node
address = "10.0.0.13"          # where the probes reach it
ssh = "admin@n3.example.org"   # where ssh reaches it
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from wulf.cluster.inventory import Inventory, Node, did_you_mean, expand, parse_network
from wulf.cluster.launchers import launcher_names
from wulf.cluster.slurm.jobs import check_option
from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, text_of, toml

Location = tuple[int | str, ...]
"""The way to a value from the top of the document: keys, and indices into lists."""

_FORMAT = (
    'it needs nodes = "n[1-4]"; and takes launcher, network, gateways, gateway_ssh_config, ssh_config, [slurm], '
    "[roles], and [node.NAME] with address, ssh"
)


def _patterns(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _expanded(patterns: list[str]) -> list[str]:
    if not patterns:
        raise ValueError("names no node")
    try:
        return [name for pattern in patterns for name in expand(pattern)]
    except UsageError as error:
        raise ValueError(str(error.what)) from error


def _launcher(name: str) -> str:
    if name not in launcher_names():
        raise ValueError(f"{name!r} is no launcher: {', '.join(launcher_names())}")
    return name


def _network(text: str) -> str:
    try:
        return str(parse_network(text))
    except UsageError as error:
        raise ValueError(f"{error.what} ({error.next_step})") from error


def _option_value(value: object) -> object:
    """`time = 30` and `exclusive = true` are meant as they read."""
    if value is True:
        return ""
    return str(value) if isinstance(value, int) and value is not False else value


class _NodeTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    address: str | None = Field(default=None, min_length=1)
    ssh: str | None = Field(default=None, min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    nodes: Annotated[list[str], BeforeValidator(_patterns), AfterValidator(_expanded)]
    launcher: Annotated[str, AfterValidator(_launcher)] = "ssh"
    network: Annotated[str, AfterValidator(_network)] | None = None
    gateways: Annotated[list[str], BeforeValidator(_patterns), AfterValidator(_expanded)] | None = None
    gateway_ssh_config: Annotated[str, Field(min_length=1)] | None = None
    ssh_config: str | None = None
    slurm: dict[str, Annotated[str, BeforeValidator(_option_value)]] = {}
    roles: dict[str, Annotated[list[str], BeforeValidator(_patterns), AfterValidator(_expanded)]] = {}
    node: dict[str, _NodeTable] = {}


def read(path: Path) -> Inventory:
    """The inventory that a file holds.

    Raises
    ------
    UsageError
        Every fault of the file, each with its line and field.
    """
    text = _text(path)
    try:
        parsed = _File.model_validate(_parse(path, text))
    except ValidationError as error:
        raise _faults(path, text, [(tuple(fault["loc"]), _reason(fault)) for fault in error.errors()]) from None
    faults: list[tuple[Location, str]] = [
        (("node", name), f"is not among nodes; {did_you_mean([name], parsed.nodes)}")
        for name in parsed.node
        if name not in parsed.nodes
    ]
    faults += _role_faults(parsed)
    for name in parsed.slurm:
        try:
            check_option(name)
        except UsageError as error:
            faults.append((("slurm", name), error.what))
    if faults:
        raise _faults(path, text, faults)
    return Inventory(
        nodes=tuple(_nodes(path, text, parsed)),
        launcher=parsed.launcher,
        network=parsed.network,
        ssh_config=_beside(path, text, parsed.ssh_config),
        slurm=parsed.slurm,
        gateways=tuple(parsed.gateways or ()),
        gateway_ssh_config=parsed.gateway_ssh_config,
        roles={node: role for role, nodes in parsed.roles.items() for node in nodes},
    )


def _role_faults(parsed: _File) -> list[tuple[Location, str]]:
    """Roles of nodes that there are not, and nodes of two roles."""
    faults: list[tuple[Location, str]] = []
    taken: dict[str, str] = {}
    for role, nodes in parsed.roles.items():
        for node in nodes:
            if node not in parsed.nodes:
                faults.append((("roles", role), f"{node} is not among nodes; {did_you_mean([node], parsed.nodes)}"))
            elif taken.setdefault(node, role) != role:
                faults.append((("roles", role), f"{node} has the role {taken[node]!r} already"))
    return faults


def _text(path: Path) -> str:
    try:
        return text_of(path)
    except Unreadable as error:
        raise UsageError(f"{path}: can't read the inventory: {error}") from error


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        return toml(text)
    except Unreadable as error:
        if not isinstance(error.__cause__, tomllib.TOMLDecodeError):
            raise UsageError(f"{path}: can't read the inventory: {error}", _FORMAT) from error
        reason, _, place = str(error.__cause__).partition(" (at ")
        at = re.match(r"line (\d+), column (\d+)", place)
        # tomllib counts no line for what is missing at the end of the document
        line, column = at.groups() if at else (str(text.count("\n") + 1), "1")
        raise UsageError(f"{path}:{line}:{column}: not TOML: {reason}", _FORMAT) from error


def _reason(fault: Any) -> str:
    key = str(fault["loc"][-1])
    if fault["type"] == "extra_forbidden":
        fields = (_NodeTable if fault["loc"][0] == "node" else _File).model_fields
        close = difflib.get_close_matches(key, fields, n=1)
        return "unknown key" + (f"; did you mean {close[0]!r}?" if close else f"; there are: {', '.join(fields)}")
    if fault["type"] == "missing":
        return "is missing"
    message = str(fault["msg"]).removeprefix("Value error, ")
    return message if fault["type"] == "value_error" else f"{message}, not {fault['input']!r}"


def _nodes(path: Path, text: str, parsed: _File) -> Iterator[Node]:
    seen: set[str] = set()
    for name in parsed.nodes:
        if name in seen:
            raise _faults(path, text, [(("nodes",), f"{name} stands in it more than once")])
        seen.add(name)
        table = parsed.node.get(name, _NodeTable())
        try:
            yield Node(name, table.address, table.ssh)
        except UsageError as error:
            location = ("node", name, "ssh") if table.ssh else ("nodes",)
            raise _faults(path, text, [(location, error.what)]) from error


def _beside(path: Path, text: str, ssh_config: str | None) -> Path | None:
    if ssh_config is None:
        return None
    found = path.parent / Path(ssh_config).expanduser()
    if not found.is_file():
        raise _faults(path, text, [(("ssh_config",), f"{found} is not a file")])
    return found.resolve()


def _faults(path: Path, text: str, faults: Sequence[tuple[Location, str]]) -> UsageError:
    lines = [f"{path}:{line_of(text, loc)}: {_dotted(loc)}: {reason}" for loc, reason in faults]
    return UsageError("\n".join(lines), _FORMAT)


def _dotted(location: Location) -> str:
    return ".".join(key for key in location if isinstance(key, str))


def line_of(text: str, location: Location) -> int:
    """The line, from 1, of the key that ``location`` leads to, or of the longest part of the way that the text has.

    tomllib keeps no positions. Each line that is a header or starts with a key is parsed by itself; a line within a
    string of several lines that looks like a key can mislead it, to a wrong line at worst.
    """
    keys = [key for key in location if isinstance(key, str)]
    table: list[str] = []
    best, found = 0, 1
    for number, line in enumerate(text.splitlines(), start=1):
        header = line.split("#")[0].strip()
        if header.startswith("[") and (path := _path(header)) is not None:
            table = here = path
        elif (match := re.match(r"\s*([^=#]+?)\s*=", line)) and (path := _path(f"{match[1]}=0")) is not None:
            here = table + path
        else:
            continue
        shared = len(here) if here == keys[: len(here)] else 0
        if shared > best:
            best, found = shared, number
    return found


def _path(snippet: str) -> list[str] | None:
    try:
        value: Any = tomllib.loads(snippet)
    except tomllib.TOMLDecodeError:
        return None
    path = []
    while isinstance(value, dict) and value:
        key, value = next(iter(value.items()))
        path.append(key)
    return path

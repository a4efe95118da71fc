"""Keys and configuration with which ssh reaches the nodes, and the few files in /etc that make them nodes."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from wulf.core.errors import LabError

from . import tools
from .inside.node import HOME, PRIVATE, SSH_PORT, TEMPORARY
from .state import INSIDE


class Node(Protocol):
    """What is needed here of a node: `wulf.lab.LabNode` has it."""

    @property
    def name(self) -> str: ...
    @property
    def address(self) -> str: ...
    @property
    def address6(self) -> str | None: ...


KEX = "KexAlgorithms -sntrup761*"
"""A lab's logins cross no network: the exchange that withstands quantum computers took a client of OpenSSH 9.2 three
times the CPU time of all others, 60 ms a login."""


def user_name(own_user: bool) -> str:
    """Who logs in on a node: this user, or "wulf" for root without its rights, who can't be uid 0 there."""
    uid = os.geteuid()
    if own_user and uid == 0:
        return "wulf"
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:  # a container's arbitrary uid
        return "wulf"


def prepare(state: Path, nodes: Sequence[Node], own_user: bool) -> None:
    """Write all that nodes need before they start: keys, sshd's configuration, /etc."""
    _write_etc(state / "etc", nodes, own_user)
    (state / "nodes").mkdir(mode=0o700)
    for node in nodes:
        (state / "nodes" / node.name).mkdir(mode=0o700)
    keys = [state / "id", state / "node_id"] + [state / "nodes" / node.name / "host_key" for node in nodes]
    with ThreadPoolExecutor(max_workers=4) as pool:
        publics = list(pool.map(make_key, keys))
    penalties = _has_penalties(tools.require("sshd"))
    for node in nodes:
        directory = state / "nodes" / node.name
        (directory / "hostname").write_text(node.name + "\n")
        (directory / "authorized_keys").write_text(publics[0] + publics[1])
        (directory / "sshd_config").write_text(_sshd_config(node, user_name(own_user), penalties))
    known = "".join(f"{node.name} {key}" for node, key in zip(nodes, publics[2:], strict=True))
    (state / "known_hosts").write_text(known)
    for node in nodes:
        _let_reach_others(state, state / "nodes" / node.name, nodes, user_name(own_user))


def _let_reach_others(state: Path, directory: Path, nodes: Sequence[Node], user: str) -> None:
    """What a node needs to log in on the others, as MPI's launchers do; its key opens nothing outside the lab."""
    shutil.copyfile(state / "node_id", directory / "node_id")
    (directory / "node_id").chmod(0o600)
    shutil.copyfile(state / "known_hosts", directory / "known_hosts")
    (directory / "ssh_config").write_text(peers_config(nodes, user, PRIVATE))


def peers_config(nodes: Sequence[Node], user: str, folder: str) -> str:
    """ssh_config(5) with which a node reaches the others; node_id and known_hosts lie in `folder`."""
    return f"""\
Host {" ".join(node.name for node in nodes)} {" ".join(node.address for node in nodes)}
  User {user}
  Port {SSH_PORT}
  IdentityFile {folder}/node_id
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  StrictHostKeyChecking yes
  CheckHostIP no
  {KEX}
  LogLevel ERROR
""" + "".join(f"Host {node.name} {node.address}\n  HostKeyAlias {node.name}\n" for node in nodes)


def write_client_config(
    state: Path, nodes: Sequence[Node], own_user: bool, init: dict[str, object], *, first: str = ""
) -> None:
    """ssh_config: `ssh -F STATE/ssh_config n1` works by hand and for every launcher.

    Lines of it that come `first` win over those of every lab (ssh_config(5)).
    """
    # ssh passes the command to a shell after expanding %, hence both quotations.
    words = [sys.executable, "-I", "-S", str(INSIDE), "connect", str(init["pid"]), str(init["start"])]
    command = shlex.join(words).replace("%", "%%") + " %h %p"
    common = f"""\
Host {" ".join(node.name for node in nodes)}
{first}  User {user_name(own_user)}
  Port {SSH_PORT}
  IdentityFile {_quoted(state / "id")}
  IdentitiesOnly yes
  IdentityAgent none
  PreferredAuthentications publickey
  UserKnownHostsFile {_quoted(state / "known_hosts")}
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  CheckHostIP no
  UpdateHostKeys no
  ServerAliveInterval 3
  ServerAliveCountMax 3
  {KEX}
  LogLevel ERROR
  ProxyCommand {command}
  ProxyUseFdpass yes
"""
    hosts = [f"Host {node.name}\n  HostName {node.address}\n  HostKeyAlias {node.name}\n" for node in nodes]
    (state / "ssh_config").write_text(common + "".join(hosts))


def _quoted(path: Path) -> str:
    return '"' + str(path).replace("%", "%%") + '"'


def make_key(path: Path) -> str:
    """Make an ed25519 key pair at `path`; returns its public line."""
    program = tools.require("ssh-keygen")
    made = subprocess.run(
        [program, "-q", "-t", "ed25519", "-N", "", "-C", "wulf lab", "-f", path],
        capture_output=True, text=True, env=tools.environment(program), stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    if made.returncode != 0:
        raise LabError(f"ssh-keygen can't make {path}: {made.stderr.strip() or made.stdout.strip()}")
    return path.with_name(path.name + ".pub").read_text()


def _has_penalties(sshd: Path) -> bool:
    """Whether sshd (from 9.8) shuts out addresses that fail; an older one refuses to start when told not to."""
    return b"persourcepenalties" in sshd.read_bytes()


def _sshd_config(node: Node, user: str, penalties: bool) -> str:
    """sshd_config(5). Nothing but keys opens a node; AcceptEnv is empty where it isn't given."""
    listen6 = f"ListenAddress [{node.address6}]:{SSH_PORT}\n" if node.address6 else ""
    return f"""\
ListenAddress {node.address}:{SSH_PORT}
{listen6}HostKey {PRIVATE}/host_key
AuthorizedKeysFile {PRIVATE}/authorized_keys
AllowUsers {user}
AuthenticationMethods publickey
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PermitUserEnvironment no
PermitUserRC no
StrictModes no
UsePAM no
UseDNS no
DisableForwarding yes
SetEnv PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TMPDIR={TEMPORARY}
PrintMotd no
PrintLastLog no
PidFile none
LoginGraceTime 20
MaxStartups 1000
MaxSessions 100
Subsystem sftp internal-sftp
{"PerSourcePenalties no" if penalties else ""}
"""


def _write_etc(etc: Path, nodes: Sequence[Node], own_user: bool) -> None:
    """hosts, and accounts: whoever made the lab may log in, with a home directory of the node's own.

    Without these, a root whose password is locked, a user without a shell (nobody) or a container's uid without a name
    couldn't: sshd(8) refuses all three.
    """
    etc.mkdir(mode=0o700)
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    lines += [f"{node.address} {node.name}" for node in nodes]
    lines += [f"{node.address6} {node.name}" for node in nodes if node.address6]
    (etc / "hosts").write_text("\n".join(lines) + "\n")

    uid, gid, name = os.geteuid(), os.getegid(), user_name(own_user)
    if own_user:  # as inside.linux.map_user maps them
        uid, gid = uid or 1000, gid or 1000
        (etc / "group").write_text(f"{name}:x:{gid}:\n")
    (etc / "shadow").write_text(f"{name}:*:::::::\n")  # "*": no password, and not locked, which "!" would be
    (etc / "shadow").chmod(0o600)
    shell = "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"
    accounts = [f"{name}:*:{uid}:{gid}:wulf lab:{HOME}:{shell}"]
    for line in Path("/etc/passwd").read_text(errors="surrogateescape").splitlines():
        fields = line.split(":")
        if len(fields) > 2 and fields[0] != name and fields[2] != str(uid):
            accounts.append(line)
    if not any(line.startswith("sshd:") for line in accounts):
        accounts.append("sshd:*:65533:65533::/run/sshd:/bin/false")
    (etc / "passwd").write_text("\n".join(accounts) + "\n", errors="surrogateescape")

"""OpenSSH's messages, and the exit statuses of the scripts on the node, in plain words with what to do next."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Node
from wulf.cluster.programs import Program
from wulf.cluster.session import Explain, last_words
from wulf.cluster.ssh import scripts as node_scripts
from wulf.cluster.ssh.scripts import ARCH, PLACE

SSH_FAILED = 255
"""ssh's own exit status for an error of its own (ssh(1), EXIT STATUS)."""

# Pattern in ssh's messages; what it means; what to do. The first match counts: the more specific stand first.
# {node} is the node's name, {destination} what ssh was given, {0} the pattern's first group.
_WORDS: tuple[tuple[str, str, str], ...] = (
    (
        r"REMOTE HOST IDENTIFICATION HAS CHANGED(?:.*?Offending (?:\S+ )?key in (\S+))?",
        "its host key is not the one on record{in_file}: it was reinstalled, or another machine answers in its place",
        "if it was reinstalled, remove the old key with `ssh-keygen -R {destination}` and connect once by hand",
    ),
    (
        r"(?:Host key verification failed|No \S+ host key is known)",
        "its host key is not known on this machine",
        "connect once by hand and compare the key: ssh {destination}",
    ),
    (
        r"Could not resolve hostname (\S+):",
        "the name {0} can't be resolved",
        "check its spelling, /etc/hosts, the DNS, or give its HostName in your ssh_config",
    ),
    (
        r"Connection refused",
        "it refused the ssh connection: nothing listens on that port",
        "is sshd running there? try: ssh {destination}",
    ),
    (
        r"(?:Connection timed out|Operation timed out|timed out during banner exchange)",
        "no answer to the ssh connection: it is down, or a firewall drops it",
        "is it up? try: ping {node}",
    ),
    (
        r"No route to host|Network is unreachable|Host is down",
        "there is no route to it: it is down, or not on this network",
        "is it up? try: ping {node}",
    ),
    (
        r"Permission denied \(([^)]*)\)",
        "it did not let us in (it accepts: {0}); keys are the only way that needs nobody at a keyboard",
        "give it your key: ssh-copy-id {destination}; a key with a passphrase has to be in ssh-agent",
    ),
    (
        r"Too many authentication failures",
        "it gave up after too many keys were offered",
        "name the right one in your ssh_config: IdentityFile and IdentitiesOnly yes",
    ),
    (
        r"(?:Bad configuration option|Bad owner or permissions|terminating, \d+ bad|Can't open user config file)",
        "ssh can't use its configuration",
        "ask ssh itself: ssh -G {destination}",
    ),
    (
        r"(?:not responding|Broken pipe|closed by remote host|Connection reset|Connection closed)",
        "the connection was lost: the node went down, or its sshd closed it",
        "is it still up? try: ssh {destination} uptime",
    ),
)
_LOST = _WORDS[-1:]
"""What ssh can say once the program has greeted; the rest is the program's own standard error."""


# What a tool says when the cache can't be there; what it means; what to do.
_NO_PLACE = (
    ("No space left on device", "its disk is full", "make room there"),
    ("uota exceeded", "the disk quota is used up", "make room there"),
    ("Read-only file system", "its file system is read-only", "is its disk healthy? look there: dmesg"),
    ("Permission denied", "no permission to write there", "who owns that directory?"),
    ("mounted noexec", "programs may not be executed there", "set XDG_CACHE_HOME there to a place without noexec"),
    ("belongs to somebody else", "the directory is not ours", "have it removed there"),
)


def explain_ssh(node: Node, program: Program) -> Explain:
    """The explanation for a program that ssh started on a node."""

    def explain(end: Exit, stderr: Sequence[str], greeted: bool) -> tuple[str, str]:
        if end.status == SSH_FAILED:
            return _ssh_failure(node, program, stderr, greeted)
        if end.signal is not None:
            return f"the ssh process on this machine was {end}", ""
        return explain_script(end, program, stderr)

    return explain


def _ssh_failure(node: Node, program: Program, stderr: Sequence[str], greeted: bool) -> tuple[str, str]:
    text = "\n".join(stderr)
    for pattern, what, next_step in _LOST if greeted else _WORDS:
        match = re.search(pattern, text, re.DOTALL)
        if match:
            group = match[1] or "" if match.re.groups else ""
            words = {"node": node.name, "destination": node.destination, "in_file": f" ({group})" if group else ""}
            return what.format(group, **words), next_step.format(group, **words)
    if greeted or not stderr:
        # ssh says nothing of its own when a signal ended the program, which leaves no status to hand on
        what = f"{program.speaker} was killed on the node, or the connection to it was cut"
        return what + last_words(stderr), "look there: dmesg, last"
    return f"ssh failed{last_words(stderr)}", f"try: ssh {node.destination}"


def explain_script(end: Exit, program: Program, stderr: Sequence[str]) -> tuple[str, str]:
    """Why the start script on the node, or the program that it became, ended."""
    if end.status == node_scripts.WRONG_ARCH:
        here = arch_of(stderr)
        return (
            f"the node is {here}, but {program.name} has been built for {program.arch} only",
            f"build it for {here} and put it beside the others ({program.path.parent.parent}/{here}/), "
            "or leave the node out",
        )
    if end.status == node_scripts.NO_PYTHON:
        return (
            f"{program.name} needs Python 3.9 or newer there, and none was found",
            "install python3 on the node, or a newer one beside it (python3.9 to python3.13 are looked for)",
        )
    if end.status in (126, 127):
        return f"{program.speaker} can't be started there{last_words(stderr)}", "is that file system mounted noexec?"
    return f"{program.speaker} ended unexpectedly: {end}{last_words(stderr)}", ""


def explain_copy(end: Exit, program: Program, stderr: Sequence[str]) -> tuple[str, str]:
    """Why a copy into the node's cache failed, where ssh itself did not."""
    if end.status == node_scripts.NO_HASH:
        return "it has no sha256sum, which verifies the copies of programs", "install coreutils there"
    if end.status == node_scripts.CORRUPT:
        return f"the copy of {program.name} arrived damaged", "try again; if it persists, check the node's disk"
    place = next((line.removeprefix(PLACE) for line in stderr if line.startswith(PLACE)), "")
    said = [line for line in stderr if not line.startswith(PLACE)]
    for sign, what, next_step in _NO_PLACE:
        lines = [line if place in line else f"{place}: {line}" for line in said if sign in line]
        if lines:
            return f"{what} ({' / '.join(lines)})", next_step
    return f"{program.name} could not be copied: {end}{last_words(said)}", ""


def arch_of(stderr: Sequence[str]) -> str:
    """The machine that the start script named before it gave up."""
    return next((line.removeprefix(ARCH) for line in stderr if line.startswith(ARCH)), "of unknown kind")

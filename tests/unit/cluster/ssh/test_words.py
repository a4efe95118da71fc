"""What OpenSSH says (9.2, as recorded), in plain words."""

from pathlib import Path

import pytest

from tests.wording import lacking
from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Node
from wulf.cluster.programs import Program
from wulf.cluster.ssh import scripts as node_scripts
from wulf.cluster.ssh.words import explain_copy, explain_ssh

NODE = Node("n3", ssh="admin@n3.example")
NET = Program("wulf-net", Path("/opt/wulf/programs/x86_64/wulf-net"), "d" * 64, "x86_64")
FAILED = Exit(status=255)

CHANGED = """\
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
Someone could be eavesdropping on you right now (man-in-the-middle attack)!
It is also possible that a host key has just been changed.
The fingerprint for the ED25519 key sent by the remote host is
SHA256:xyz.
Please contact your system administrator.
Add correct host key in /home/me/.ssh/known_hosts to get rid of this message.
Offending ECDSA key in /home/me/.ssh/known_hosts:12
Host key for n3.example has changed and you have requested strict checking.
Host key verification failed."""


@pytest.mark.parametrize(
    ("said", "what", "next_step"),
    [
        (CHANGED, "not the one on record (/home/me/.ssh/known_hosts:12)", "ssh-keygen -R"),
        ("Host key verification failed.", "host key is not known", "ssh admin@n3.example"),
        (
            "No ED25519 host key is known for n3.example and you have requested strict checking.\n"
            "Host key verification failed.",
            "host key is not known",
            "by hand",
        ),
        (
            "ssh: Could not resolve hostname n3.example: Name or service not known",
            "the name n3.example can't be resolved",
            "/etc/hosts",
        ),
        ("ssh: connect to host n3.example port 22: Connection refused", "refused the ssh connection", "sshd"),
        ("ssh: connect to host n3.example port 22: Connection timed out", "no answer", "ping n3"),
        ("Connection timed out during banner exchange", "no answer", "ping n3"),
        ("ssh: connect to host n3.example port 22: No route to host", "no route to it", "ping n3"),
        (
            "admin@n3.example: Permission denied (publickey,password).",
            "(it accepts: publickey,password)",
            "ssh-copy-id",
        ),
        ("Received disconnect from 10.0.0.3 port 22:2: Too many authentication failures", "too many keys", "Identity"),
        ("/home/me/.ssh/config: line 3: Bad configuration option: colour", "can't use its configuration", "ssh -G"),
        ("Can't open user config file /x: No such file or directory", "can't use its configuration", "ssh -G"),
        ("kex_exchange_identification: Connection closed by remote host", "the connection was lost", "uptime"),
        ("Unable to negotiate with 10.0.0.3: no matching cipher found", "ssh failed; its last words: Unable", "ssh "),
    ],
    ids=[
        "changed key", "unknown key", "no key", "no name", "refused", "silent", "no banner", "no route", "not let in",
        "many keys", "configuration", "no configuration", "closed", "no cipher",
    ],
)  # fmt: skip
def test_before_the_program_greets(said, what, next_step, wording):
    told, then = explain_ssh(NODE, NET)(FAILED, said.splitlines()[-20:], False)
    assert what in told
    assert next_step in then
    wording(f"{told}\n{then}")


@pytest.mark.parametrize(
    ("said", "what"),
    [
        (["Timeout, server n3.example not responding."], "the connection was lost"),
        (["client_loop: send disconnect: Broken pipe"], "the connection was lost"),
        (["Connection to n3.example closed by remote host."], "the connection was lost"),
        ([], "wulf-net was killed on the node"),
        (["peer: Connection refused"], "the connection to it was cut; its last"),
    ],
)
def test_after_it_greeted_its_own_words_are_not_taken_for_sshs(said, what):
    assert what in explain_ssh(NODE, NET)(FAILED, said, True)[0]


@pytest.mark.parametrize(
    ("status", "said", "what"),
    [
        (node_scripts.WRONG_ARCH, ["motd", "wulf-arch: aarch64"], "the node is aarch64, but wulf-net"),
        (node_scripts.WRONG_ARCH, [], "the node is of unknown kind"),
        (node_scripts.NO_PYTHON, [], "needs Python 3.9 or newer"),
        (126, ["sh: 1: /x: Permission denied"], "its last words: sh: 1: /x: Permission"),
        (1, ["assertion failed"], "exit status 1; its last words: assertion"),
    ],
)
def test_what_the_node_found(status, said, what):
    assert what in explain_ssh(NODE, NET)(Exit(status=status), said, False)[0]


def test_an_ssh_that_was_killed_here():
    assert lacking(explain_ssh(NODE, NET)(Exit(signal=9), [], True)[0], "ssh process on this machine", "SIGKILL") == []


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("cat: write error: No space left on device", "its disk is full (/h/bin: cat: write error"),
        ("mkdir: cannot create directory '/h/bin': Disk quota exceeded", "the disk quota is used up (mkdir: cannot"),
        ("mktemp: failed to create file via template '/h/bin/.x': Read-only file system", "is read-only (mktemp"),
        ("mkdir: cannot create directory '/h/bin': Permission denied", "no permission to write there (mkdir"),
        ("mounted noexec", "may not be executed there (/h/bin: mounted"),
        ("belongs to somebody else", "is not ours (/h/bin: belongs to somebody"),
        ("gremlins", "exit status 96; its last words: gremlins"),
    ],
)
def test_a_cache_that_cannot_be(said, what):
    end = Exit(status=node_scripts.NO_PLACE)
    assert what in explain_copy(end, NET, ["wulf-place: /h/bin", said])[0]


def test_a_copy_that_fails_otherwise():
    assert "no sha256sum" in explain_copy(Exit(status=node_scripts.NO_HASH), NET, [])[0]
    assert "arrived damaged" in explain_copy(Exit(status=node_scripts.CORRUPT), NET, [])[0]

"""The ways to reach nodes that the suites run over."""

import os
import shutil
from pathlib import Path

import pytest

from wulf.cluster.programs import Program
from wulf.core.errors import UsageError
from wulf.core.programs import program_path
from wulf.workflow.foresight.replaying import PROGRAM, Replay, replay_session

from .mechanism_node import Node
from .private_sshd import PrivateSshd


def skip_or_fail(reason):
    """Skip with the reason; with CI=true a machine without the capability is a defect of the machine, and fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def node():
    """A node with network and mount namespaces of its own, whose settings may be written."""
    try:
        made = Node()
    except (OSError, RuntimeError) as error:
        skip_or_fail(f"no private network and mount namespaces here: {error}")
    with made:
        yield made


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """The test program, under a path and a digest of this test run's own, so that what is left running is found."""
    source = Path(__file__).with_name("session_program.py").read_text()
    path = tmp_path_factory.mktemp("program") / "test-session"
    path.write_text(f"{source}\n# {os.getpid()} {path}\n")
    path.chmod(0o755)
    return Program.of(path, python=True)


@pytest.fixture(scope="session")
def sshd(tmp_path_factory):
    if not (shutil.which("sshd") or Path("/usr/sbin/sshd").exists()) or not shutil.which("ssh"):
        pytest.skip("needs OpenSSH's client and server: apt install openssh-server")
    server = PrivateSshd(tmp_path_factory.mktemp("sshd"))
    try:
        server.start()
    except RuntimeError as error:  # a container may forbid mount namespaces
        pytest.skip(f"no private sshd here: {error}")
    yield server
    server.stop()


def left_running(program):
    """Processes that have to do with the program: it, its shells, its connections."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            except OSError:
                continue
            if program.digest in line or str(program.path) in line:
                found.append(line)
    return found


@pytest.fixture(scope="module")
def replay():
    """The real wulf-replay."""
    try:
        program_path(PROGRAM)
    except UsageError as error:
        pytest.skip(error.what)
    with replay_session() as session:
        yield Replay(session)

"""Labs for tests: real ones, removed whatever happens; a machine that allows none says so (and fails in CI)."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.lab.commands import left
from tests.lab.shared import SharedLab
from tests.processes import wait_until
from wulf import lab
from wulf.core.errors import LabError
from wulf.lab import state

UNPRIVILEGED = 65534
PATIENCE_S = 10.0
"""How long a loaded machine may take for what takes milliseconds."""
SOURCES = os.pathsep.join(entry for entry in sys.path if entry)


def skip_or_fail(reason: str) -> None:
    """Skip with the reason; with CI=true a machine without the capability is a defect of the machine, and fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def needs(there: object, what: str) -> pytest.MarkDecorator:
    """A mark for what a machine may lack; with CI=true it has to be there, and the test fails by itself."""
    return pytest.mark.skipif(not there and os.environ.get("CI") != "true", reason=f"{what} is not installed")


@pytest.fixture(scope="session")
def netns() -> None:
    backend, why = lab.probe_backend()
    if backend != "netns":
        skip_or_fail(f"no lab of namespaces here: {why}")


@contextlib.contextmanager
def slurm_of(nodes: int) -> Iterator[lab.Lab]:
    """A lab with a real Slurm for the length of the block. Skips, or fails, where it can't be had."""
    try:
        made = lab.up(nodes, keep=True, name=f"slurm-{secrets.token_hex(3)}", with_slurm=True)
    except LabError as error:
        skip_or_fail(str(error))
    with made:
        yield made


@pytest.fixture
def lab_name() -> Iterator[str]:
    """A name that no other test has; whatever lab of that name is left is taken down."""
    name = f"test-{secrets.token_hex(4)}"
    yield name
    lab.down(name)


@pytest.fixture
def mark(netns: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Needs a lab of namespaces; whatever a test does, nothing of it may stay."""
    mark = secrets.token_hex(8)
    monkeypatch.setenv("WULF_TEST_MARK", mark)
    yield mark
    assert left(mark) == []


@pytest.fixture(scope="session")
def shared(netns: None) -> Iterator[Callable[[int], SharedLab]]:
    """Labs by their number of nodes, for tests that leave them as they were."""
    made: dict[int, SharedLab] = {}
    yield lambda nodes: made.setdefault(nodes, SharedLab(nodes))
    for each in made.values():
        each.close()


@pytest.fixture
def two_nodes(shared: Callable[[int], SharedLab], monkeypatch: pytest.MonkeyPatch) -> Iterator[lab.Lab]:
    """A running lab of n1 and n2 for `--lab`, held against what it was after the test; three and four nodes alike."""
    yield from _lent(shared(2), monkeypatch)


@pytest.fixture
def three_nodes(shared: Callable[[int], SharedLab], monkeypatch: pytest.MonkeyPatch) -> Iterator[lab.Lab]:
    yield from _lent(shared(3), monkeypatch)


@pytest.fixture
def four_nodes(shared: Callable[[int], SharedLab], monkeypatch: pytest.MonkeyPatch) -> Iterator[lab.Lab]:
    yield from _lent(shared(4), monkeypatch)


def _lent(one: SharedLab, monkeypatch: pytest.MonkeyPatch) -> Iterator[lab.Lab]:
    with one.lent() as made:
        monkeypatch.setenv("WULF_LAB", made.name)
        yield made


def settings(made: lab.Lab) -> list[tuple[lab.LabNode, bool]]:
    """What tests could change of a lab: its links, and whether its nodes run."""
    return [(node, made.is_up(node.name)) for node in made.nodes]


def ssh(made: lab.Lab, node: str, command: str) -> subprocess.CompletedProcess[str]:
    words = ["ssh", "-F", str(made.ssh_config), node, command]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)


def address(made: lab.Lab, node: str) -> str:
    return next(each.address for each in made.nodes if each.name == node)


def traces(name: str) -> list[str]:
    """What of the lab `name` is on this machine: its directory, and every process that belongs to it.

    A process belongs to it by its command line, by its environment, or by a mount of the lab's files.
    """
    found = [str(directory) for directory in Path("/").glob(f"{str(state.root())[1:]}/{name}*")]
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            for file in ("cmdline", "environ", "mountinfo"):
                with contextlib.suppress(OSError):
                    if name.encode() in (entry / file).read_bytes():
                        found.append(f"{entry.name}: {(entry / 'cmdline').read_bytes().decode(errors='replace')}")
                        break
    return found


def left_of(name: str) -> list[str]:
    """What there is of a lab that was taken down. A moment later: whoever makes one clears what others left, under its
    lock, whose file is there as long.
    """
    wait_until(lambda: traces(name) == [], PATIENCE_S)
    return traces(name)


def host_state() -> dict[str, str]:
    """All of the host that a lab must not touch, as the host's own tools show it."""
    commands = {
        "links": "ip -d -j link",
        "addresses": "ip -o addr show",
        "routes": "ip route show table all",
        "routes6": "ip -6 route show table all",
        "rules": "ip rule",
        "namespaces": "ip netns list",
        "firewall": "nft list ruleset",
        "queues": "tc qdisc",
    }
    hosts = Path("/etc/hosts")
    found = {"mounts": Path("/proc/self/mounts").read_text(), "hosts": hosts.read_text() if hosts.exists() else ""}
    for what, command in commands.items():
        if shutil.which(command.split()[0]):
            found[what] = subprocess.run(command.split(), capture_output=True, text=True, check=False).stdout
    settings = [*Path("/proc/sys/net/ipv4").glob("tcp_*"), *Path("/proc/sys/net/ipv6/conf/default").glob("*")]
    for setting in settings:
        with contextlib.suppress(OSError):
            found[str(setting)] = setting.read_text()
    return found


@pytest.fixture(scope="session")
def nobody(netns: None) -> Callable[[str], list[str]]:
    """Makes a command that runs Python code as a user without any rights."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root with setpriv can become another user")
    become = ["setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups"]
    become += ["env", "-i", f"PATH={os.environ['PATH']}", f"PYTHONPATH={SOURCES}", "PYTHONDONTWRITEBYTECODE=1"]
    for python in (sys.executable, "/usr/bin/python3.11", "/usr/bin/python3"):
        check = [*become, python, "-c", "import wulf.lab, pyroute2; print(*wulf.lab.probe_backend())"]
        tried = subprocess.run(check, capture_output=True, text=True, cwd="/", check=False)
        if tried.returncode == 0:
            if not tried.stdout.startswith("netns"):
                skip_or_fail(f"no lab for unprivileged users here: {tried.stdout}")
            return lambda code, python=python: [*become, python, "-c", code]
    skip_or_fail(f"no Python that user {UNPRIVILEGED} may run: {tried.stderr}")
    raise AssertionError


@pytest.fixture(scope="session")
def machines() -> Iterator[lab.Lab]:
    """Two virtual machines for all tests of them: minutes to boot."""
    from tests.lab.machines import two_machines

    yield from two_machines()


XHPL = """\
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 ] || exit 0
value() { sed -n "$1p" HPL.dat | cut -d' ' -f1; }
echo "HPLinpack 2.3  --  High-Performance Linpack benchmark"
time=$(awk -v n="$(value 6)" -v nb="$(value 8)" 'BEGIN {print (2 / 3 * n^3 + 3 / 2 * n^2) / (nb * 1e6)}')
echo "WR11C2R4 $(value 6) $(value 8) $(value 11) $(value 12) $time $(value 8).0e-03"
echo "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 0.005 ...... ${VERDICT:-PASSED}"
echo "End of Tests."
"""
"""Says of the HPL.dat in its folder a rate that follows from NB."""


@pytest.fixture
def xhpl(tmp_path: Path) -> Path:
    program = tmp_path / "xhpl"
    program.write_text(XHPL)
    program.chmod(0o755)
    return program

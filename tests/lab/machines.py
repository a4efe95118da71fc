"""A hardware lab for tests: what runs on its nodes, when they have booted, and how they look."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.lab.changing import Reached
from tests.lab.conftest import host_state, left_of, skip_or_fail
from wulf import lab
from wulf.agent.settings import mechanisms
from wulf.cluster.inventory import Inventory
from wulf.lab import disks, tools
from wulf.lab.qemu.lab import has_booted
from wulf.tune.catalogue import catalogue
from wulf.tune.values import request_of, with_networks
from wulf.workflow.tune import undo as tune_undo
from wulf.workflow.tune.result import differences

BOOT_S = 1200.0
"""Only a machine that hangs takes so long to boot, however it is emulated."""
PATIENCE = 600.0
"""Seconds: on a busy host, an emulated node needs many for what takes milliseconds."""
NETWORK = "10.77.0.0/24"
"""The cluster's."""
GIVEN = "WULF_LAB_MACHINES"
"""Names a running lab of two machines to try on, in place of one that boots for the tests: for who writes them."""


def two_machines() -> Iterator[lab.Lab]:
    """Two machines, which end with this process at the latest; the host is as before when they are gone."""
    given = lab.find(os.environ[GIVEN]) if GIVEN in os.environ else None
    if given is not None:
        yield given
        return
    missing = [name for name in ("qemu-system-x86_64", "qemu-img", "mmdebstrap", "ssh") if tools.find(name) is None]
    if missing or os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        skip_or_fail(f"no lab of virtual machines here: {', '.join(missing) or 'needs root and /dev/net/tun'}")
    before = host_state()
    with lab.up(2, backend="qemu", keep=False, say=print) as made:
        folder = disks.folder(made.state)
        yield made
    assert left_of(made.name) == []
    assert not folder.exists()
    assert host_state() == before


def ask(made: Reached, node: str, command: str) -> subprocess.CompletedProcess[str]:
    """A command on a node, for which an emulated one has its time."""
    words = ["ssh", "-F", str(made.ssh_config), node, command]
    return subprocess.run(words, capture_output=True, text=True, timeout=BOOT_S, stdin=subprocess.DEVNULL, check=False)


def run(made: Reached, node: str, command: str) -> str:
    done = ask(made, node, command)
    assert done.returncode == 0, f"{node}: {command}: {done.stderr}"
    return done.stdout.strip()


def put(made: Reached, node: str, content: bytes, path: str, mode: str = "0755") -> None:
    """Write a file on a node."""
    words = ["ssh", "-F", str(made.ssh_config), node, f"cat > {path} && chmod {mode} {path} && sync {path}"]
    subprocess.run(words, input=content, check=True, timeout=BOOT_S)


def boot_id(made: lab.Lab, node: str) -> str:
    """Of the boot that is under way; "" while the node doesn't answer."""
    return ask(made, node, "cat /proc/sys/kernel/random/boot_id").stdout.strip()


def await_boot(made: lab.Lab, node: str, before: str) -> None:
    """Until a node that was on `before` has booted anew, with all its services."""
    deadline = time.monotonic() + BOOT_S
    while boot_id(made, node) in ("", before):
        assert time.monotonic() < deadline, f"{node} doesn't come back"
        time.sleep(1)
    has_booted(made.state, node)


def dump(made: lab.Lab, *names: str) -> dict[str, dict[str, Any]]:
    """Every setting that can be written, of these nodes or of all, as campaigns read it; nothing is changed."""
    ways = mechanisms()
    known = [one for one in with_networks(catalogue(), [NETWORK]).values() if one.access != "report"]
    wanted = [request_of(one) for one in known if one.mechanism in ways]
    inventory = Inventory.from_lab(made)
    asked = replace(inventory, nodes=tuple(inventory.pick(names or inventory.names)))
    answers, failed = tune_undo.ask(asked, "settings", read=wanted)
    assert not failed, failed
    return {node: answer["settings"] for node, answer in answers.items()}


def assert_as_before(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> None:
    found = differences(before, after, [])
    assert found == [], found

"""Brings a lab of virtual machines up, cuts their power, and switches them on again."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from wulf.core.errors import LabError
from wulf.lab import disks, login, netns
from wulf.lab.login import Node
from wulf.lab.state import INSIDE, alive, identify, kill

from . import image, machine, programs, recipe, seed
from .image import Image, Progress
from .machine import Guest
from .recipe import Recipe

READY_S = {machine.KVM: 300.0, machine.EMULATION: 1200.0}
"""As long as a node may take to boot: only one that hangs takes so long."""
SSH_FAILED = 255
_PATIENT_SSH = "  ServerAliveInterval 20\n  KexAlgorithms curve25519-sha256\n"
"""An emulated node on a busy host may be silent for ten seconds, and take as long for the newest exchange of keys."""
CONTROLLER = "10.78.0.254"
SWITCH_MTU = 9216
"""Bytes: the longest that an e1000e can send; a switch of the real world that takes jumbo frames takes these."""
_CONTROLLER_MTU = 1500


def bring_up(
    state: Path,
    data: dict[str, Any],
    nodes: Sequence[Node],
    controller: Sequence[str],
    *,
    wire: netns.Wire,
    say: Progress,
) -> netns.Nursery:
    """Start the lab that `data` (lab.json) describes, and note in it what has been started.

    Every node has booted and answers to ssh when this returns; nothing runs when it raises LabError.
    """
    _check(len(nodes))
    wanted = recipe.read()
    built = image.ensure(wanted, say)
    accelerator, why = machine.choose(built)
    data["machines"] = {"image": str(built.folder), "accelerator": accelerator}
    data["note"] = note(accelerator, why)
    seed.prepare(state, nodes)
    _make_disks(state, nodes, built)
    nursery = netns.Nursery(state, [], own_user=False, keep=data["owner"] is None, sshd="-")
    with netns.abandoned_on_error(nursery):
        nursery.await_init()
        data["init"] = nursery.init
        _wire(wire, data["init"]["pid"], nodes, controller)
        login.write_client_config(state, seed.ways(nodes), False, data["init"], first=_PATIENT_SSH)
        nursery.release()
        say(f"starting {len(nodes)} virtual machines: {why}")
        for number, node in enumerate(data["nodes"], 1):
            node["process"] = _start(state, data, number, node, wanted)
        await_ready(state, data, [node["name"] for node in data["nodes"]], say)
    return nursery


def note(accelerator: str, why: str) -> str:
    """What a user should know of this lab's figures."""
    if accelerator == machine.KVM:
        return "qemu: virtual machines with KVM; they share this host's CPUs"
    return (
        f"qemu: virtual machines in software emulation ({why}): settings act as on a real node, "
        "but times are those of an emulator"
    )


def _check(count: int) -> None:
    """LabError where this user or this machine can't have such a lab."""
    if os.geteuid() != 0:
        raise LabError(
            "a lab of virtual machines needs root: it builds a Debian, and opens /dev/net/tun",
            "Run it with sudo, or use a lab of namespaces, which needs none: `--backend netns`.",
        )
    for name in ("qemu-system-x86_64", "qemu-img", "ssh"):
        programs.require(name)
    wanted, free = count * recipe.read().memory_bytes, _free_memory()
    if wanted > free:
        raise LabError(
            f"{count} virtual machines need {wanted >> 20} MiB of memory, and {free >> 20} MiB are free here",
            "Use fewer --nodes.",
        )


def _free_memory() -> int:
    """Bytes that programs can have without swapping: MemAvailable of proc(5)."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]) * 1024


def _make_disks(state: Path, nodes: Sequence[Node], built: Image) -> None:
    """A disk for each node that holds only what differs from the image."""
    folder = disks.make(state, recipe.cache() / "disks")
    program = programs.require("qemu-img")
    for node in nodes:
        words = [program, "create", "-q", "-f", "qcow2", "-F", "raw", "-b", built.disk, folder / f"{node.name}.qcow2"]
        made = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise LabError(f"{node.name}: can't make its disk in {folder}: {made.stderr.strip()}")


def _wire(wire: netns.Wire, init: int, nodes: Sequence[Node], controller: Sequence[str]) -> None:
    """Two switches, to each of which the controller belongs, and a port for every card."""
    switches = [
        {"name": name, "addresses": list(addresses), "mtu": _CONTROLLER_MTU}
        for name, addresses in (("br0", controller), ("br1", (CONTROLLER,)))
    ]
    guests = [_guest(Path(), number, node.name) for number, node in enumerate(nodes, 1)]
    ports = [{"name": guest.port, "switch": "br0", "mtu": SWITCH_MTU} for guest in guests]
    ports += [{"name": guest.management_port, "switch": "br1", "mtu": _CONTROLLER_MTU} for guest in guests]
    wire.request(op="taps", init=init, switches=switches, ports=ports)


def _guest(state: Path, number: int, name: str, boot_line: str = "") -> Guest:
    folder = state / "nodes" / name
    disk = disks.folder(state) / f"{name}.qcow2"
    return Guest(number, name, disk, folder / "seed", folder / "console.log", boot_line)


def _start(state: Path, data: dict[str, Any], number: int, node: dict[str, Any], wanted: Recipe) -> dict[str, Any]:
    """Start one machine as a child of the lab's first process: {"pid", "start"}."""
    name, guest = node["name"], _guest(state, number, node["name"], node.get("boot_line", ""))
    built, accelerator = Image(Path(data["machines"]["image"])), data["machines"]["accelerator"]
    program = programs.require("qemu-system-x86_64")
    command = machine.command(program, built, wanted, guest, accelerator)
    init = data["init"]
    words = [sys.executable, "-I", "-S", INSIDE, "daemon", init["pid"], init["start"], _log(state, name), "-", *command]
    started = subprocess.run(
        [str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", check=False
    )
    try:
        if started.returncode != 0:
            raise ProcessLookupError(started.stderr.strip())
        return identify(int(started.stdout))
    except ProcessLookupError as error:
        raise LabError(f"{name}: its virtual machine can't start: {last_words(state, name) or error}") from error


def await_ready(
    state: Path,
    data: dict[str, Any],
    names: Sequence[str],
    say: Progress,
    *,
    clock: Callable[[], float] = time.monotonic,
    ask: Callable[[Path, str], int] | None = None,
) -> None:
    """Until each of the nodes `names` has booted and answers to ssh; LabError for the first that doesn't, with why."""
    started, missing = clock(), list(names)
    deadline = started + READY_S[data["machines"]["accelerator"]]
    processes = {node["name"]: node["process"] for node in data["nodes"]}
    while missing:
        for name in list(missing):
            if not alive(processes[name]):
                raise LabError(f"{name}: its virtual machine has ended while it booted: {last_words(state, name)}")
            if (ask or has_booted)(state, name) != SSH_FAILED:
                missing.remove(name)
                say(f"{name} has booted after {clock() - started:.0f} s")
        if missing and clock() > deadline:
            seconds = clock() - started
            raise LabError(f"{missing[0]} doesn't answer after {seconds:.0f} s: {last_words(state, missing[0])}")


def has_booted(state: Path, name: str) -> int:
    """Ask a node over ssh whether all its services have started, and wait for them; SSH_FAILED while none answers.

    A service that failed is the node's matter, and none of ours: any other status will do.
    """
    words = ["ssh", "-F", state / "ssh_config", "-o", "ConnectTimeout=5", name, "systemctl is-system-running --wait"]
    return subprocess.run(
        [str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, check=False
    ).returncode


def last_words(state: Path, name: str) -> str:
    """The ends of a node's console and of what QEMU said, for a message."""
    found = []
    for log in (_log(state, name), state / "nodes" / name / "console.log"):
        with contextlib.suppress(OSError):
            found += log.read_text(errors="replace").splitlines()[-2:]
    return " / ".join(line.strip() for line in found if line.strip())


def _log(state: Path, name: str) -> Path:
    return state / "nodes" / name / "qemu.log"


def power_cut(process: dict[str, Any]) -> None:
    """SIGKILL for a virtual machine: what it had not flushed to its disk is lost, and no farewell leaves it."""
    kill(process)


def power_on(state: Path, data: dict[str, Any], node: dict[str, Any], boot_line: str | None, say: Progress) -> None:
    """Start a node that is off, from its disk, and note its new process; it has booted when this returns.

    A `boot_line` takes the place of the words that its kernel's command line has had beside the lab's own.
    """
    if boot_line is not None:
        node["boot_line"] = boot_line
    number = 1 + [other["name"] for other in data["nodes"]].index(node["name"])
    node["process"] = _start(state, data, number, node, recipe.read())
    await_ready(state, data, [node["name"]], say)

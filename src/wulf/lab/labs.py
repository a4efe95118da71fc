"""A lab as the rest of wulf sees it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wulf.core.errors import LabError

from . import emulate, emulation, linker, netns, qemu, rates, slurm, state

SECOND = "10.78.0.{}"
"""Addresses of the second network, by the node's number."""

_nurseries: dict[str, netns.Nursery] = {}
"""Ephemeral labs of this process, held open by it."""


@dataclass(frozen=True)
class LabNode:
    """One node. `rate` is its link's, as tc writes it, or None for an unshaped link; `address6` None without IPv6.

    `link` is None for a plain link, else what an emulator does to it (`wulf.lab.emulation`), and `link_alive` whether
    that emulator still runs. `second` is its address on the lab's second network, where it has one.
    """

    name: str
    address: str
    address6: str | None
    rate: str | None
    link: dict[str, Any] | None = None
    link_alive: bool = True
    second: str | None = None

    @property
    def emulation(self) -> str:
        """What an emulator does to its link, for people; "" for a plain one."""
        return emulation.show_link(self.link)


class Lab:
    """A lab that is up. As a context manager, it is taken down at the end.

    Attributes
    ----------
    name, backend
        `backend` is "netns", "qemu" or "loopback".
    ssh_config
        For `ssh -F`; None with loopback.
    state
        Directory of its files.
    note
        What the user should be told about this lab, or None.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data
        self.name: str = data["name"]
        self.backend: str = data["backend"]
        self.note: str | None = data["note"]
        self.state: Path = state.root() / self.name
        self.ssh_config: Path | None = None if self.backend == "loopback" else self.state / "ssh_config"

    def __repr__(self) -> str:
        return f"<Lab {self.name}: {len(self.nodes)} nodes, {self.backend}>"

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        self.down()

    @property
    def nodes(self) -> tuple[LabNode, ...]:
        """Its nodes, in order."""
        running = linker.is_alive(self._data.get("linker"))
        return tuple(_lab_node(node, running) for node in self._data["nodes"])

    @property
    def second_rate(self) -> str | None:
        """The rate of the second network's links, "none" where they have no limit; None without such a network."""
        rate: str | None = self._data.get("second_rate")
        return rate

    @property
    def owner(self) -> int | None:
        """The process with which an ephemeral lab ends; None for one that stays until it is taken down."""
        return int(self._data["owner"]["pid"]) if self._data["owner"] else None

    def is_up(self, node: str) -> bool:
        """Whether a node's first process still runs."""
        return state.alive(self._node(node)["process"])

    @property
    def emulator_adds(self) -> dict[str, Any] | None:
        """What wulf-link measured itself to add to a frame's way over one link at zero setting: `value`, `low` and
        `high` in seconds (median and its 95 % interval). None in a lab without it.
        """
        process = self._data.get("linker")
        return process["added"] if process else None

    @property
    def slurm(self) -> dict[str, str] | None:
        """Each node's state as the lab's Slurm has it ("idle", "allocated"; "unknown" when it doesn't answer); None in
        a lab without one.
        """
        return slurm.states(self._data) if self._data.get("slurm") else None

    def link_traffic(self) -> dict[str, Any] | None:
        """What wulf-link has done so far: "links", each with settings and counts of frames by direction, and "late", by
        how many seconds frames that were made to wait left too late (null before the first). None in a lab without it,
        or when it has ended.
        """
        if not linker.is_alive(self._data.get("linker")):
            return None
        answer = linker.request(self.state, "status")
        return {name: answer[name] for name in ("links", "late")}

    def set_link(
        self, node: str, options: Mapping[str, str], *, direction: str = "both", emulator: str | None = None
    ) -> None:
        """Change what a node's link does to frames, while traffic flows.

        Parameters
        ----------
        options
            delay, jitter, rate, queue, loss, duplicate, reorder, mtu, moderate, as people write them ("50us", "0.1%");
            "none" takes one back. What isn't named stays.
        direction
            "out" of the node, "in" to it, or "both".
        emulator
            "link" (wulf-link), "netem", or "none" for a plain link; None: as it is, wulf-link where one is needed.

        Raises
        ------
        LabError
            An option is malformed or refused, the node unknown, or the backend can't; then all is as before.
        """
        self._node(node)
        values = emulation.parse(options, node)
        self._check_has_links(node, "emulate a link")
        with state.lock(self.name), netns.Wire() as wire:
            self._data = state.load(self.name) or self._data
            found = self._living_node(node)
            before, rate = found.get("link"), rates.parse(found["rate"] or "none", node)
            link = emulation.change(before, values, node=node, rate=rate, direction=direction, emulator=emulator)
            if link or before:
                try:
                    emulate.apply(wire, self.state, self._data, found, link)
                finally:  # a wulf-link that has been started is to be known, whatever came after
                    state.save(self.state, self._data)
        if not link and (before or "rate" in values):
            self.set_rate(node, options.get("rate", emulation.common_rate(before)))

    def set_rate(self, node: str, rate: str | None) -> None:
        """Shape both directions of a node's link to `rate` (as tc writes it); None or "none" for no limit.

        LabError where the rate is malformed or refused, the node unknown, or the backend can't; then all is as before.
        """
        self._node(node)
        bits = rates.parse(rate or "none", node)
        if self._node(node).get("link"):
            self.set_link(node, {"rate": rate or "none"})
            return
        self._check_has_links(node, "set a rate")
        with state.lock(self.name), netns.Wire() as wire:
            self._data = state.load(self.name) or self._data  # another process may have set a rate since
            found = self._living_node(node)
            before = rates.parse(found["rate"] or "none", node)
            cable = {"name": node, "pid": found["process"]["pid"]}
            netns.shape(wire, self._data["init"]["pid"], cable, bits, before=before)
            found["rate"] = None if bits is None else rates.show(bits)
            state.save(self.state, self._data)

    def add_network(self, rate: str) -> None:
        """A second network beside the first: to each node one more link, eth1, of that rate ("100mbit", "none").

        LabError where the rate is malformed or refused, where there are two already, or where the backend can't.
        """
        names = [node["name"] for node in self._data["nodes"]]
        bits = rates.parse(rate, names[0])
        self._check_has_links(names[0], "have a second network")
        with state.lock(self.name), netns.Wire() as wire:
            self._data = state.load(self.name) or self._data
            if self.second_rate is not None:
                raise LabError(f"the lab {self.name!r} has a second network already")
            nodes = [self._living_node(name) for name in names]
            init = self._data["init"]["pid"]
            cables = [{"name": name, "pid": node["process"]["pid"], "addresses": [SECOND.format(i)]}
                      for i, (name, node) in enumerate(zip(names, nodes, strict=True), 1)]  # fmt: skip
            wire.request(op="build", init=init, network=1, controller=[], nodes=cables)
            for cable in cables if bits is not None else ():
                netns.shape(wire, init, cable, bits, before=None, network=1)
            for node, cable in zip(nodes, cables, strict=True):
                node["second"] = cable["addresses"][0]
            self._data["second_rate"] = "none" if bits is None else rates.show(bits)
            state.save(self.state, self._data)

    def exec(self, node: str, argv: Sequence[str]) -> int:
        """Run a command on a node, in /, with our standard streams; returns its exit status (128 + n for signal n)."""
        if not argv:
            raise LabError(f"{node}: no command to run", "Give one after --: `wulf lab exec n1 -- hostname`.")
        process = self._living_node(node)["process"]
        if process is None:
            return _run_here(argv)
        if self.backend == "qemu":
            return _run_by_ssh(self.state / "ssh_config", node, argv)
        words = [sys.executable, "-I", "-S", str(state.INSIDE), "enter", str(process["pid"]), process["start"]]
        return subprocess.call([*words, *argv])

    def kill_node(self, node: str) -> None:
        """Cut a node's power: its link goes dead without a farewell, then all its processes. For tests of failure.

        The disk of a virtual machine stays, for `power_on`.
        """
        process = self._living_node(node)["process"]
        if process is None:
            raise LabError(f"{node}: a loopback node can't be killed", "Use a lab of namespaces (netns).")
        if self.backend == "qemu":
            qemu.power_cut(process)
        else:
            netns.pull_plug(self._data["init"]["pid"], node, process)

    def power_on(self, node: str, *, boot_line: str | None = None, say: Callable[[str], None] = lambda _: None) -> None:
        """Switch a virtual machine on that is off; it has booted from its disk when this returns. `say` hears of it.

        A `boot_line` ("isolcpus=1") is added to its kernel's command line, from now on, in the place of an earlier one;
        None leaves that as it is. LabError where it is on already, where it doesn't boot, or where the lab's nodes are
        no machines.
        """
        if self.backend != "qemu":
            raise LabError(
                f"{node}: can't be switched on: it is no machine of its own",
                "Use a lab of virtual machines (`wulf lab up --backend qemu`).",
            )
        with state.lock(self.name):
            self._data = state.load(self.name) or self._data
            found = self._node(node)
            if state.alive(found["process"]):
                raise LabError(f"{node}: it is on already", f"`wulf lab exec {node} -- reboot` boots it anew.")
            try:
                qemu.power_on(self.state, self._data, found, boot_line, say)
            finally:  # a machine that has been started is to be known, whatever came after
                state.save(self.state, self._data)

    def down(self) -> None:
        """Take the lab down; nothing of it is left. Does nothing when it is down already."""
        remove(self.name)

    def _check_has_links(self, node: str, what: str) -> None:
        if self.backend == "loopback":
            raise LabError(
                f"{node}: can't {what}: loopback nodes share one network", "Use a lab of namespaces (netns)."
            )
        if self.backend == "qemu":
            raise LabError(
                f"{node}: can't {what}: a virtual machine's link is as its card makes it",
                f"`wulf lab exec {node} -- tc …` and `ethtool …` change it, or use a lab of namespaces (netns).",
            )

    def _node(self, name: str) -> dict[str, Any]:
        nodes: list[dict[str, Any]] = self._data["nodes"]
        for node in nodes:
            if node["name"] == name:
                return node
        raise LabError(
            f"the lab {self.name!r} has no node {name!r}", f"It has {nodes[0]['name']} to {nodes[-1]['name']}."
        )

    def _living_node(self, name: str) -> dict[str, Any]:
        node = self._node(name)
        if not state.alive(node["process"]) or not state.alive(self._data["init"]):
            fresh = "`wulf lab down`, then `wulf lab up`, make a fresh lab."
            raise LabError(
                f"{name}: the node is down",
                f"`wulf lab power-on {name}` starts it." if self.backend == "qemu" else fresh,
            )
        return node


def _lab_node(node: dict[str, Any], running: bool) -> LabNode:
    link = node.get("link")  # a lab that an earlier wulf has made has none
    rate = emulation.common_rate(link) if link else node["rate"]
    dead = link is not None and link["emulator"] == "link" and not running
    return LabNode(node["name"], node["address"], node["address6"], rate, link, not dead, node.get("second"))


def _run_here(argv: Sequence[str]) -> int:
    """A command on a loopback node: on this machine, with a shell's exit status."""
    try:
        status = subprocess.call(list(argv), cwd="/")
    except OSError as error:
        print(f"can't run {argv[0]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126
    return status if status >= 0 else 128 - status


def _run_by_ssh(config: Path, node: str, argv: Sequence[str]) -> int:
    """A command on a virtual machine, with a terminal where ours is one; 255 also where the node doesn't answer."""
    terminal = ["-t"] if sys.stdin.isatty() and sys.stdout.isatty() else []
    return subprocess.call(["ssh", *terminal, "-F", str(config), node, f"cd /; {shlex.join(argv)}"])


def hold(name: str, nursery: netns.Nursery) -> None:
    """Keep an ephemeral lab for as long as this process lives."""
    _nurseries[name] = nursery


def remove(name: str) -> bool:
    """Take the lab `name` down, or clear what is left of it. Whether there was anything."""
    with state.lock(name):
        data = state.load(name)
        if data and data["init"]:
            state.kill(data["init"])
        found = state.clear(name)
    nursery = _nurseries.pop(name, None)
    if nursery:
        nursery.control.close()
    return found or data is not None

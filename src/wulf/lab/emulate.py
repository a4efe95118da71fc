"""Carries an emulated link out: wulf-link between two TAP devices, netem on a veth pair, or a plain veth pair again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wulf.core.errors import LabError

from . import linker, netns
from .emulation import Direction, Link
from .state import alive

DEFAULT_MTU = 1500


def apply(wire: netns.Wire, directory: Path, data: dict[str, Any], node: dict[str, Any], link: Link | None) -> None:
    """Make the link of `node` what `link` says, and note it in `data`, which is lab.json of a living lab.

    Raises
    ------
    LabError
        The kernel or wulf-link refused it; devices that were to be replaced are still there.
    """
    lab = _Lab(wire, directory, data)
    if link and link["emulator"] == "link":
        lab.emulate(node, link)
    elif link:
        lab.use_netem(node, link)
    elif node.get("link"):
        lab.make_plain(node)
    if link:
        node["rate"] = None  # tbf shapes nothing here
    node["link"] = link


class _Lab:
    """What all of these need: the wire, and the lab's files and description."""

    def __init__(self, wire: netns.Wire, directory: Path, data: dict[str, Any]) -> None:
        self._wire, self._directory, self._data = wire, directory, data

    def emulate(self, node: dict[str, Any], link: Link) -> None:
        if not linker.is_alive(self._data.get("linker")):
            self._data["linker"] = linker.start(self._directory, self._data["init"])
            for other in self._data["nodes"]:  # those that the one before has left dead
                if _uses_linker(other.get("link")) and other is not node and alive(other["process"]):
                    self._attach(other, other["link"])
            self._attach(node, link)
        elif _uses_linker(node.get("link")):
            self._request("resize", node, mtu=_mtu(link))
            self._set(node, link)
        else:
            self._attach(node, link)

    def _attach(self, node: dict[str, Any], link: Link) -> None:
        """TAP devices in the place of what is there now. They get their setting first: no frame goes without it."""
        device = f"tap-{node['name']}"
        ends = {
            end: {"netns": f"/proc/{pid}/ns/net", "device": device}
            for end, pid in (("node", node["process"]["pid"]), ("port", self._data["init"]["pid"]))
        }
        linker.request(self._directory, "open", name=node["name"], **ends)
        try:
            self._set(node, link)
            self._plug(node, device, _mtu(link))
        except LabError:
            linker.request(self._directory, "close", name=node["name"])
            raise

    def _set(self, node: dict[str, Any], link: Link) -> None:
        for side in ("out", "in"):
            linker.request(self._directory, "set", name=node["name"], direction=side, params=_line(link[side]))

    def use_netem(self, node: dict[str, Any], link: Link) -> None:
        if _uses_linker(node.get("link")):
            self._replace_taps(node, _mtu(link))
        try:
            self._request("netem", node, **{side: _netem(link[side]) for side in ("out", "in")})
        except LabError as error:
            if _uses_linker(node.get("link")):
                self._attach(node, node["link"])
            raise LabError(
                f"{node['name']}: can't use netem: {error.what}",
                "Use `--emulator link`: wulf-link needs TAP devices alone. Or load the module sch_netem.",
            ) from error
        self._request("resize", node, mtu=_mtu(link))

    def make_plain(self, node: dict[str, Any]) -> None:
        """A fresh veth pair, without any queue; tbf shapes it later, where it is to."""
        if _uses_linker(node.get("link")):
            self._replace_taps(node, _mtu(None))
        else:
            self._plug(node, None, _mtu(None))

    def _replace_taps(self, node: dict[str, Any], mtu: dict[str, int]) -> None:
        self._plug(node, None, mtu)
        if linker.is_alive(self._data.get("linker")):
            linker.request(self._directory, "close", name=node["name"])

    def _plug(self, node: dict[str, Any], device: str | None, mtu: dict[str, int]) -> None:
        addresses = [address for address in (node["address"], node["address6"]) if address]
        answer = self._request("plug", node, device=device, mtu=mtu, addresses=addresses, mac=node.get("mac"))
        node["mac"] = answer["mac"]

    def _request(self, op: str, node: dict[str, Any], **fields: Any) -> dict[str, Any]:
        of_node: dict[str, Any] = {name: fields.pop(name) for name in ("addresses", "mac") if name in fields}
        cable = {"name": node["name"], "pid": node["process"]["pid"], **of_node}
        return self._wire.request(op=op, init=self._data["init"]["pid"], node=cable, **fields)


def _uses_linker(link: Link | None) -> bool:
    return link is not None and link["emulator"] == "link"


def _mtu(link: Link | None) -> dict[str, int]:
    return {side: int(link[side].get("mtu", DEFAULT_MTU)) if link else DEFAULT_MTU for side in ("out", "in")}


def _line(side: Direction) -> dict[str, float | None]:
    """What wulf-link's `set` takes; its integers must be integers."""
    return {name: int(value) if name in ("queue", "mtu") else value for name, value in side.items()}


def _netem(side: Direction) -> dict[str, float | str]:
    """As pyroute2 takes tc-netem(8): times in µs, shares in per cent."""
    options: dict[str, float | str] = {"delay": round(side.get("delay", 0) * 1e6)}
    options["jitter"] = round(side.get("jitter", 0) * 1e6)
    for name, theirs in (("loss", "loss"), ("duplicate", "duplicate"), ("reorder", "prob_reorder")):
        options[theirs] = side.get(name, 0) * 100
    if "queue" in side:
        options["limit"] = int(side["queue"])
    if "rate" in side:
        options["rate"] = f"{round(side['rate'])}bit"
    return options

"""Make, find and remove labs; choose what this machine and this user allow."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wulf.core.errors import LabError

from . import emulate, emulation, labs, netns, qemu, rates, slurm, state, tools
from .emulation import Link
from .labs import Lab

MOST_NODES = 200
CONTROLLER, CONTROLLER6 = "10.77.0.254", "fd77::254"
BACKENDS = ("netns", "qemu", "loopback")


@dataclass(frozen=True)
class Choice:
    """A backend, whether it needs a user namespace of its own, and why it was chosen."""

    backend: str
    own_user: bool
    why: str


def up(
    nodes: int = 4,
    *,
    rate: str | None = None,
    name: str | None = None,
    backend: str | None = None,
    keep: bool = True,
    rates: Mapping[str, str] | None = None,
    link: Mapping[str, str] | None = None,
    emulator: str | None = None,
    with_slurm: bool = False,
    second: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Lab:  # of what a lab can be made; each has a default
    """Bring a lab up; every node answers to ssh when this returns.

    Parameters
    ----------
    nodes
        How many, n1 to nN; 200 at most.
    rate, rates
        Rate of every link, and of single nodes' links, as tc writes it ("200mbit").
    name
        Default: WULF_LAB, or "lab"; an ephemeral lab without a name gets one that nobody has.
    backend
        "netns", "qemu", "loopback", or None: what is possible here of the first and the last.
    keep
        False: the lab ends with this process, however that ends.
    link, emulator
        What every link does to frames, as `Lab.set_link` takes it: {"delay": "50us"}.
    with_slurm
        With a scheduler of its own; every node is idle there when this returns.
    second
        Rate of a second network's links, "none" for no limit; None: there is no second network.
    say
        Progress callback, called with a line for each slow step: an image that is built, machines that boot.

    Raises
    ------
    LabError
        Nothing of the lab is left then.
    """
    if not 1 <= nodes <= MOST_NODES:
        raise LabError(f"a lab can't have {nodes} nodes (limits: 1 to {MOST_NODES})")
    if backend not in (None, *BACKENDS):
        raise LabError(f"there is no backend {backend!r}", f"Choose one of {', '.join(BACKENDS)}.")
    wanted = _wanted_rates([f"n{i}" for i in range(1, nodes + 1)], rate, rates or {})
    links = _wanted_links([f"n{i}" for i in range(1, nodes + 1)], wanted, link or {}, emulator)
    name = state.check_name(name or (state.default_name() if keep else f"tmp-{os.getpid()}-{secrets.token_hex(3)}"))
    try:
        made = _up(name, nodes, wanted, links, backend=backend, keep=keep, with_slurm=with_slurm, say=say)
        if second is not None:
            _add_network(made, second)
        return made
    except OSError as error:
        subject = error.filename or "the lab's state"
        raise LabError(f"can't bring the lab {name!r} up: {subject}: {error.strerror or error}") from error


def _add_network(made: Lab, rate: str) -> None:
    try:
        made.add_network(rate)
    except BaseException:
        made.down()
        raise


def _up(
    name: str,
    count: int,
    wanted: dict[str, int],
    links: dict[str, Link],
    *,
    backend: str | None,
    keep: bool,
    with_slurm: bool,
    say: Callable[[str], None],
) -> Lab:
    state.clear_stale()
    if with_slurm:
        slurm.check()
    with state.lock(name):
        if state.load(name) is not None:
            raise LabError(f"the lab {name!r} is up already", "`wulf lab down` first, or choose another --name.")
        try:
            with netns.Wire() as wire:
                choice = _choose(backend, wire)
                _check_possible(choice, backend, wanted, links, with_slurm=with_slurm)
                data = _describe(name, count, wanted, choice, keep)
                data["slurm"] = with_slurm
                directory = state.root() / name
                state.make_private(directory)
                nursery = _start(directory, data, wanted, wire, say) if choice.backend != "loopback" else None
                for node in data["nodes"]:
                    if node["name"] in links:
                        emulate.apply(wire, directory, data, node, links[node["name"]])
                if with_slurm:
                    slurm.start(directory, data, CONTROLLER)
                state.save(directory, data)
            if nursery and keep:  # last of all: whoever is interrupted before has no lab
                nursery.keep()
            elif nursery:
                labs.hold(name, nursery)
        except BaseException:
            state.clear(name)
            raise
    return Lab(data)


def _check_possible(
    choice: Choice, asked: str | None, wanted: dict[str, int], links: dict[str, Link], *, with_slurm: bool
) -> None:
    """LabError where the lab can't have the rates, the links or the Slurm that are asked for."""
    if choice.backend == "qemu" and (wanted or links or with_slurm):
        raise LabError(
            "can't shape or emulate links, or start Slurm, in a lab of virtual machines: it is for their cards",
            "Leave that out, or use a lab of namespaces (netns).",
        )
    if choice.backend == "loopback" and asked == "loopback" and wanted:
        raise LabError(f"{min(wanted)}: can't set a rate: loopback nodes share one network", "Leave --rate out.")
    if choice.backend == "loopback" and links:
        raise LabError(f"can't emulate links: loopback nodes share one network ({choice.why})", "Leave that out.")
    if with_slurm and (choice.backend == "loopback" or choice.own_user):
        raise LabError(
            f"can't start Slurm in a lab of this kind ({choice.why}): it needs namespaces and real root",
            "Leave --slurm out, or run it as root on a machine that allows namespaces.",
        )


def _wanted_rates(names: list[str], rate: str | None, single: Mapping[str, str]) -> dict[str, int]:
    """Bits per second of every link to be shaped."""
    for name in single:
        if name not in names:
            raise LabError(f"the lab would have no node {name!r}, whose rate is given", f"It has n1 to {names[-1]}.")
    asked = {name: single.get(name, rate) for name in names}
    parsed = {name: rates.parse(text, name) for name, text in asked.items() if text is not None}
    return {name: bits for name, bits in parsed.items() if bits is not None}


def _wanted_links(
    names: list[str], wanted: dict[str, int], options: Mapping[str, str], emulator: str | None
) -> dict[str, Link]:
    """Every link to be emulated; their rates are no longer `wanted` of tbf."""
    links = {}
    for name in names:
        link = emulation.change(
            None, emulation.parse(options, name), node=name, rate=wanted.get(name), emulator=emulator
        )
        if link:
            links[name] = link
            wanted.pop(name, None)
    return links


def _describe(name: str, count: int, wanted: dict[str, int], choice: Choice, keep: bool) -> dict[str, Any]:
    """lab.json, but for the processes that aren't there yet."""
    networked = choice.backend != "loopback"
    ipv6 = Path("/proc/net/if_inet6").exists()
    nodes = [
        {
            "name": f"n{i}",
            "address": f"10.77.0.{i}" if networked else "127.0.0.1",
            "address6": (f"fd77::{i}" if networked else "::1") if ipv6 else None,
            "rate": rates.show(wanted[f"n{i}"]) if networked and f"n{i}" in wanted else None,
            "link": None,
            "mac": None,
            "process": None,
        }
        for i in range(1, count + 1)
    ]
    return {
        "version": 1,
        "name": name,
        "backend": choice.backend,
        "own_user": choice.own_user,
        "note": None if networked else _loopback_note(choice.why, wanted),
        "owner": None if keep else state.identify(os.getpid()),
        "init": None,
        "linker": None,
        "nodes": nodes,
    }


def _loopback_note(why: str, wanted: dict[str, int]) -> str:
    text = f"loopback: the nodes are only names on 127.0.0.1 of this machine ({why})"
    if wanted:
        lost = ", ".join(f"{name} to {rates.show(bits)}" for name, bits in wanted.items())
        text += f"; links can't be shaped, so that these are not: {lost}"
    return text


def _start(
    directory: Path, data: dict[str, Any], wanted: dict[str, int], wire: netns.Wire, say: Callable[[str], None]
) -> netns.Nursery:
    """Start the namespaces or the virtual machines, and note their processes in `data`."""
    nodes = Lab(data).nodes
    controller = [CONTROLLER] + ([CONTROLLER6] if nodes[0].address6 else [])
    if data["backend"] == "qemu":
        return qemu.bring_up(directory, data, nodes, controller, wire=wire, say=say)
    if data["slurm"]:
        slurm.prepare(directory, nodes, CONTROLLER)
    nursery = netns.bring_up(
        directory, nodes, controller, wanted, own_user=data["own_user"], keep=data["owner"] is None, wire=wire
    )
    data["init"] = nursery.init
    for node in data["nodes"]:
        node["process"] = state.identify(nursery.pids[node["name"]])
    return nursery


def find(name: str | None = None) -> Lab | None:
    """The running lab `name` (default: WULF_LAB, or "lab"), or None."""
    data = state.load(state.check_name(name or state.default_name()))
    return Lab(data) if data else None


def all_labs() -> list[Lab]:
    """Every lab of this user that is up."""
    return [Lab(data) for data in map(state.load, state.names()) if data]


def down(name: str | None = None) -> bool:
    """Take a lab down, and clear what dead labs of this user have left. Whether there was anything of `name`."""
    found = labs.remove(state.check_name(name or state.default_name()))
    state.clear_stale()
    return found


def down_all() -> list[str]:
    """Take every lab of this user down; returns their names."""
    names = sorted({*state.names(), *(name for name, _ in state.processes())})
    return [name for name in names if labs.remove(name)]


def probe_backend() -> tuple[str, str]:
    """The backend that `up` would take here, and why: by trying, not by asking who we are."""
    with netns.Wire() as wire:
        choice = _choose(None, wire)
    return choice.backend, choice.why


def _choose(backend: str | None, wire: netns.Wire) -> Choice:
    """LabError where `backend` is asked for and not possible."""
    if backend == "loopback":
        return Choice("loopback", False, "as asked")
    if backend == "qemu":
        return Choice("qemu", False, "as asked")
    missing = tools.missing()
    if missing:
        if backend == "netns":
            tools.require(missing[0])
        return Choice("loopback", False, f"{', '.join(missing)} not installed")
    refused = []
    for own_user, why in ((False, "root"), (True, "unprivileged user namespaces")):
        if not own_user and os.geteuid() != 0:
            continue
        answer = wire.request(op="probe", own_user=own_user)
        if answer["possible"]:
            return Choice("netns", own_user, why)
        refused.append(f"{why}: {answer['why']}")
    why = "namespaces are not allowed here: " + "; ".join(refused) + _restriction()
    if backend == "netns":
        raise LabError(why, "Run as root, allow user namespaces, or use `--backend loopback`.")
    return Choice("loopback", False, why)


def _restriction() -> str:
    """Which known switch of the kernel forbids user namespaces, as text to append."""
    for path, forbidding in (
        ("kernel/apparmor_restrict_unprivileged_userns", "1"),
        ("kernel/unprivileged_userns_clone", "0"),
        ("user/max_user_namespaces", "0"),
    ):
        file = Path("/proc/sys") / path
        if file.exists() and file.read_text().strip() == forbidding:
            return f"; {path.replace('/', '.')} is {forbidding}"
    return ""

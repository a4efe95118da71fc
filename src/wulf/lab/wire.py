"""The lab's network, made over netlink from within its namespaces: a bridge, a link to each node, shaped by tbf.

Run as a program (`python -m wulf.lab.wire`) it is a session: one JSON object a line in, one out. Each request is
carried out by a child that enters the lab; the session itself stays outside, and ends when its stdin does. It is a
process of its own because entering a user namespace takes one with a single thread, and a lab's processes stay small.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import signal
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .inside import linux

BRIDGE = "br0"
DEVICE = "eth0"
NETWORKS = ((BRIDGE, DEVICE, ""), ("br1", "eth1", "-2"))
"""Of a lab's network, and of the second one that it may have: the bridge, each node's device, and what stands behind a
node's name in that of its port at the bridge."""

QUEUE_LATENCY = "50ms"
"""Longest time a frame may wait at a shaped link before it is dropped, as in a switch with small buffers."""

BURST_TIME_S = 0.001
LEAST_BURST = 16 * 1024
"""Bytes: a jumbo frame of 9000 B must still fit, or tbf would drop every one (tc-tbf(8), "burst")."""

_NO_DUPLICATE_DETECTION = 0x02  # IFA_F_NODAD: the address is usable at once
_ROOT_HANDLE = 0x10000
KEPT = 10_000
"""Frames that a TAP device keeps until they are read, where Linux has 500: a node sends some MB at once, and who reads
may have to wait for a CPU meanwhile. What is lost on a link is lost by its setting. By netlink: an ioctl needs more
privileges than a user namespace has."""

_TUNSETIFF, _TUNSETPERSIST = 0x400454CA, 0x400454CB
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000

Request = dict[str, Any]


def main() -> int:
    """`wire PARENT`: answer requests until stdin ends, or the process PARENT does (even while pyroute2 loads)."""
    linux.die_with_parent(signal.SIGKILL)
    if os.getppid() != int(sys.argv[1]):
        return 1
    import pyroute2  # noqa: F401  here, so that it is loaded while the caller still makes keys

    for line in sys.stdin:
        request = json.loads(line)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _answer(request)
        if os.waitpid(child, 0)[1] != 0 and os.getppid() == int(sys.argv[1]):
            print(json.dumps({"error": "the network's maker ended by a defect, see stderr"}), flush=True)
    return 0


def _answer(request: Request) -> None:
    """In a child: carry `request` out, print the answer, end."""
    from pyroute2.netlink.exceptions import NetlinkError

    status = 1
    try:
        try:
            answer = OPERATIONS[request["op"]](request) or {}
        except NetlinkError as error:
            answer = {"error": _explain(error.code, str(error))}
        except OSError as error:
            answer = {"error": error.strerror or str(error)}
        print(json.dumps(answer), flush=True)
        status = 0
    finally:
        sys.stderr.flush()
        os._exit(status)


def _explain(code: int, text: str) -> str:
    if code in (errno.EOPNOTSUPP, errno.ENOENT):
        return (
            f"the kernel has no such device or queue ({text}); it may need the modules bridge, veth, sch_tbf, sch_netem"
        )
    return f"the kernel refused it: {text}"


def build(request: Request) -> None:
    """Bridge and links of one of a lab's networks: `init` (pid), `network` (its number in `NETWORKS`), `controller`
    (addresses), `nodes` (name, pid, addresses).
    """
    name, device_name, suffix = NETWORKS[request["network"]]
    linux.join(request["init"], ("user", "net"))
    with _netlink() as switch:
        _raise_device(switch, "lo")
        switch.link("add", ifname=name, kind="bridge", br_stp_state=0, br_forward_delay=0, br_mcast_snooping=0)
        bridge = _index(switch, name)
        switch.link("set", index=bridge, state="up")
        _add_addresses(switch, bridge, request["controller"])
        for node in request["nodes"]:
            peer = {"ifname": device_name, "net_ns_fd": f"/proc/{node['pid']}/ns/net"}
            switch.link("add", ifname=node["name"] + suffix, kind="veth", master=bridge, state="up", peer=peer)
    for node in request["nodes"]:
        linux.join(node["pid"], ("net",))
        with _netlink() as own:
            _raise_device(own, "lo")
            device = _index(own, device_name)
            own.link("set", index=device, state="up")
            _add_addresses(own, device, node["addresses"])


def taps(request: Request) -> None:
    """Switches of virtual machines: `init`, `switches` (name, addresses, mtu), `ports` (name, switch, mtu).

    The ports are TAP devices that stay when whoever has opened them ends: a machine's plug may be pulled. A switch's
    `mtu` is that of the controller's own end; what it passes on is a matter of the ports.
    """
    linux.join(request["init"], ("user", "net"))
    with _netlink() as own:
        _raise_device(own, "lo")
        for switch in request["switches"]:
            own.link(
                "add", ifname=switch["name"], kind="bridge", br_stp_state=0, br_forward_delay=0, br_mcast_snooping=0
            )
        for port in request["ports"]:
            _make_tap(port["name"])
            master = _index(own, port["switch"])
            own.link("set", index=_index(own, port["name"]), mtu=port["mtu"], master=master, state="up")
        for switch in request["switches"]:
            index = _index(own, switch["name"])
            own.link("set", index=index, mtu=switch["mtu"], state="up")
            _add_addresses(own, index, switch["addresses"])


def _make_tap(name: str) -> None:
    """A TAP device without a user. Source: the kernel's Documentation/networking/tuntap.rst, linux/if_tun.h."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI))
        fcntl.ioctl(device, _TUNSETPERSIST, 1)
    finally:
        os.close(device)


def shape(request: Request) -> None:
    """Shape both directions of one node's link: `init`, `network` as in `build`, `node` (name, pid), `rate` in bit/s or
    null, `before` likewise.

    When the second direction is refused, the first one gets `before` again.
    """
    node, rate, before = request["node"], request["rate"], request["before"]
    _, device, suffix = NETWORKS[request["network"]]
    linux.join(request["init"], ("user", "net"))
    with _netlink() as switch:
        port = _index(switch, node["name"] + suffix)
        _set_queue(switch, port, rate)
        try:
            linux.join(node["pid"], ("net",))
            with _netlink() as own:
                _set_queue(own, _index(own, device), rate)
        except OSError:
            _set_queue(switch, port, before)
            raise


def cut(request: Request) -> None:
    """Pull the plugs of one node: `init`, `node` (name). Nothing more leaves or reaches it."""
    linux.join(request["init"], ("user", "net"))
    with _netlink() as switch:
        for _, _, suffix in NETWORKS:
            for index in switch.link_lookup(ifname=request["node"]["name"] + suffix):
                switch.link("set", index=index, state="down")


def probe(request: Request) -> Request:
    """Whether this user may do here all that a lab does: really does it, in namespaces that end with this process.

    `own_user` as in `linux.isolate`. Answers {"possible": bool, "why": what was refused}.
    """
    try:
        linux.isolate(request["own_user"])
        child = os.fork()
        if child == 0:
            _probe_within()
        _, status = os.waitpid(child, 0)
    except OSError as error:
        return {"possible": False, "why": error.strerror or str(error)}
    number = os.waitstatus_to_exitcode(status)
    why = (
        "" if number == 0 else f"mounting /proc, /sys and /run or making a veth pair on a bridge: {os.strerror(number)}"
    )
    return {"possible": number == 0, "why": why}


def _probe_within() -> None:
    from pyroute2.netlink.exceptions import NetlinkError

    number = errno.EIO
    try:
        linux.mount("proc", "/proc", "proc")
        linux.mount("sysfs", "/sys", "sysfs")
        linux.mount("tmpfs", "/run", "tmpfs")
        with _netlink() as own:
            own.link("add", ifname=BRIDGE, kind="bridge")
            own.link("add", ifname="n1", kind="veth", master=_index(own, BRIDGE), peer={"ifname": DEVICE})
        number = 0
    except NetlinkError as error:
        number = error.code
    except OSError as error:
        number = error.errno or errno.EIO
    finally:
        os._exit(number)


def plug(request: Request) -> Request:
    """Put the devices named `device` in the place of one node's link, at both ends: `init`, `mtu` (out, in) in bytes,
    `node` (name, pid, addresses, mac or null). With `device` null, a new veth pair. The old link's devices go.

    Answers {"mac": the node's}: it stays the same, so that the neighbours notice nothing.
    """
    node, device = request["node"], request["device"] or "new-" + request["node"]["name"]
    linux.join(request["init"], ("user", "net"))
    with _netlink() as switch:
        if request["device"] is None:
            peer = {"ifname": device, "net_ns_fd": f"/proc/{node['pid']}/ns/net"}
            switch.link("add", ifname=device, kind="veth", peer=peer)
        linux.join(node["pid"], ("net",))
        with _netlink() as own:
            port, end = _index(switch, device), _index(own, device)
            mac = _mac(own, DEVICE) or node["mac"]
            kept = {"txqlen": KEPT} if request["device"] else {}
            switch.link("set", index=port, mtu=request["mtu"]["in"], master=_index(switch, BRIDGE), **kept)
            own.link("set", index=end, mtu=request["mtu"]["out"], **({"address": mac} if mac else {}), **kept)
            for side, old in ((own, DEVICE), (switch, node["name"])):  # from here on nothing is refused
                for index in side.link_lookup(ifname=old):  # of a veth pair, the first takes the second along
                    side.link("del", index=index)
            switch.link("set", index=port, ifname=node["name"], state="up")
            own.link("set", index=end, ifname=DEVICE, state="up")
            _add_addresses(own, end, node["addresses"])
            return {"mac": mac or _mac(own, DEVICE)}


def resize(request: Request) -> None:
    """Set the MTU of both ends of one node's link: `init`, `node` (name, pid), `mtu` (out, in) in bytes."""
    node, mtu = request["node"], request["mtu"]
    linux.join(request["init"], ("user", "net"))
    with _netlink() as switch:
        switch.link("set", index=_index(switch, node["name"]), mtu=mtu["in"])
    linux.join(node["pid"], ("net",))
    with _netlink() as own:
        own.link("set", index=_index(own, DEVICE), mtu=mtu["out"])


def netem(request: Request) -> None:
    """Have netem emulate one node's link: `init`, `node` (name, pid), `out` and `in`, each as tc-netem(8) names it."""
    node = request["node"]
    linux.join(request["init"], ("user", "net"))
    with _netlink() as switch:
        switch.tc("replace", "netem", _index(switch, node["name"]), _ROOT_HANDLE, **request["in"])
    linux.join(node["pid"], ("net",))
    with _netlink() as own:
        own.tc("replace", "netem", _index(own, DEVICE), _ROOT_HANDLE, **request["out"])


OPERATIONS: dict[str, Callable[[Request], Request | None]] = {
    "build": build, "shape": shape, "cut": cut, "probe": probe, "plug": plug, "resize": resize, "netem": netem,
    "taps": taps,
}  # fmt: skip


@contextlib.contextmanager
def _netlink() -> Iterator[Any]:
    """Netlink to the network namespace that this thread is in now."""
    from pyroute2 import IPRoute

    with IPRoute() as connection:
        yield connection


def _index(netlink: Any, name: str) -> int:
    found = netlink.link_lookup(ifname=name)
    if not found:
        raise OSError(errno.ENODEV, f"the lab has no interface {name}")
    return int(found[0])


def _mac(netlink: Any, name: str) -> str | None:
    """The device's hardware address, or None where there is no such device."""
    for index in netlink.link_lookup(ifname=name):
        return str(netlink.get_links(index)[0].get_attr("IFLA_ADDRESS"))
    return None


def _raise_device(netlink: Any, name: str) -> None:
    netlink.link("set", index=_index(netlink, name), state="up")


def _add_addresses(netlink: Any, device: int, addresses: list[str]) -> None:
    for address in addresses:
        if ":" in address:
            netlink.addr("add", index=device, address=address, prefixlen=64, flags=_NO_DUPLICATE_DETECTION)
        else:
            netlink.addr("add", index=device, address=address, prefixlen=24)


def _set_queue(netlink: Any, device: int, rate: int | None) -> None:
    """tc-tbf(8) at the device's root, or (None) the queue that the device was born with."""
    if rate is not None:
        burst = max(LEAST_BURST, int(rate / 8 * BURST_TIME_S))
        netlink.tc("replace", "tbf", device, _ROOT_HANDLE, rate=f"{rate}bit", burst=burst, latency=QUEUE_LATENCY)
    elif any(queue.get_attr("TCA_KIND") == "tbf" for queue in netlink.get_qdiscs(index=device)):
        netlink.tc("del", index=device, root=True)


if __name__ == "__main__":
    sys.exit(main())

"""A wire between two nodes of a lab, made of a TAP interface in each and of this process, which carries the frames.

It can do what no virtual interface does: have a rate that the interfaces report, deliver at a timer's ticks as a
card that gathers interrupts does, claim half a duplex, and leave frames with a sending interface that has no room.
Run as a program: `tap_wire.py '{"pids": [n1, n2], …}'`; it says "ready", and ends with its stdin.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections import deque

from wulf.lab.inside import linux

TUNSETIFF, IFF_TAP_NO_PI = 0x400454CA, 0x1002
SIOCETHTOOL, ETHTOOL_GSET, ETHTOOL_SSET = 0x8946, 0x1, 0x2
FRAMING = 24
"""Bytes that a frame has on a wire beside what a TAP shows: preamble 8, checksum 4, gap 12 (IEEE 802.3)."""

LONGEST_QUEUE_S = 0.02
SHORT_RING = 50
"""Frames that an interface holds whose wire makes it wait."""


def open_tap(pid: int, address: str, speed: int | None, duplex: str, *, waits: bool) -> int:
    """A TAP interface tap0 in the node's network namespace, up, with an address; speed in Mbit/s."""
    linux.join(pid, ("net",))
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", b"tap0", IFF_TAP_NO_PI))
    ring = [f"link set tap0 txqueuelen {SHORT_RING}"] if waits else []
    for words in (f"addr add {address}/24 dev tap0", *ring, "link set tap0 up"):
        subprocess.run(["ip", *words.split()], check=True)
    set_link(speed, duplex)
    return tap


def set_link(speed: int | None, duplex: str) -> None:
    """As `ethtool -s tap0 speed SPEED duplex DUPLEX` (linux/ethtool.h, struct ethtool_cmd)."""
    import ctypes
    import socket

    command = ctypes.create_string_buffer(44)
    request = struct.pack("16sP", b"tap0", ctypes.addressof(command))
    with socket.socket() as any_socket:
        struct.pack_into("I", command, 0, ETHTOOL_GSET)
        fcntl.ioctl(any_socket, SIOCETHTOOL, request)
        if speed is not None:
            struct.pack_into("H", command, 12, speed)
        struct.pack_into("B", command, 14, duplex == "full")
        struct.pack_into("I", command, 0, ETHTOOL_SSET)
        fcntl.ioctl(any_socket, SIOCETHTOOL, request)


class Way:
    """One direction: frames wait for their turn on the wire (`rate`, bit/s), and then for a tick (`tick`, s).

    Where the wire has no room, it drops them; or leaves them with the interface (`waits`), which then drops them.
    """

    def __init__(self, source: int, target: int, rate: float | None, tick: float | None, *, waits: bool) -> None:
        self.source, self.target, self.rate, self.tick, self.waits = source, target, rate, tick, waits
        self.queue: deque[tuple[float, bytes]] = deque()
        self.free = 0.0
        self.behind = False

    def take(self) -> None:
        """Take in what the node has sent."""
        try:
            while not (self.waits and self.is_full()):
                self.admit(os.read(self.source, 65536), time.monotonic())
            self.behind = True
        except BlockingIOError:
            self.behind = False

    def is_full(self) -> bool:
        """Whether the wire has work enough."""
        return self.free > time.monotonic() + LONGEST_QUEUE_S

    def admit(self, frame: bytes, now: float) -> None:
        """Give a frame its time of delivery; or drop it, where the queue is full."""
        due = now
        if self.rate:
            if self.free > now + LONGEST_QUEUE_S:
                return
            # While frames wait, here or with the interface, the wire's own clock counts: a pause of this process costs
            # it no capacity.
            start = self.free if self.queue or self.behind else max(self.free, now)
            due = self.free = start + (len(frame) + FRAMING) * 8 / self.rate
        if self.tick:
            due = (int((now + random.uniform(0, 2 * self.tick)) / self.tick) + 1) * self.tick
        self.queue.append((due, frame))

    def deliver(self) -> float | None:
        """Deliver what is due; the time of the next one."""
        while self.queue and self.queue[0][0] <= time.monotonic():
            try:
                os.write(self.target, self.queue.popleft()[1])
            except OSError:  # the interface's own queue is full, or it is down
                continue
        return self.queue[0][0] if self.queue else None


def main() -> None:
    """Carry frames until stdin ends."""
    asked = json.loads(sys.argv[1])
    duplex = asked.get("duplex", ["full", "full"])
    waits = bool(asked.get("waits"))
    taps = [
        open_tap(pid, f"10.99.0.{i + 1}", asked.get("speed"), duplex[i], waits=waits)
        for i, pid in enumerate(asked["pids"])
    ]
    ways = [Way(a, b, asked.get("rate"), asked.get("tick"), waits=waits) for a, b in (taps, taps[::-1])]
    poll = select.poll()
    for descriptor in (*taps, sys.stdin.fileno()):
        poll.register(descriptor, select.POLLIN)
    with contextlib.suppress(PermissionError):  # a wire is never late, however busy the machine is
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    print("ready", flush=True)
    ready: set[int] = set()
    while sys.stdin.fileno() not in ready:
        for way in ways:
            way.take()
        due = [at for way in ways if (at := way.deliver()) is not None]
        for way in ways:
            poll.modify(way.source, 0 if way.waits and way.is_full() else select.POLLIN)
        wait = max(0.0, min(due) - time.monotonic()) * 1000 if due else None
        ready = {descriptor for descriptor, _ in poll.poll(wait)}


if __name__ == "__main__":
    main()

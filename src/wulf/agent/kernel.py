"""What the kernel answers through system calls rather than files.

Each question is one method named `ask_...`; it returns plain JSON values, so that a recorded tree can stand in.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import resource
import shutil
import socket
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wulf.agent.importing import IMPORTING
from wulf.agent.processes import children
from wulf.agent.unknown import Unknown, refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wulf.agent.net.netlink import Netlink

DAEMONS = {"chronyd", "ntpd", "ntpd-rs", "openntpd", "systemd-timesyn", "ptp4l", "phc2sys", "irqbalance", "tuned"}
"""Daemons that facts ask about, as /proc/PID/comm has them (the kernel cuts names after 15 characters)."""

_IO_URING_SETUP = 425  # io_uring_setup(2): the number is the same on all architectures but Alpha

_SIOCETHTOOL, _ETHTOOL_GDRVINFO = 0x8946, 0x3  # linux/sockios.h, linux/ethtool.h
_DRVINFO = struct.Struct("=I32s32s32s32s")  # head of struct ethtool_drvinfo: cmd, driver, version, fw, bus_info
_DRVINFO_BYTES = 196

_ROOTS_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
_PATIENCE_S = 120.0
"""How long a program of the system may take: systemctl waits until a service has ended (90 s, unless its unit says
otherwise), and enables one of init.d's by way of several programs."""

_NEIGHBOURS, _NEIGHBOURS_S, _NEIGHBOURS_BYTES = ("lldpctl", "-f", "json"), 5.0, 1 << 20


class LiveKernel:
    """The kernel that runs us."""

    def __init__(self) -> None:
        self._netlink: Netlink | Unknown | None = None

    def ask(self, question: str, *arguments: str) -> Any:
        """Answer a question: 'adjtimex', 'drvinfo eth0', ... Unknown when the kernel refuses."""
        answer: Any = getattr(self, f"ask_{question}")(*arguments)
        return answer

    def close(self) -> None:
        """Close the netlink sockets, if any were opened."""
        if self._netlink is not None and not isinstance(self._netlink, Unknown):
            self._netlink.close()

    def _netlink_or_unknown(self) -> Netlink:
        if self._netlink is None:
            self._netlink = _open_netlink()
        if isinstance(self._netlink, Unknown):
            raise self._netlink
        return self._netlink

    def ask_adjtimex(self) -> dict[str, int]:
        """State of the kernel's clock discipline, read-only: adjtimex(2) with modes = 0."""
        return adjtimex()

    def ask_architecture(self) -> str:
        return platform.machine()

    def ask_python(self) -> str:
        return platform.python_version()

    def ask_libc(self) -> str:
        try:
            version = os.confstr("CS_GNU_LIBC_VERSION")
        except (ValueError, OSError):
            version = None
        if not version:
            raise Unknown("the C library does not say its version (not glibc?)")
        return version

    def ask_page_size(self) -> int:
        return resource.getpagesize()

    def ask_io_uring(self) -> bool:
        """Whether the kernel would make an io_uring for this process."""
        return io_uring_allowed()

    def ask_limit(self, name: str) -> int | str:
        """Soft limit of this process as getrlimit(2) has it; 'unlimited' where there is none."""
        soft, _ = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))
        return "unlimited" if soft == resource.RLIM_INFINITY else soft

    def ask_interfaces(self) -> dict[str, int]:
        """Index of every interface of this process's network namespace, by name."""
        return {name: index for index, name in socket.if_nameindex()}

    def ask_daemons(self) -> list[str]:
        """Which of DAEMONS run."""
        if not Path("/proc/1/comm").exists():
            raise Unknown("/proc hides the processes of others (hidepid)")
        return sorted(DAEMONS.intersection(_comm(process) for process in Path("/proc").glob("[0-9]*")))

    def ask_path(self) -> list[str]:
        """Folders in which this user's programs are looked for."""
        return [folder for folder in os.environ.get("PATH", "").split(":") if folder.startswith("/")]

    def ask_drvinfo(self, interface: str) -> dict[str, str]:
        """Driver and firmware of an interface. An ioctl: ethtool's netlink family does not carry them."""
        request = bytearray(_DRVINFO_BYTES)
        struct.pack_into("=I", request, 0, _ETHTOOL_GDRVINFO)
        try:
            _interface_ioctl(interface, request)
        except OSError as error:
            raise refused(error, "driver information") from error
        _, driver, version, firmware, bus = _DRVINFO.unpack_from(request)
        fields = {"driver": driver, "version": version, "firmware": firmware, "bus": bus}
        return {name: raw.split(b"\0")[0].decode("utf-8", "replace") for name, raw in fields.items()}

    def ask_qdisc(self, interface: str) -> str:
        return self._netlink_or_unknown().qdisc(interface)

    def ask_addresses(self) -> list[dict[str, Any]]:
        return self._netlink_or_unknown().addresses()

    def ask_link(self, interface: str) -> dict[str, Any]:
        """Attributes of a link that can be set, and whether it is up."""
        return self._netlink_or_unknown().link(interface)

    def ask_ethtool(self, topic: str, interface: str) -> dict[str, Any]:
        self._netlink_or_unknown()
        from wulf.agent.net import ethtool

        return ethtool.read(topic, interface)

    def ask_processes(self, name: str) -> list[int]:
        """Processes whose name is `name` (the kernel keeps 15 characters of it)."""
        if not Path("/proc/1/comm").exists():
            raise Unknown("/proc hides the processes of others (hidepid)")
        found = (process for process in Path("/proc").glob("[0-9]*") if _comm(process) == name[:15])
        return sorted(int(process.name) for process in found)

    def ask_output(self, *command: str) -> dict[str, Any]:
        """What a program of the system says: {"status", "out", "err"}. Unknown, absent, where there is none."""
        return output(command)

    def ask_neighbours(self) -> str:
        """What lldpd has heard from the other ends of the links, as JSON. Unknown where it does not run."""
        said = output(_NEIGHBOURS, patience=_NEIGHBOURS_S, most=_NEIGHBOURS_BYTES + 1)
        if len(said["out"]) > _NEIGHBOURS_BYTES:
            raise Unknown(f"{' '.join(_NEIGHBOURS)} printed more than {_NEIGHBOURS_BYTES} bytes")
        if said["status"] != 0:
            raise Unknown(f"{' '.join(_NEIGHBOURS)} failed: {' '.join(said['out'].split())[:200]}")
        return str(said["out"])

    def tell(self, request: str, *arguments: Any, **named: Any) -> None:
        """Have something changed: 'link eth0 mtu 9000', … Unknown when the kernel refuses."""
        getattr(self, f"tell_{request}")(*arguments, **named)

    def tell_link(self, interface: str, attribute: str, value: int) -> None:
        self._netlink_or_unknown().set_link(interface, attribute, value)

    def tell_qdisc(self, interface: str, kind: str) -> None:
        self._netlink_or_unknown().set_qdisc(interface, kind)

    def tell_ethtool(self, topic: str, interface: str, field: str, value: int) -> None:
        self._netlink_or_unknown()
        from wulf.agent.net import ethtool

        ethtool.write(topic, interface, field, value)

    def tell_program(self, *command: str, text: str | None = None) -> None:
        """Run a program of the system that changes something; Unknown with its own words when it fails."""
        said = output(command, text)
        if said["status"] != 0:
            words = " ".join((said["err"] or said["out"]).split())
            raise Unknown(f"{' '.join(command)} failed with status {said['status']}: {words[:500]}")


def output(
    command: Sequence[str], text: str | None = None, *, patience: float = _PATIENCE_S, most: int | None = None
) -> dict[str, Any]:
    """Run a program, looked for where root's programs lie, too: a login over ssh often lacks those in its PATH.

    Parameters
    ----------
    most
        Bytes that it may print; what it says of errors then stands among the rest.
    """
    folders = os.pathsep.join((os.environ.get("PATH", os.defpath), *_ROOTS_FOLDERS))
    program = shutil.which(command[0], path=folders)
    if program is None:
        raise Unknown(f"no program {command[0]} on this node", absent=True)
    environment = {**os.environ, "LC_ALL": "C", "SYSTEMD_PAGER": ""}
    try:
        ended = children.run(
            [program, *command[1:]], environment=environment, timeout=patience, text=text, joined=most is not None,
            most=most,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise Unknown(f"{' '.join(command)} did not end within {patience:.0f} s") from error
    except OSError as error:
        raise Unknown(f"{program} can't be run: {error}") from error
    return {"status": ended.returncode, "out": ended.stdout, "err": ended.stderr}


def _open_netlink() -> Netlink | Unknown:
    try:
        with IMPORTING:
            import wulf.agent.net.ethtool  # noqa: F401 - under the lock, too
            from wulf.agent.net.netlink import Netlink
        return Netlink()
    except ImportError as error:
        return Unknown(f"pyroute2 can't be imported on this node: {error}")
    except OSError as error:
        return Unknown(f"no netlink socket: {error}")


def _comm(process: Path) -> str:
    try:
        return (process / "comm").read_text(errors="replace").strip()
    except OSError:  # it ended since the listing
        return ""


def _interface_ioctl(interface: str, request: bytearray) -> None:
    """SIOCETHTOOL with `request` as its data, in place: struct ifreq holds a pointer to it (linux/if.h)."""
    data = (ctypes.c_char * len(request)).from_buffer(request)
    ifreq = struct.pack("@16sP16x", interface.encode(), ctypes.addressof(data))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as endpoint:
        fcntl.ioctl(endpoint, _SIOCETHTOOL, ifreq)


class _Timex(ctypes.Structure):
    """struct timex of adjtimex(2), up to the last field that we read; the rest is room for the kernel."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("room", ctypes.c_char * 256),
    )


def adjtimex() -> dict[str, int]:
    """The kernel's clock discipline: status bits, offset (ns if STA_NANO, else µs), errors (µs), frequency (2^-16 ppm).

    Raises Unknown where the C library has no adjtimex or the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    state = _Timex(modes=0)
    try:
        returned = libc.adjtimex(ctypes.byref(state))
    except AttributeError as error:
        raise Unknown("the C library has no adjtimex", absent=True) from error
    if returned < 0:
        code = ctypes.get_errno() or errno.EINVAL
        raise refused(OSError(code, os.strerror(code)), "the clock's state (adjtimex)")
    return {
        "state": returned,
        "status": state.status,
        "offset": state.offset,
        "frequency": state.freq,
        "maxerror": state.maxerror,
        "esterror": state.esterror,
    }


def io_uring_allowed() -> bool:
    """Whether this process may set an io_uring up: io_uring_setup(2), asked without the parameters it must have.

    The kernel looks at permission before it looks at the parameters: EFAULT says that it would have gone on.

    Raises Unknown where the kernel has no io_uring.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(ctypes.c_long(_IO_URING_SETUP), ctypes.c_uint(1), ctypes.c_void_p(None))
    code = ctypes.get_errno()
    if code == errno.ENOSYS:
        raise Unknown("the kernel has no io_uring, or seccomp hides it (ENOSYS)", absent=True)
    if code in (errno.EPERM, errno.EACCES):
        return False
    if code != errno.EFAULT:
        raise refused(OSError(code, os.strerror(code)), "io_uring_setup")
    return True

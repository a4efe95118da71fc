"""A node: the first process of its namespaces, with its own /proc, /sys, /run, host name and sshd.

A node shares the host's file system, as the nodes of a cluster share theirs, except for what would be written by its
programs (/run, /dev/shm, /var/log, the home directory, TMPDIR: empty, in memory; /var/lib/wulf: a folder of its own, as
lasting as the lab) and for what makes it a node (/etc/hosts and the like).
"""

# ruff: noqa: PTH211, PTH101, PTH102, PTH110, PTH112, PTH114, PTH123, PTH208

from __future__ import annotations

import contextlib
import os
import signal
import stat
import time

from . import linux

PRIVATE = "/run/wulf"
"""Where a node sees its own directory of the lab's state: its keys and its sshd's configuration."""

HOME = "/run/home"
"""Home directory of whoever logs in."""

TEMPORARY = "/run/tmp"
"""TMPDIR of whoever logs in. The host's /tmp is shown too; programs that name their files there after host and process,
as Open MPI does, would meet those of a second lab's node, which has the same name and the same few processes.
"""

SSH_PORT = 2222
_QUIET = linux.MS_NOSUID | linux.MS_NODEV
_LISTEN_DEADLINE_S = 20.0


def main(name: str, state: str, sshd: str, go: int, report: int) -> None:
    """Furnish the node, report "made", wait until `go` closes (the network is there), start sshd, report "ready".

    Never returns. When sshd ends, the node ends.
    """
    outcome = f"failed {name} by a defect of wulf, see init.log"
    try:
        linux.set_host_name(name)
        furnish(state, f"{state}/nodes/{name}")
        quieten_ipv6()
        linux.allow_inspection()
        os.write(report, f"made {name}".encode())
        os.read(go, 1)
        os.close(go)
        daemon = start_sshd(sshd)
        wait_for_listener(daemon)
        outcome = f"ready {name}"
    except OSError as error:
        outcome = f"failed {name} {error.strerror or error}"
    finally:  # whatever happens: `up` waits for a word from every node
        os.write(report, outcome.encode())
    os.close(report)
    if not outcome.startswith("ready"):
        os._exit(1)
    reap_until(daemon)


def furnish(state: str, node: str) -> None:
    """Mount what the node has of its own. The state directory may lie below /run, which is hidden last."""
    linux.mount("proc", "/proc", "proc", _QUIET | linux.MS_NOEXEC)
    _mount_sys()
    _mount_terminals()
    for directory, options in (("/dev/shm", "mode=1777"), ("/var/log", "mode=755")):  # noqa: S108
        if os.path.isdir(directory):
            linux.mount("tmpfs", directory, "tmpfs", _QUIET, options)
    _mount_etc({file: f"{state}/etc/{file}" for file in os.listdir(f"{state}/etc")} | {"hostname": f"{node}/hostname"})
    if os.path.isdir("/var/lib"):
        os.mkdir(f"{node}/library", 0o700)
        _mount_with("/var/lib", {"wulf": f"{node}/library"})
    own = os.open(node, os.O_PATH | os.O_DIRECTORY)
    linux.mount("tmpfs", "/run", "tmpfs", _QUIET, "mode=755")
    ssh = f"{HOME}/.ssh"
    for directory, mode in (
        ("/run/sshd", 0o755), ("/run/lock", 0o1777), (TEMPORARY, 0o1777), (PRIVATE, 0o700), (HOME, 0o700), (ssh, 0o700),
    ):  # fmt: skip
        os.mkdir(directory)
        os.chmod(directory, mode)
    os.symlink(f"{PRIVATE}/ssh_config", f"{ssh}/config")  # how a node reaches the others
    linux.mount(f"/proc/self/fd/{own}", PRIVATE, "", linux.MS_BIND)
    os.close(own)
    os.chdir("/")


def _mount_sys() -> None:
    """A new /sys shows this node's network devices; the control groups mounted on the old one are put back."""
    groups = "/sys/fs/cgroup"
    old = os.open(groups, os.O_PATH) if os.path.isdir(groups) else -1
    linux.mount("sysfs", "/sys", "sysfs", _QUIET | linux.MS_NOEXEC)
    if old >= 0:
        linux.mount(f"/proc/self/fd/{old}", groups, "", linux.MS_BIND | linux.MS_REC)
        os.close(old)


def _mount_etc(own: dict[str, str]) -> None:
    """Files of the node's own in the places of the host's, which may lack one: a container need not have /etc/hosts."""
    if not all(os.path.exists(f"/etc/{name}") for name in own):
        _mount_with("/etc", own)
        return
    for name, source in own.items():
        linux.mount(source, f"/etc/{name}", "", linux.MS_BIND)


def _mount_with(directory: str, own: dict[str, str]) -> None:
    """A folder as it is, but with some of the node's own, which the host need not have: it is not written."""
    shown = {name: os.open(source, os.O_PATH) for name, source in own.items()}
    for name in os.listdir(directory):
        with contextlib.suppress(FileNotFoundError):  # somebody's temporary file
            if name not in shown:
                shown[name] = os.open(f"{directory}/{name}", os.O_PATH | os.O_NOFOLLOW)
    linux.mount("tmpfs", directory, "tmpfs", _QUIET, "mode=755")
    for name, descriptor in shown.items():
        _show(descriptor, f"{directory}/{name}")
        os.close(descriptor)


def _show(descriptor: int, path: str) -> None:
    """Make an open file, folder or link appear at a path where nothing is."""
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISLNK(kind):
        os.symlink(os.readlink("", dir_fd=descriptor), path)
        return
    if stat.S_ISDIR(kind):
        os.mkdir(path)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    linux.mount(f"/proc/self/fd/{descriptor}", path, "", linux.MS_BIND | linux.MS_REC)


def _mount_terminals() -> None:
    """Terminals of its own: in a user namespace, those of the host can't be given to whoever logs in."""
    if not os.path.isdir("/dev/pts"):
        return
    linux.mount(
        "devpts", "/dev/pts", "devpts", linux.MS_NOSUID | linux.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"
    )
    if not os.path.islink("/dev/ptmx"):
        linux.mount("/dev/pts/ptmx", "/dev/ptmx", "", linux.MS_BIND)


def quieten_ipv6() -> None:
    """No router will ever answer in a lab: don't ask (it would disturb measurements for the first seconds)."""
    for name in ("accept_ra", "router_solicitations"):
        path = f"/proc/sys/net/ipv6/conf/default/{name}"
        if os.path.exists(path):
            with open(path, "w") as file:
                file.write("0")


def start_sshd(sshd: str) -> int:
    pid = os.fork()
    if pid == 0:
        os.setsid()
        command = [sshd, "-D", "-f", f"{PRIVATE}/sshd_config", "-E", f"{PRIVATE}/sshd.log"]
        try:
            os.execv(sshd, command)  # noqa: S606
        finally:
            os._exit(127)
    return pid


def wait_for_listener(daemon: int) -> None:
    """Until sshd listens; OSError when it ends or doesn't within 20 s. Source: proc(5), /proc/net/tcp, state 0A."""
    port = f":{SSH_PORT:04X}"
    deadline = time.monotonic() + _LISTEN_DEADLINE_S
    while time.monotonic() < deadline:
        if os.waitpid(daemon, os.WNOHANG)[0]:
            raise OSError(0, "sshd ended at once")
        with open("/proc/net/tcp") as file:
            for line in file:
                fields = line.split()
                if fields[1].endswith(port) and fields[3] == "0A":
                    return
        time.sleep(0.005)
    raise OSError(0, f"sshd doesn't listen after {_LISTEN_DEADLINE_S:.0f} s")


def reap_until(daemon: int) -> None:
    """What a first process owes its namespace: collect the orphans. Ends, and the node with it, when sshd does."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    while os.waitpid(-1, 0)[0] != daemon:
        pass
    os._exit(0)

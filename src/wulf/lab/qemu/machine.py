"""The virtual machine that a node is: QEMU's command line, purely, and whether this host's KVM can run it."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

from wulf.core.files import replace_file

from . import programs
from .image import Image
from .recipe import Recipe

KVM, EMULATION = "kvm", "tcg"
DEVICE = Path("/dev/kvm")
TRIAL_S = 60.0
"""As long as a kernel may take to its first program under KVM; it takes a second or two."""

_CPU = {
    KVM: "host",
    # A plain processor that Debian's programs and ours run on: what newer ones add would have to be emulated.
    EMULATION: "Nehalem",
}
_ACCELERATOR = {KVM: "kvm", EMULATION: "tcg,thread=multi"}
_APPEND = {
    KVM: (),
    # Defences against a processor that isn't there would have to be emulated as well; the time stamp counter is this
    # host's clock, and a watchdog that waits for a CPU would take it for a broken one.
    EMULATION: ("mitigations=off", "tsc=reliable"),
}


@dataclass(frozen=True)
class Guest:
    """One node: its number in the lab, name, and files. `seed` is what it unpacks at its first boot; `boot_line`, what
    its kernel's command line has beside the lab's own words.
    """

    number: int
    name: str
    disk: Path
    seed: Path
    console: Path
    boot_line: str = ""

    @property
    def port(self) -> str:
        """Its port in the switch of the cluster's network."""
        return self.name

    @property
    def management_port(self) -> str:
        return f"m-{self.name}"


def mac(network: int, number: int) -> str:
    """The hardware address of a node's card: of the cluster's network (0) or the management's (1)."""
    return f"52:54:00:77:{network:02x}:{number:02x}"


def command(program: Path, image: Image, recipe: Recipe, guest: Guest, accelerator: str) -> list[str]:
    """qemu(1): a machine with an e1000e on the cluster's network and a virtio card on the management's.

    The ports are TAP devices that exist in the network namespace where it is run. Both its disk's flushes and its
    power cuts are real: what the guest has flushed is on this host's disk.
    """
    words = [program, "-name", guest.name, "-uuid", _identity(guest), "-nodefaults", "-no-user-config"]
    words += ["-machine", "q35", "-accel", _ACCELERATOR[accelerator], "-cpu", _CPU[accelerator]]
    words += ["-m", f"{recipe.memory_bytes >> 20}M", "-smp", f"{recipe.sockets},sockets={recipe.sockets},cores=1"]
    words += ["-display", "none", "-monitor", "none", "-serial", f"file:{guest.console}"]
    words += ["-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny"]
    words += ["-kernel", image.kernel, "-initrd", image.initrd, "-append", boot_line(guest, accelerator)]
    words += ["-fw_cfg", f"name=opt/wulf/seed,file={_escape(guest.seed)}"]
    words += ["-drive", f"file={_escape(guest.disk)},if=virtio,format=qcow2,discard=unmap"]
    words += ["-object", "rng-random,id=rng,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=rng"]
    for network, (kind, port) in enumerate((("e1000e", guest.port), ("virtio-net-pci", guest.management_port))):
        words += ["-netdev", f"tap,id=net{network},ifname={port},script=no,downscript=no"]
        words += ["-device", f"{kind},netdev=net{network},mac={mac(network, guest.number)}"]
    return [str(word) for word in words]


def boot_line(guest: Guest, accelerator: str) -> str:
    """The kernel's command line. Where the kernel panics, the machine starts again, as a server would."""
    words = ["root=/dev/vda", "rw", "fsck.mode=skip", "net.ifnames=0", "console=ttyS0", "quiet", "panic=5"]
    return " ".join([*words, f"systemd.hostname={guest.name}", *_APPEND[accelerator], *guest.boot_line.split()])


def _identity(guest: Guest) -> str:
    """The machine's serial number, so to speak, from which systemd makes its machine id: one a disk."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"file://{guest.disk}"))


def _escape(path: Path) -> str:
    return str(path).replace(",", ",,")


def choose(image: Image) -> tuple[str, str]:
    """The accelerator for this host, and why: KVM where it has really started this image's kernel, else emulation.

    It is tried once a kernel of this host: some hosts have a /dev/kvm that starts a firmware and no Linux.
    """
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return EMULATION, f"{DEVICE} is not there, or not open to this user"
    note = image.folder / "kvm.json"
    host = " ".join(os.uname())
    try:
        known = json.loads(note.read_text())
    except (OSError, ValueError):
        known = {}
    if known.get("host") != host:
        known = {"host": host, "refused": _try_kvm(image)}
        replace_file(note, json.dumps(known, indent=2) + "\n")
    return (EMULATION, f"KVM can't run it: {known['refused']}") if known["refused"] else (KVM, "KVM")


def trial_command(program: Path, image: Image) -> list[str]:
    """qemu(1): the image's kernel without a disk: it ends by a panic, since its first program isn't there."""
    words = [program, "-nodefaults", "-no-user-config", "-no-reboot", "-machine", "q35", "-accel", _ACCELERATOR[KVM]]
    words += ["-cpu", _CPU[KVM], "-m", "512M", "-display", "none", "-serial", "stdio"]
    words += ["-kernel", image.kernel, "-append", "console=ttyS0 panic=-1"]
    return [str(word) for word in words]


def _try_kvm(image: Image) -> str:
    """Why KVM can't run this image; "" where it can."""
    program = programs.require("qemu-system-x86_64")
    try:
        tried = subprocess.run(
            trial_command(program, image), stdin=subprocess.DEVNULL, capture_output=True, timeout=TRIAL_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"its kernel doesn't start within {TRIAL_S:.0f} s"
    if tried.returncode == 0 and b"Kernel panic" in tried.stdout:
        return ""
    said = tried.stderr.decode(errors="replace").strip().splitlines()
    why = next((line for line in said if "error:" in line), said[-1] if said else "")
    return why.removeprefix(f"{program.name}: ") or f"QEMU ended with status {tried.returncode} before its kernel ran"

"""A machine whose settings live in a file, so that they outlive the processes that change them, as a kernel's do."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wulf.agent.changes.host import Host
from wulf.agent.files.disk import Disk
from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown


class FakeMechanism(Mechanism):
    """Settings of a file: {"eth0": {"identity": "ifindex 2", "mtu": 1500}}.

    target: {"key"}; {"high"}: more is clamped; {"refuses"}: the reason; {"ignores"}: accepts, and does nothing;
    {"zeroes"}: keys that a write of this one sets to 0; {"blind"}: can't be read once it has been written.
    """

    words = ("key",)
    optional = ("high", "refuses", "ignores", "zeroes", "blind", "breaks")

    def __init__(self, file: Path) -> None:
        self.file = file

    def load(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = json.loads(self.file.read_text())
        return found

    def store(self, values: dict[str, dict[str, Any]]) -> None:
        new = self.file.with_name(f"{self.file.name}-{os.getpid()}")
        new.write_text(json.dumps(values))
        new.replace(self.file)

    def set(self, place: str, key: str, value: Any) -> None:
        """As somebody else does it."""
        values = self.load()
        values[place][key] = value
        self.store(values)

    def places(self, machine: Any, target: Mapping[str, Any]) -> list[str]:
        return [place for place, values in self.load().items() if target["key"] in values]

    def read(self, machine: Any, target: Mapping[str, Any], place: str) -> Any:
        values = self.load()
        if target["key"] not in values.get(place, {}):
            raise Unknown(f"no {target['key']} of {place}", absent=True)
        if target["key"] in values[place].get("hidden", []):
            raise Unknown(f"{target['key']} of {place} can't be read")
        return values[place][target["key"]]

    def write(self, machine: Any, target: Mapping[str, Any], place: str, value: Any) -> None:
        if "refuses" in target:
            raise Unknown(target["refuses"])
        if "breaks" in target:
            raise RuntimeError(target["breaks"])
        if target.get("ignores"):
            return
        values = self.load()
        values[place][target["key"]] = min(value, target["high"]) if "high" in target else value
        for key in target.get("zeroes", []):
            values[place][key] = 0
        if target.get("blind"):
            values[place]["hidden"] = [target["key"]]
        self.store(values)

    def identity(self, machine: Any, place: str) -> str:
        found: str = self.load().get(place, {}).get("identity", "")
        return found


class Lasting(FakeMechanism):
    """One whose settings survive a reboot."""

    survives_reboot = True


class ReadOnly(Mechanism):
    """One that can't be written."""

    def read(self, machine: Any, target: Mapping[str, Any], place: str) -> Any:
        return 1


START = {
    "": {"swappiness": 60, "word": "never", "ratio": 5e-05},
    "eth0": {"identity": "ifindex 2, aa", "mtu": 1500, "rings": 256, "channels": 4, "affinity": 3, "gro": True},
    "eth1": {"identity": "ifindex 3, bb", "mtu": 1500, "rings": 512, "channels": 2, "affinity": 1, "gro": True},
}


LASTING = "word"
"""Of no place: what a test has a boot keep, where it writes that by the mechanism `lasting`."""


class Clock:
    """Shown to the host as time since boot and time of day."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class FakeNode:
    """A node in a folder: its machine, its state, its clock; nothing of it is a process."""

    def __init__(self, folder: Path, boot: str = "boot-1") -> None:
        self.file = folder / "machine.json"
        self.folder = folder / "changes"
        self.run = folder / "run"
        self.at_boot: list[bool] = []
        """What the next boot was asked to do: to take back what it would keep, or not to."""
        self.boot = boot
        self.clock = Clock()
        self.steps: list[str] = []
        self.settings = FakeMechanism(self.file)
        self.disk = Disk()
        self.trouble: dict[str, OSError] = {}
        if not self.file.exists():
            self.settings.store(START)

    @property
    def mechanisms(self) -> dict[str, Mechanism]:
        return {"fake": self.settings, "lasting": Lasting(self.file), "readonly": ReadOnly()}

    def step(self, name: str) -> None:
        self.steps.append(name)
        if name in self.trouble:
            raise self.trouble[name]

    def arm(self, host: Host, serial: int) -> dict[str, Any]:
        host.step("arm")
        return {"pid": 1, "serial": serial, "until": 0.0}

    def see_to_boot(self, host: Host, wanted: bool) -> None:
        host.step("at boot" if wanted else "not at boot")
        self.at_boot.append(wanted)

    @property
    def host(self) -> Host:
        return Host(
            folder=self.folder,
            run=self.run,
            mechanisms=self.mechanisms,
            machine=lambda: contextlib.nullcontext(None),
            now=self.clock,
            wall=self.clock,
            boot=self.boot,
            arm=self.arm,
            at_boot=self.see_to_boot,
            disk=self.disk,
            step=self.step,
        )

    def value(self, key: str, place: str = "eth0") -> Any:
        return self.settings.load()[place].get(key)


def setting(key: str, value: Any, place: str = "eth0", mechanism: str = "fake", **words: Any) -> dict[str, Any]:
    """A setting of a request; words of its target beside its key, `resets` as keys."""
    resets = [
        {"name": f"nic.{each}", "mechanism": "fake", "target": {"key": each}, "place": place}
        for each in words.pop("resets", [])
    ]
    more = {"inert": words.pop("inert")} if "inert" in words else {}
    target = {"key": key, **words}
    return {
        "name": f"nic.{key}", "mechanism": mechanism, "target": target, "place": place, "value": value,
        "resets": resets, **more,
    }  # fmt: skip

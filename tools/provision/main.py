"""What each make target needs, and the steps that bring it about, each done once."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import platform
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from provision import environment, native, packages, sources, system, unprivileged
from provision.packages import Host, Need
from provision.places import Places
from provision.runner import Runner, SetupError, Shell
from provision.stamps import Stamps, digest


@dataclass(frozen=True)
class Target:
    """What one make target needs: groups of packages.toml, extras of pyproject.toml, the probes, their tests."""

    groups: tuple[str, ...]
    extras: tuple[str, ...] = ()
    probes: bool = True
    tests: bool = False


TARGETS = {
    "build": Target(("build",)),
    "demo": Target(("build", "lab")),
    "test": Target(("build", "lab", "mpi", "slurm", "test", "browser"), ("dev",), tests=True),
    "test-all": Target(
        ("build", "lab", "mpi", "slurm", "test", "browser", "qemu", "packages", "docs"), ("dev",), tests=True
    ),
    "lint": Target(("build", "mpi", "test", "lint", "format"), ("dev",), probes=False),
    "format": Target(("format",), ("dev",), probes=False),
    "native-test": Target(("build", "test", "lint"), probes=False),
    "fuzz": Target(("build", "lint", "mpi"), probes=False),
    "cross": Target(("build", "cross"), probes=False),
    "bench": Target(("build", "lab", "mpi", "bench")),
    "wheel": Target(("build", "cross")),
    "packages": Target(("build", "packages")),
    "docs": Target(("build", "docs")),
}
NO_ROOT = "this account is not root and sudo asks for a password"
NO_PACKAGE = "this system's package sources do not carry it, or the installation left it out"


class Setup:
    """The steps for one target in one clone."""

    def __init__(self, target: str, places: Places, host: Host, runner: Runner) -> None:
        self._name = target
        self._target = TARGETS[target]
        self._places = places
        self._host = host
        self._runner = runner
        self._stamps = Stamps(places.build / "stamps")

    def packages_key(self) -> str:
        lists = [self._places.repo / "packages.toml"]
        return digest(lists, [*self._target.groups, str(self._host.family()), platform.python_version()])

    def environment_key(self, extras: Sequence[str]) -> str:
        config = self._places.venv / "pyvenv.cfg"
        version = config.read_text() if config.exists() else ""
        return digest([self._places.repo / "pyproject.toml"], [version, str(self._places.repo), *extras])

    def run(self) -> list[Need]:
        """Do what is not done yet; return the needs that are still missing."""
        wanted = packages.of_groups(packages.read_needs(self._places.repo / "packages.toml"), self._target.groups)
        step, key = f"packages-{self._name}", self.packages_key()
        packages_done = self._stamps.fresh(step, key)
        if not packages_done:
            self._system_packages(wanted)
        new = self._environment()
        absent = [] if packages_done and not new else self._replacements(wanted)
        if self._target.probes:
            native.build(self._runner, self._host, self._places, self._stamps, tests=False)
        # Without Catch2 the other tests still run; make says that the native ones are not there.
        if self._target.tests and not any(need.group == "test" for need in absent):
            native.build(self._runner, self._host, self._places, self._stamps, tests=True)
        if not absent:
            self._stamps.set(step, key)
        return absent

    def _system_packages(self, wanted: Sequence[Need]) -> None:
        absent = [need for need in packages.missing(wanted, self._host) if need.packages]
        elevate = system.elevation(self._runner, self._host) if absent else None
        if elevate is not None:
            system.install(self._runner, self._host, absent, elevate, self._places.build / "stamps/apt-update")

    def _environment(self) -> bool:
        """Install wulf; an environment that was made with extras serves those who need none.

        Returns whether it is a new one: the wheels that any target had put into the old one are gone.
        """
        for extras in {("dev",), self._target.extras}:
            if self._stamps.fresh("environment", self.environment_key(extras), self._places.venv / "bin/wulf"):
                return False
        new = environment.make(self._runner, self._places)
        for name in TARGETS if new else ():
            self._stamps.drop(f"packages-{name}")
        environment.install_wulf(self._runner, self._places, self._target.extras)
        self._stamps.set("environment", self.environment_key(self._target.extras))
        return new

    def _replacements(self, wanted: Sequence[Need]) -> list[Need]:
        """Put wheels, sources, unpacked packages in the place of what could not be installed; return what is left."""
        absent = packages.missing(wanted, self._host)
        wheels = list(dict.fromkeys(need.wheel for need in absent if need.wheel))
        environment.try_wheels(self._runner, self._places, wheels)
        sources.unpack(self._runner, self._places, packages.missing(wanted, self._host))
        unprivileged.unpack(self._runner, self._host, self._places, packages.missing(wanted, self._host))
        # Without ensurepip, pip has come from the package index by now: nothing is missed.
        return [need for need in packages.missing(wanted, self._host) if need.without != "nothing"]


@contextlib.contextmanager
def one_at_a_time(build: Path) -> Iterator[TextIO]:
    """Hold the clone's lock and its log, for the time of the set-up."""
    build.mkdir(parents=True, exist_ok=True)
    with (build / "setup.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.stderr.write("wulf: another set-up is at work in this clone; waiting for it\n")
            fcntl.flock(lock, fcntl.LOCK_EX)
        with (build / "setup.log").open("a", encoding="utf-8") as log:
            yield log


def main(arguments: Sequence[str]) -> int:
    """Set up one target. Status: 0 done, 1 it can't be done (what and why is said), 130 interrupted."""
    parser = argparse.ArgumentParser(prog="tools/setup.py", description="Sets up what one make target needs.")
    parser.add_argument("target", choices=sorted(TARGETS))
    target = parser.parse_args(arguments).target
    places = Places(Path(__file__).resolve().parents[2])
    # Ended by a signal, the set-up still takes back what it put on the host for the time being.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    host = Host(extra=(places.sysroot,), venv=places.venv)
    try:
        with one_at_a_time(places.build) as log:
            absent = Setup(target, places, host, Shell(log)).run()
    except SetupError as error:
        sys.stderr.write(f"wulf: set-up for `make {target}` stopped: {error}\n    the whole story: build/setup.log\n")
        return 1
    except OSError as error:
        sys.stderr.write(
            f"wulf: set-up for `make {target}` stopped: {error}\n  → is this clone yours to write, and the disk full?\n"
        )
        return 1
    except KeyboardInterrupt:
        return 130
    if absent:
        sys.stderr.write(packages.missing_text(absent, NO_PACKAGE if os.geteuid() == 0 else NO_ROOT) + "\n")
    return 0

"""System packages: only the missing ones, only as root or through a sudo that asks nothing."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from provision import progress
from provision.packages import INSTALL, Host, Need, names
from provision.runner import Runner, must
from provision.services import allowed, servers_stay_off

SECRET_BYTES = 128  # as mungekey(8) makes it
LISTS_ARE_NEW_FOR = 6 * 3600.0
APT_ENV = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
APT_OPTIONS = ("-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0", "-q")


def elevation(runner: Runner, host: Host, uid: int | None = None) -> tuple[str, ...] | None:
    """Say how to run a command as root: as it is, through sudo, or (None) not at all."""
    if (os.geteuid() if uid is None else uid) == 0:
        return ()
    if host.command("sudo") and runner.run(["sudo", "-n", "true"]).ok:
        return ("sudo", "-n")
    return None


def install(runner: Runner, host: Host, needs: Sequence[Need], elevate: Sequence[str], updated: Path) -> None:
    """Install what the needs are called here; what this distribution does not carry is left out.

    Parameters
    ----------
    updated
        A file whose age is that of our last `apt-get update`.
    """
    family = host.family()
    tool = INSTALL[family][0] if family else None
    if family is None or tool is None or not host.command(tool):
        return
    needs = [need for need in needs if need.packages.get(family)]
    if family == "debian":
        needs = Apt(runner, elevate, updated).available(needs)
    needs = _without_allowed_servers(runner, host, needs)
    packages = names(needs, family)
    if not packages:
        return
    services = _new_services(runner, needs, family)
    runner.say(f"installing {len(packages)} system packages: {' '.join(packages)}")
    start = time.monotonic()
    make_secrets(runner, host, elevate, needs)
    with servers_stay_off(runner, host, elevate, services):
        if family == "debian":
            Apt(runner, elevate, updated).install(packages)
        else:
            must(runner, [*elevate, *INSTALL[family], *packages], "mend what the lines above say, then run make again")
    runner.say(f"installed in {time.monotonic() - start:.0f} s")


def make_secrets(runner: Runner, host: Host, elevate: Sequence[str], needs: Sequence[Need]) -> None:
    """Make the secrets that are not there, readable by root alone; the installation hands them to their user."""
    for secret in (secret for need in needs for secret in need.secrets):
        path = host.root / secret.lstrip("/")
        if runner.run([*elevate, "test", "-e", str(path)]).ok:
            continue
        with tempfile.NamedTemporaryFile(prefix="wulf-secret-") as file:
            file.write(os.urandom(SECRET_BYTES))
            file.flush()
            must(
                runner,
                [*elevate, "install", "-D", "-m", "400", file.name, str(path)],
                f"see why {path} can't be written",
            )


def _without_allowed_servers(runner: Runner, host: Host, needs: Sequence[Need]) -> list[Need]:
    kept = []
    for need in needs:
        if need.services and (started := allowed(runner, host, need.services)):
            runner.say(f"{need.name} is left out: this host's policy-rc.d would let {started[0]} start")
        else:
            kept.append(need)
    return kept


def _new_services(runner: Runner, needs: Sequence[Need], family: str) -> list[str]:
    """List the services of packages that were not installed before: nobody but us asked for those."""
    query = {"debian": ("dpkg-query", "-W", "-f=${db:Status-Status}")}.get(family, ("rpm", "-q"))
    services: list[str] = []
    for need in needs:
        if need.services:
            before = [runner.run([*query, package]) for package in need.packages[family]]
            if not any(
                done.ok and "not-installed" not in done.output and "config-files" not in done.output for done in before
            ):
                services += need.services
    return services


class Apt:
    """apt-get as root. The package lists are fetched only when something is unknown or can't be had."""

    def __init__(self, runner: Runner, elevate: Sequence[str], updated: Path) -> None:
        self._runner = runner
        self._elevate = elevate
        self._updated = updated

    def available(self, needs: Sequence[Need]) -> list[Need]:
        """Leave out the needs that this system's sources do not carry."""
        unknown = self._unknown(needs)
        if unknown and self._update():
            unknown = self._unknown(needs)
        if unknown:
            self._runner.say(f"not in this system's package sources: {' '.join(sorted(unknown))}")
        return [need for need in needs if not unknown & set(need.packages["debian"])]

    def install(self, packages: Sequence[str]) -> None:
        command = [
            *self._elevate,
            "env",
            *(f"{k}={v}" for k, v in APT_ENV.items()),
            *INSTALL["debian"],
            *APT_OPTIONS,
            *packages,
        ]
        if self._runner.run(command, count=progress.Apt()).ok:
            return
        # A package that left the archive since the lists were fetched: fetch them and try once more.
        self._update(force=True)
        advice = "mend what apt-get says above (sources? network? disk?), then run make again"
        must(self._runner, command, advice, count=progress.Apt())

    def _unknown(self, needs: Sequence[Need]) -> set[str]:
        wanted = names(needs, "debian")
        if not wanted:
            return set()
        policy = self._runner.run(["apt-cache", "policy", *wanted], env={"LC_ALL": "C"}).output
        found = set(re.findall(r"^(\S+):\n  Installed: .*\n  Candidate: (?!\(none\))", policy, re.MULTILINE))
        return set(wanted) - found

    def _update(self, *, force: bool = False) -> bool:
        if not force and self._updated.exists() and time.time() - self._updated.stat().st_mtime < LISTS_ARE_NEW_FOR:
            return False
        self._runner.say("fetching the package lists")
        command = [*self._elevate, "apt-get", *APT_OPTIONS, "update"]
        must(
            self._runner, command, "mend what apt-get says above (sources? network?), then run make again", env=APT_ENV
        )
        self._updated.parent.mkdir(parents=True, exist_ok=True)
        self._updated.touch()
        return True

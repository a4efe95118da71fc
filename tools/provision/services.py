"""Installing a server's package must not start or enable a server on this host.

Debian's packages do both. policy-rc.d (see /usr/share/doc/init-system-helpers/README.policy-rc.d.gz) forbids the
start; what the installation enabled is disabled afterwards. The policy file names the services it is there for, so
that a set-up killed in between is mended by the next one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from provision.packages import Host
from provision.runner import Runner, must

DENIED = 101
POLICY = "/usr/sbin/policy-rc.d"
UNIT_FOLDERS = ("/usr/lib/systemd/system", "/lib/systemd/system")
MARK = "# wulf set-up, removed when it ends; services:"


@contextmanager
def servers_stay_off(runner: Runner, host: Host, elevate: Sequence[str], services: Sequence[str]) -> Iterator[None]:
    """Forbid the start of services while packages are installed; leave these services disabled and stopped."""
    recover(runner, host, elevate)
    if not services:
        yield
        return
    ours = not _path(host).exists()
    if ours:
        _write_policy(runner, host, elevate, services)
    try:
        yield
    finally:
        try:
            disable(runner, host, elevate, services)
        finally:
            if ours:
                runner.run([*elevate, "rm", "-f", str(_path(host))])


def allowed(runner: Runner, host: Host, services: Sequence[str]) -> list[str]:
    """List the services that a policy-rc.d of the host's own would let start; we would not overrule it."""
    policy = _path(host)
    if not policy.exists() or MARK in policy.read_text(errors="replace"):
        return []
    stems = {service: service.partition(".")[0] for service in services}
    return [name for name, stem in stems.items() if runner.run([str(policy), stem, "start"]).status != DENIED]


def recover(runner: Runner, host: Host, elevate: Sequence[str]) -> None:
    """Finish what a killed set-up left: its policy file, and services that it may have enabled."""
    policy = _path(host)
    text = policy.read_text(errors="replace") if policy.exists() else ""
    line = next((line for line in text.splitlines() if line.startswith(MARK)), None)
    if line is not None:
        disable(runner, host, elevate, line.removeprefix(MARK).split())
        runner.run([*elevate, "rm", "-f", str(policy)])


def disable(runner: Runner, host: Host, elevate: Sequence[str], services: Sequence[str]) -> None:
    """Stop and disable those of the services that exist on the host, with or without a running systemd."""
    for stem in dict.fromkeys(service.partition(".")[0] for service in services):
        # Without systemd's own tools, update-rc.d takes away its links too.
        if host.command("update-rc.d") and (host.root / "etc/init.d" / stem).exists():
            runner.run([*elevate, "update-rc.d", stem, "disable"])
    units = [service for service in services if any(host.has(f"file:{folder}/{service}") for folder in UNIT_FOLDERS)]
    if units and host.command("systemctl"):
        running = (host.root / "run/systemd/system").is_dir()
        runner.run([*elevate, "systemctl", "disable", *(["--now"] if running else []), *units])


def _write_policy(runner: Runner, host: Host, elevate: Sequence[str], services: Sequence[str]) -> None:
    text = f"#!/bin/sh\n{MARK} {' '.join(services)}\nexit {DENIED}\n"
    with tempfile.NamedTemporaryFile("w", prefix="wulf-policy-") as file:
        file.write(text)
        file.flush()
        must(
            runner,
            [*elevate, "install", "-m", "755", file.name, str(_path(host))],
            f"see why {POLICY} can't be written; without it a server would be started on this host",
        )


def _path(host: Host) -> Path:
    return host.root / POLICY.lstrip("/")

"""The units of the idle-time refresh: systemd takes them, they are closed, and they don't change what they measure."""

from __future__ import annotations

import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest

from wulf.cli.main import cli

UNITS = Path(__file__).parents[2] / "packaging" / "systemd"

# From systemd.exec(5): all that is done by a seccomp filter, which every system call then passes through; and from
# systemd.resource-control(5) what every packet passes through, and what takes CPU time away while it is measured.
SLOWING = """
    SystemCallFilter SystemCallArchitectures SystemCallLog RestrictAddressFamilies RestrictNamespaces RestrictRealtime
    RestrictSUIDSGID LockPersonality MemoryDenyWriteExecute PrivateDevices ProtectClock ProtectHostname
    ProtectKernelLogs ProtectKernelModules ProtectKernelTunables IPAddressDeny IPAddressAllow IPIngressFilterPath
    IPEgressFilterPath CPUQuota
""".split()  # noqa: SIM905
CLOSED = {
    "NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "AmbientCapabilities": "", "ProtectSystem": "strict",
    "ProtectHome": "yes", "PrivateTmp": "yes", "DevicePolicy": "closed", "User": "wulf",
}  # fmt: skip


def unit(name: str) -> ConfigParser:
    parsed = ConfigParser(interpolation=None, delimiters=("=",))
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read(UNITS / name)
    return parsed


def analyzed(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    for path in UNITS.glob("wulf-rates.*"):
        text = path.read_text().replace("/usr/bin/wulf", shutil.which("true") or "/bin/true")
        (tmp_path / path.name).write_text(text)
    files = [str(tmp_path / path.name) for path in sorted(UNITS.glob("wulf-rates.*"))]
    return subprocess.run(["systemd-analyze", *words, *files], capture_output=True, text=True, check=False, timeout=120)


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    done = analyzed(tmp_path, "verify", "--man=no")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_service_is_closed() -> None:
    service = unit("wulf-rates.service")["Service"]
    assert {name: service[name] for name in CLOSED} == CLOSED


def test_the_service_does_not_slow_what_it_measures() -> None:
    assert not set(SLOWING) & set(unit("wulf-rates.service")["Service"])


def test_programs_can_read_what_it_writes() -> None:
    service = unit("wulf-rates.service")["Service"]
    assert "DynamicUser" not in service, "its runtime directory would lie below /run/private"
    assert (service["RuntimeDirectory"], service["RuntimeDirectoryPreserve"]) == ("wulf", "yes")
    assert service["RuntimeDirectoryMode"] == "0755"
    account = [line.split() for line in (UNITS / "wulf.sysusers").read_text().splitlines() if line[:1] == "u"]
    assert [(words[0], words[1]) for words in account] == [("u", service["User"])]


def test_it_gives_way_to_everything() -> None:
    service = unit("wulf-rates.service")["Service"]
    assert (service["Nice"], service["CPUSchedulingPolicy"]) == ("19", "idle")


def test_its_command_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    words = unit("wulf-rates.service")["Service"]["ExecStart"].split()
    assert words[0] == "/usr/bin/wulf"
    with pytest.raises(SystemExit) as caught:
        cli.main([*words[1:], "--help"], prog_name="wulf")
    assert caught.value.code == 0
    assert "idle" in capsys.readouterr().out


def test_the_timer_starts_the_service() -> None:
    assert (UNITS / "wulf-rates.service").stem == (UNITS / "wulf-rates.timer").stem
    assert unit("wulf-rates.timer")["Install"]["WantedBy"] == "timers.target"

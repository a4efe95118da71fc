"""The units that measure rates in idle time, under a systemd that lives: installed as docs/rates.md says, in a
container of systemd-nspawn with Debian's own user land, which is thrown away."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

import wulf
from tests import caches
from tests.lab.conftest import skip_or_fail

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(1800)]

UNITS = Path(__file__).parents[2] / "packaging" / "systemd"
PACKAGES = "ca-certificates,systemd,systemd-sysv,dbus,python3"

WULF = """\
#!/usr/bin/python3
import sys
from wulf.cli.main import main

sys.exit(main())
"""
"""What a package would install as /usr/bin/wulf; its modules are found by a path file of Python's."""

SOON = """\
[Timer]
OnBootSec=
OnUnitInactiveSec=
OnBootSec=2s
OnUnitInactiveSec=3s
RandomizedDelaySec=0
AccuracySec=1s
"""

EAGER = """\
[Service]
ExecStart=
ExecStart=/usr/bin/wulf rates refresh --max-load 64 --share 100%
"""
"""The load is the host's, which runs this test; and a quarter of an hour earns a hundredth of itself."""

WATCH = """\
[Unit]
Description=Wait for rates, note what came of the units, and power off

[Service]
Type=oneshot
ExecStart=/bin/sh /opt/watch
TimeoutStartSec=15min

[Install]
WantedBy=multi-user.target
"""

NOTES = """\
systemctl is-enabled wulf-rates.timer > /out/enabled
systemctl is-active wulf-rates.timer > /out/active
for second in $(seq 300); do
    [ -s /run/wulf/rates.json ] && [ "$(systemctl show -P ActiveState wulf-rates.service)" = inactive ] && break
    sleep 1
done
systemctl show -P Result wulf-rates.service > /out/result
stat -c '%U %G %a' /run/wulf /run/wulf/rates.json /var/lib/wulf-rates > /out/owners
systemd-analyze verify wulf-rates.service wulf-rates.timer > /out/verify 2>&1
journalctl --no-pager -u wulf-rates.service > /out/journal 2>&1
ls -A /var/lib/wulf-rates > /out/account
cp /run/wulf/rates.json /out/
systemctl poweroff
"""


@pytest.fixture(scope="module")
def debian() -> Path:
    """The root of a small Debian with systemd, made once."""
    for program in ("debootstrap", "systemd-nspawn"):
        if shutil.which(program) is None:
            skip_or_fail(f"{program} is not installed")
    if os.geteuid() != 0:
        skip_or_fail("systemd-nspawn needs root")
    root = caches.CACHE / "debian-systemd"
    with caches.one_at_a_time("debian-systemd"):
        if not root.exists():
            made = root.with_name("debian-systemd.new")
            shutil.rmtree(made, ignore_errors=True)
            words = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(made)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                skip_or_fail(f"debootstrap: {done.stdout.splitlines()[-1]}")
            made.rename(root)
    return root


@pytest.fixture
def booted(debian: Path, tmp_path: Path) -> Iterator[Path]:
    """What a container noted that had the units installed, after its power went off."""
    python = subprocess.run(
        ["chroot", str(debian), "python3", "-c", "import sys; print(*sys.version_info[:2])"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    if tuple(map(int, python.stdout.split())) != sys.version_info[:2]:
        skip_or_fail(f"its Python is {python.stdout.strip()}: our packages are made for another one")
    out, root = tmp_path / "out", tmp_path / "root"
    out.mkdir()
    files = {
        "/usr/bin/wulf": WULF,
        "/usr/lib/python3/dist-packages/wulf.pth": "/opt/src\n/opt/packages\n",
        "/opt/watch": NOTES,
        "/etc/systemd/system/watch.service": WATCH,
        "/etc/systemd/system/wulf-rates.timer.d/soon.conf": SOON,
        "/etc/systemd/system/wulf-rates.service.d/eager.conf": EAGER,
        "/usr/lib/sysusers.d/wulf.conf": (UNITS / "wulf.sysusers").read_text(),
        "/etc/systemd/system/wulf-rates.service": (UNITS / "wulf-rates.service").read_text(),
        "/etc/systemd/system/wulf-rates.timer": (UNITS / "wulf-rates.timer").read_text(),
    }
    subprocess.run(["cp", "-a", str(debian), str(root)], check=True)
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if name == "/usr/bin/wulf" else 0o644)
    subprocess.run(["systemctl", f"--root={root}", "enable", "wulf-rates.timer", "watch.service"], check=True)
    binds = [
        f"--bind={out}:/out",
        f"--bind-ro={Path(wulf.__file__).parents[1]}:/opt/src",
        f"--bind-ro={sysconfig.get_paths()['purelib']}:/opt/packages",
    ]
    nspawn = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network", "-D", str(root)]
    with (tmp_path / "console").open("w") as console:
        done = subprocess.run(
            [*nspawn, *binds, "--boot"],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
            timeout=900,
            check=False,
        )
    assert done.returncode == 0, (tmp_path / "console").read_text()[-2000:]
    yield out
    shutil.rmtree(root)


def test_the_timer_has_the_rates_measured_under_its_own_account(booted: Path) -> None:
    def noted(name: str) -> str:
        return (booted / name).read_text().strip()

    assert (noted("enabled"), noted("active")) == ("enabled", "active")
    assert noted("verify") == ""
    assert noted("result") == "success", noted("journal")
    assert noted("owners").splitlines() == ["wulf wulf 755", "wulf wulf 644", "wulf wulf 755"]
    assert noted("account")
    rates = json.loads(noted("rates.json"))["rates"]
    assert any(rate["value"] is not None for rate in rates.values()), noted("journal")

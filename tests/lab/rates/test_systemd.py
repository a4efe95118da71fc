"""The units that measure rates in idle time, under a systemd that lives: installed as docs/how-to/rates.md says, in a
container of systemd-nspawn with Debian's own user land, which is thrown away."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

import wulf
from tests.lab.conftest import skip_or_fail
from tests.lab.containers import SYSTEMD, copy_of_debian, debian, enable, run_until_power_off

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(1800)]

UNITS = Path(__file__).parents[3] / "packaging" / "systemd"

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


@pytest.fixture
def booted(tmp_path: Path) -> Iterator[Path]:
    """What a container noted that had the units installed, after its power went off."""
    python = subprocess.run(
        ["chroot", str(debian("bookworm", SYSTEMD)), "python3", "-c", "import sys; print(*sys.version_info[:2])"],
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
    copy_of_debian(root, files)
    enable(root, "wulf-rates.timer", "watch.service")
    binds = [
        f"--bind={out}:/out",
        f"--bind-ro={Path(wulf.__file__).parents[1]}:/opt/src",
        f"--bind-ro={sysconfig.get_paths()['purelib']}:/opt/packages",
    ]
    run_until_power_off(root, tmp_path / "console", *binds)
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

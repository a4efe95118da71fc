"""The units that measure rates in idle time, under a systemd that lives: installed as docs/how-to/rates.md says, in a
container of systemd-nspawn with Debian's own user land, which is thrown away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.containers import switched_on

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(1800)]

UNITS = Path(__file__).parents[3] / "packaging" / "systemd"

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
    files = {
        "/opt/watch": NOTES,
        "/etc/systemd/system/watch.service": WATCH,
        "/etc/systemd/system/wulf-rates.timer.d/soon.conf": SOON,
        "/etc/systemd/system/wulf-rates.service.d/eager.conf": EAGER,
        "/usr/lib/sysusers.d/wulf.conf": (UNITS / "wulf.sysusers").read_text(),
        "/etc/systemd/system/wulf-rates.service": (UNITS / "wulf-rates.service").read_text(),
        "/etc/systemd/system/wulf-rates.timer": (UNITS / "wulf-rates.timer").read_text(),
    }
    with switched_on(tmp_path, "/usr/bin/wulf", files, "wulf-rates.timer", "watch.service") as out:
        yield out


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

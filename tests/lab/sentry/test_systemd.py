"""The sentry as a service of a systemd that lives, in a container that is thrown away, as docs/how-to/sentry.md has it:
killed, it is started again, and goes on; asked to end, it ends cleanly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.containers import switched_on
from tests.lab.sentry.watching import differences, is_sound, rows

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(1800)]

UNIT = Path(__file__).parents[3] / "examples/operations/sentry/wulf-sentry.service"

PLAN = """\
runs = "/var/lib/wulf-sentry/runs"
[[measure]]
name = "syscall"
command = ["node", "--probe", "syscall", "--quick"]
every = 5
seconds = 3
[idle]
load = 100000
users = true
[budget]
node_minutes = 100000
rest = 1
"""

SOON = "[Service]\nRestartSec=1\n"

WATCH = """\
[Unit]
Description=Kill the sentry, note what came of it, and power off

[Service]
Type=oneshot
ExecStart=/bin/sh /opt/watch
TimeoutStartSec=15min

[Install]
WantedBy=multi-user.target
"""

NOTES = """\
state=/var/lib/wulf-sentry/sentry.db
measured() { python3 -c "import sqlite3; db = sqlite3.connect('file:$state?mode=ro', uri=True)
print(db.execute(\\"SELECT COUNT(*) FROM measurement WHERE state = 'done'\\").fetchone()[0])" 2>/dev/null || echo 0; }
wait_for() { for second in $(seq 240); do [ "$(measured)" -ge "$1" ] && break; sleep 1; done; }
wait_for 1
systemctl kill --signal=KILL wulf-sentry.service
sleep 3
first=$(measured)
wait_for $((first + 1))
systemctl show -P NRestarts wulf-sentry.service > /out/restarts
systemctl is-active wulf-sentry.service > /out/active
stat -c '%U' $state > /out/owner
wulf sentry status --state $state > /out/status 2>&1
systemctl stop wulf-sentry.service
systemctl show -P Result wulf-sentry.service > /out/result
systemd-analyze verify wulf-sentry.service > /out/verify 2>&1
journalctl --no-pager -u wulf-sentry.service > /out/journal 2>&1
ps -eo args= | grep -c '[w]ulf.cli.main' > /out/left
cp -a /var/lib/wulf-sentry /out/
systemctl poweroff
"""


@pytest.fixture
def noted(tmp_path: Path) -> Iterator[Path]:
    """What a container noted that had the service installed, after its power went off."""
    files = {
        "/opt/watch": NOTES,
        "/usr/lib/sysusers.d/wulf.conf": 'u wulf - "wulf" /var/lib/wulf\n',
        "/etc/wulf/sentry.toml": PLAN,
        "/etc/systemd/system/watch.service": WATCH,
        "/etc/systemd/system/wulf-sentry.service": UNIT.read_text(),
        "/etc/systemd/system/wulf-sentry.service.d/soon.conf": SOON,
    }
    with switched_on(tmp_path, "/usr/local/bin/wulf", files, "wulf-sentry.service", "watch.service") as out:
        yield out


def test_a_service_that_is_killed_is_started_again_and_goes_on(noted: Path, tmp_path: Path) -> None:
    def said(name: str) -> str:
        return (noted / name).read_text().strip()

    assert said("verify") == ""
    assert (said("active"), said("owner"), said("result")) == ("active", "wulf", "success"), said("journal")
    assert int(said("restarts")) >= 1
    assert said("left") == "0"
    assert said("status").startswith("1 node watched"), said("journal")
    state, plan = noted / "wulf-sentry/sentry.db", tmp_path / "plan.toml"
    plan.write_text(PLAN)
    assert is_sound(state)
    states = dict(rows(state, "SELECT state, COUNT(*) FROM measurement GROUP BY state"))
    assert states["done"] >= 2
    assert set(states) <= {"done", "lost"}, states
    assert rows(state, "SELECT * FROM claim") == []
    moved = str(noted / "wulf-sentry/runs")
    script = "UPDATE measurement SET run = replace(run, '/var/lib/wulf-sentry/runs', ?)"
    import sqlite3

    with sqlite3.connect(state) as db:
        db.execute(script, (moved,))
    db.close()
    assert differences(state, plan, at_rest=True) == []

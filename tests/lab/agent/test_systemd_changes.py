"""Changes under a systemd that lives: it starts a killed watchdog anew, and a boot takes back what it has kept."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.containers import copy_of_debian, enable, run_until_power_off
from wulf.agent import bundle

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(1800)]

DUMMY = """\
[Service]
ExecStart=/bin/sleep infinity

[Install]
WantedBy=multi-user.target
"""

STORY = """\
[Service]
Type=oneshot
ExecStart=/usr/bin/python3 /opt/story
TimeoutStartSec=10min

[Install]
WantedBy=multi-user.target
"""

TOLD = """\
import json, os, subprocess, time
from pathlib import Path

UNIT = Path("/etc/systemd/system/wulf-take-back.service")
AGENT = ["python3", "/opt/wulf-agent"]
SETTING = {"name": "dummy", "mechanism": "service", "target": {"unit": "dummy", "what": "enabled"}, "place": ""}

def said(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stdout + done.stderr).strip()

def ask(op, **words):
    line = json.dumps({"id": 1, "op": op, **words}) + "\\n"
    done = subprocess.run(AGENT, input=line, capture_output=True, text=True)
    return [json.loads(answer) for answer in done.stdout.splitlines()][-1]

def until(condition):
    end = time.monotonic() + 120
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)

def watchdog():
    return (ask("change_status")["watchdog"] or {}).get("pid")

def main_process(unit):
    return int(said("systemctl", "show", "--property=MainPID", "--value", unit) or 0)

def first():
    wanted = {"campaign": "c1", "by": "me@head", "confirm": 3600, "lease": 3600}
    changed = ask("change_apply", settings=[{**SETTING, "value": "disabled"}], **wanted)
    unit, seen = changed["watchdog"]["started"].split()[-1], [changed["watchdog"]["pid"]]
    for number in (9, 15):
        os.kill(seen[-1], number)
        until(lambda: watchdog() == main_process(unit) not in seen)
        seen.append(watchdog())
    return {
        "outcome": changed["results"][0]["outcome"], "started": changed["watchdog"]["started"].split()[:2],
        "seen": seen, "enabled": said("systemctl", "is-enabled", "dummy"),
        "verify": said("systemd-analyze", "verify", str(UNIT)), "unit": UNIT.exists(),
    }

def second():
    until(lambda: not UNIT.exists())
    found = ask("change_status")
    return {
        "enabled": said("systemctl", "is-enabled", "dummy"), "unit": UNIT.exists(), "open": found["open"],
        "taken back": [(each["name"], each["undone"]["by"]) for each in found["taken_back"]],
        "problems": found["problems"], "failed": said("systemctl", "--failed", "--quiet", "--plain", "--no-legend"),
    }

notes = Path("/out/first")
if not notes.exists():
    notes.write_text(json.dumps(first()))
    subprocess.run(["systemctl", "reboot"])
else:
    Path("/out/second").write_text(json.dumps(second()))
    subprocess.run(["systemctl", "poweroff"])
"""


@pytest.fixture(scope="module")
def boots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[dict[str, Any]]]:
    """What each of two boots found."""
    folder = tmp_path_factory.mktemp("container")
    out, root = folder / "out", folder / "root"
    out.mkdir()
    units = {"/etc/systemd/system/dummy.service": DUMMY, "/etc/systemd/system/story.service": STORY}
    copy_of_debian(root, {**units, "/opt/story": TOLD})
    shutil.copy(bundle.build(folder), root / "opt" / "wulf-agent")
    enable(root, "dummy.service", "story.service")
    run_until_power_off(root, folder / "console", f"--bind={out}:/out")
    yield [json.loads((out / boot).read_text()) for boot in ("first", "second")]
    shutil.rmtree(root)


def test_a_watchdog_that_is_killed_is_started_anew(boots: list[dict[str, Any]]) -> None:
    first, _ = boots
    assert (first["outcome"], first["started"]) == ("applied", ["systemd", "unit"])
    assert None not in first["seen"]
    assert len(set(first["seen"])) == 3, "killed, and asked to end"


def test_a_boot_takes_back_what_it_has_kept(boots: list[dict[str, Any]]) -> None:
    first, second = boots
    assert (first["unit"], first["verify"], first["enabled"]) == (True, "", "disabled")
    assert (second["unit"], second["enabled"], second["failed"]) == (False, "enabled", "")
    assert (second["open"], second["problems"]) == ([], [])
    assert second["taken back"] == [["dummy", "watchdog: the node has booted"]]

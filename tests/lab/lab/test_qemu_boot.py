"""What nodes read when they start: exported files, a module's option among them, and the timer that measures rates."""

from __future__ import annotations

import io
import json
import sys
import sysconfig
import tarfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import wulf
from tests.kept import write_kept
from tests.lab.machines import ask, await_boot, boot_id, put, run
from tests.processes import wait_until
from wulf import lab
from wulf.cli.tune import export as tune_export
from wulf.tune.kept import Kept, KeptSettings

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(3600)]

NODE = "n2"
KEPT = (
    Kept(name="nic.interrupt_throttle_rate", value="0", nodes=NODE),
    Kept(name="nic.ring_rx", place="eth0", value=512, before=256, nodes=NODE),
    Kept(name="net.rmem_max", value=4194304, before=212992, nodes=NODE),
)
FILES = ("etc/modprobe.d/wulf.conf", "etc/systemd/network/50-wulf-eth0.link", "etc/sysctl.d/99-wulf.conf")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A campaign that kept settings of which one is an option of the card's driver, which takes a reboot."""
    path = tmp_path / "20261122T010203-tune-ab12"
    path.mkdir()
    (path / "run.json").write_text(json.dumps({"id": path.name, "command": "tune", "started": "2026-11-22T01:02:03Z"}))
    write_kept(path, KeptSettings(campaign=path.name, kept=KEPT))
    return path


def verified(run: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    done = CliRunner().invoke(tune_export.verify, [str(run), "--json", "--lab"], standalone_mode=False)
    assert done.exception is None, done.exception
    return done.return_value, {one["name"]: one for one in map(json.loads, done.stdout.splitlines())}


def reboot(made: lab.Lab, node: str) -> None:
    before = boot_id(made, node)
    made.exec(node, ["systemctl", "reboot"])
    await_boot(made, node, before)


def throttling(made: lab.Lab) -> str:
    """What the driver said of its option when it was loaded."""
    return run(made, NODE, "journalctl -k -b --no-pager | grep -o 'Interrupt Throttling Rate.*' || true")


def test_exported_files_hold_after_a_reboot(machines: lab.Lab, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WULF_LAB", machines.name)
    exported = CliRunner().invoke(tune_export.export, [str(kept), "--format", "sysctl"], standalone_mode=False)
    assert exported.exception is None
    assert "not exported" not in exported.stderr
    folder = kept / "export" / "sysctl"
    assert {str(path.relative_to(folder)) for path in folder.glob("etc/**/*") if path.is_file()} == set(FILES)
    assert throttling(machines).endswith("set to dynamic conservative mode")
    try:
        for name in FILES:
            put(machines, NODE, (folder / name).read_bytes(), f"/{name}", "0644")
        code, found = verified(kept)
        assert code == 1
        assert found["nic.ring_rx"]["state"] == found["net.rmem_max"]["state"] == "differs"
        reboot(machines, NODE)
        code, found = verified(kept)
        assert (found["nic.ring_rx"]["state"], found["nic.ring_rx"]["reason"]) == ("there", "")
        assert (found["net.rmem_max"]["state"], found["net.rmem_max"]["reason"]) == ("there", "")
        # The kernel shows this option nowhere: no yes, but what the files give is said, and the driver has said it.
        assert (code, found["nic.interrupt_throttle_rate"]["state"]) == (3, "unreadable")
        assert found["nic.interrupt_throttle_rate"]["reason"].endswith("; a start gives it 0")
        assert throttling(machines) == "Interrupt Throttling Rate (ints/sec) turned off"
        assert run(machines, NODE, "ethtool -c eth0 | grep ^rx-usecs:").split() == ["rx-usecs:", "0"]
    finally:
        run(machines, NODE, f"cd /; rm -f {' '.join(FILES)}; sync")
    machines.kill_node(NODE)  # QEMU's card, reset with throttling off, has been seen to hold the next boot up for ever
    machines.power_on(NODE)
    code, found = verified(kept)
    assert code == 1
    assert found["nic.ring_rx"]["now"] == 256
    assert run(machines, NODE, "ethtool -c eth0 | grep ^rx-usecs:").split() == ["rx-usecs:", "3"]


TREE = "/opt/wulf"
PACKAGES = [
    *("numpy", "numpy.libs", "scipy", "scipy.libs", "pydantic", "pydantic_core", "annotated_types", "ClusterShell"),
    *("typing_inspection", "typing_extensions.py", "click", "rich", "pygments", "markdown_it", "mdurl", "yaml"),
    *("pyroute2", f"pyroute2-{version('pyroute2')}.dist-info"),  # which version it is, the agent's bundle says
]
WULF = f'#!/bin/sh\nPYTHONPATH={TREE} exec python3 -m wulf.cli.main "$@"\n'
UNITS = Path(__file__).parents[3] / "packaging" / "systemd"
AT_ONCE = "[Timer]\nOnBootSec=1s\nOnUnitInactiveSec=5s\nRandomizedDelaySec=0\nAccuracySec=1s\n"
"""The timer without its patience."""
ANY_LOAD = "[Service]\nExecStart=\nExecStart=/usr/bin/wulf rates refresh --max-load 100 --share 95%% --for 1s\n"
"""An emulated machine is busy with next to nothing, and its first batch would be an hour's credit away."""


def installed(made: lab.Lab, node: str) -> None:
    """wulf as a package puts it on a node: its Python, its programs, its units and their account."""
    if run(made, node, f"test -d {TREE} && echo there || true"):
        return
    source = Path(wulf.__file__).parent
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in PACKAGES:
            path = Path(sysconfig.get_path("platlib")) / name
            if path.exists():
                archive.add(path, name, filter=lambda one: None if one.name.endswith("/tests") else one)
        archive.add(source, "wulf")
    put(made, node, packed.getvalue(), "/opt/wulf.tar")
    run(made, node, f"mkdir -p {TREE}; tar -xf /opt/wulf.tar -C {TREE} --no-same-owner; rm /opt/wulf.tar")
    put(made, node, WULF.encode(), "/usr/bin/wulf")
    put(made, node, (UNITS / "wulf.sysusers").read_bytes(), "/usr/lib/sysusers.d/wulf.conf", "0644")
    for unit in ("wulf-rates.service", "wulf-rates.timer"):
        put(made, node, (UNITS / unit).read_bytes(), f"/etc/systemd/system/{unit}", "0644")
    run(made, node, "systemd-sysusers; systemctl daemon-reload")


def service(made: lab.Lab) -> dict[str, str]:
    """How the service's last run ended."""
    shown = run(made, "n1", "systemctl show wulf-rates.service -p Result -p ExecMainStatus -p ActiveState")
    return dict(line.split("=", 1) for line in shown.splitlines())


def runs(made: lab.Lab) -> list[str]:
    """What the service has said each time."""
    said = run(made, "n1", "journalctl -b -o cat --no-pager -u wulf-rates.service")
    return [line for line in said.splitlines() if line.startswith("Finished ")]


def test_timer_measures_rates_as_its_own_account_and_they_survive_it(machines: lab.Lab) -> None:
    if run(machines, "n1", "python3 --version").split()[1].split(".")[:2] != [str(one) for one in sys.version_info[:2]]:
        pytest.skip("the nodes' Python is another one than this: its packages can't be carried there")
    installed(machines, "n1")
    assert run(machines, "n1", "systemd-analyze verify wulf-rates.timer wulf-rates.service 2>&1") == ""
    run(machines, "n1", "install -d -m 700 -o root -g root /var/lib/wulf /var/lib/wulf/changes")
    run(machines, "n1", "systemctl start wulf-rates.service")  # as it is installed: an account is begun, nothing spent
    assert service(machines)["Result"] == "success"
    owner = run(
        machines, "n1", "stat -c %U:%G:%a /run/wulf /var/lib/wulf-rates /var/lib/wulf-rates/refresh.json"
    ).split()
    assert owner == ["wulf:wulf:755", "wulf:wulf:755", "wulf:wulf:644"]
    assert run(machines, "n1", "stat -c %U:%a /var/lib/wulf /var/lib/wulf/changes").split() == ["root:700"] * 2
    for unit, text in (("timer", AT_ONCE), ("service", ANY_LOAD)):
        run(machines, "n1", f"mkdir -p /etc/systemd/system/wulf-rates.{unit}.d")
        put(machines, "n1", text.encode(), f"/etc/systemd/system/wulf-rates.{unit}.d/test.conf", "0644")
    try:
        run(machines, "n1", "systemctl daemon-reload; systemctl enable --now wulf-rates.timer")
        assert wait_until(lambda: ask(machines, "n1", "test -s /run/wulf/rates.json").returncode == 0, 1200)
        assert service(machines)["Result"] == "success"
        listed = run(machines, "n1", "wulf rates list")
        assert "measured" in listed
    finally:
        run(machines, "n1", "systemctl disable --now wulf-rates.timer; systemctl stop wulf-rates.service")

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tests.kept import write_kept
from tests.unit.tune.make_exports import RTT
from tests.wording import lacking
from wulf.cli.tune import export as tune_export
from wulf.core.errors import UsageError
from wulf.tune.kept import Kept, KeptSettings
from wulf.workflow.tune import verify as tune_verify
from wulf.workflow.tune.verify import Verified

KEPT = (
    Kept(name="nic.mtu", place="eth0", value=6000, before=1500, effect=RTT, nodes="n[1-2]"),
    Kept(name="tcp.low_latency", value=True, before=None, nodes="n[1-2]"),
)


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "runs" / "20261122T010203-tune-ab12"
    path.mkdir(parents=True)
    meta = {"id": path.name, "command": "tune", "state": "complete", "started": "2026-11-22T01:02:03.000Z"}
    (path / "run.json").write_text(json.dumps(meta))
    write_kept(path, KeptSettings(campaign="c1", kept=KEPT))
    return path


def call(command, *words):
    return CliRunner().invoke(command, [*map(str, words)], standalone_mode=False)


def test_files_are_written_and_what_is_not_exported_is_said(run, tmp_path, wording):
    out = tmp_path / "out"
    done = call(tune_export.export, run, "--format", "shell", "--out", out)
    assert done.exception is None
    assert done.stdout.splitlines() == [str(out / "README.md"), str(out / "wulf-settings.sh")]
    assert done.stderr.count("\n") == 1
    assert lacking(done.stderr, "not exported: tcp.low_latency", "before is not known") == []
    wording(done.stderr)
    script = out / "wulf-settings.sh"
    assert script.stat().st_mode & 0o777 == 0o755
    (comment,) = (line for line in script.read_text().splitlines() if "# nic.mtu on eth0: " in line)
    assert lacking(comment, "rtt -18.4 us (-18.9 to -17.8), faster", "20261122T010203-tune-ab12", "2026-11-22") == []


def test_what_a_run_of_others_says_drives_no_terminal(run, tmp_path):
    odd = Kept(name="nic.mtu", place="eth0\x9b31m\u202e", value=6000, before=1500, nodes="n[1-2]")
    write_kept(run, KeptSettings(campaign="c1", kept=(odd, *KEPT)))
    done = call(tune_export.export, run, "--format", "shell", "--out", tmp_path / "out")
    assert "not exported: nic.mtu on eth0" in done.stderr
    assert not set(done.stderr) & set("\x9b\u202e")


def test_as_json_into_the_run_s_own_folder(run):
    done = call(tune_export.export, run.name, "--in", run.parent, "--format", "sysctl", "--json")
    told = json.loads(done.stdout)
    assert told["folder"] == str(run / "export" / "sysctl")
    assert told["files"] == ["README.md", "etc/sysctl.d/99-wulf.conf", "etc/systemd/network/50-wulf-eth0.link"]
    assert told["not_exported"] == []
    assert "net.ipv4.tcp_low_latency = 1\n" in (run / "export/sysctl/etc/sysctl.d/99-wulf.conf").read_text()


def test_a_folder_that_cannot_be_made_is_named(run, tmp_path):
    (tmp_path / "file").write_text("")
    done = call(tune_export.export, run, "--format", "shell", "--out", tmp_path / "file")
    assert isinstance(done.exception, UsageError)
    assert "can't be written" in str(done.exception)


@pytest.mark.parametrize(
    ("command", "words"),
    [(tune_export.export, ["--format", "shell"]), (tune_export.verify, [])],
    ids=["export", "verify"],
)
def test_a_campaign_that_kept_nothing_is_no_success(run, command, words):
    write_kept(run, KeptSettings(campaign="c1", kept=()))
    done = call(command, run, *words)
    assert isinstance(done.exception, UsageError)
    assert "kept nothing" in str(done.exception)


def test_verify_asks_the_campaign_s_nodes_and_returns_what_it_found(run, monkeypatch):
    from wulf.tune.verifying import Checked, State

    seen = []

    def verify(inventory, kept, _catalogue):
        seen.append((inventory.names, kept))
        return Verified([Checked("n1", "nic.mtu", "eth0", 6000, 1500, State.DIFFERS)])

    monkeypatch.setattr(tune_verify, "verify", verify)
    done = call(tune_export.verify, run)
    assert seen == [(("n1", "n2"), KEPT)]
    assert done.return_value == 1
    assert [line.split() for line in done.stdout.splitlines()[1:]] == [
        ["n1", "nic.mtu", "on", "eth0", "6000", "1500", "differs"]
    ]
    as_json = call(tune_export.verify, run, "--nodes", "n2", "--json")
    assert seen[1][0] == ("n2",)
    assert json.loads(as_json.stdout) == {
        "node": "n1", "name": "nic.mtu", "place": "eth0", "kept": 6000, "now": 1500, "state": "differs", "reason": "",
    }  # fmt: skip

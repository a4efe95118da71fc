"""The main job on a real lab: real namespaces, real sshd, the real probe."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import jsonschema
import pytest

from tests.lab.commands import HANG, WULF, left, start, wulf
from tests.running.tiers import first_of
from wulf import lab as labs
from wulf.store.run import read_run
from wulf.workflow.engine.recover import load

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("mark")]
ROOT = Path(__file__).parents[3]


SHOWN = (["link"], ["netns"])
"""What `ip` lists of this machine's networks."""


@pytest.mark.alone
def test_the_demo_names_n3_and_only_n3(tmp_path: Path) -> None:
    before = subprocess.run(["ip", "link"], capture_output=True, text=True, check=True).stdout
    done = wulf("demo", "--quick", "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the findings name n3 and only n3" in done.stdout
    assert "report.html" in done.stdout
    run = read_run(tmp_path / "run")
    assert {f.subject for f in run.findings if f.kind in ("node", "link", "failed", "fact")} == {"n3"}
    page = (tmp_path / "run" / "report.html").read_text()
    assert "n3" in page
    slow = [r.value for r in run.records if r.metric == "throughput" and "n3" in r.nodes and r.value]
    assert all(0.85 * 25e6 < value < 1.02 * 25e6 for value in slow), slow
    assert subprocess.run(["ip", "link"], capture_output=True, text=True, check=True).stdout == before
    assert max(len(line) for line in done.stdout.splitlines() if "report:" not in line and "demo:" not in line) <= 80


@pytest.mark.command("survey")
def test_json_records_validate_against_the_published_schema(tmp_path: Path, two_nodes: labs.Lab) -> None:
    done = wulf("survey", "--lab", "--quick", "--json", "--out", str(tmp_path / "run"))
    assert done.returncode in (0, 1, 3), done.stderr
    schema = json.loads((ROOT / "docs" / "reference" / "record.schema.json").read_text())
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(records) >= 27
    for record in records:
        jsonschema.validate(record, schema)
    assert {r["metric"] for r in records} >= {"rtt", "throughput"}
    assert all(r["low"] <= r["value"] <= r["high"] for r in records if r["value"] is not None)
    assert "report:" in done.stderr


@pytest.mark.full
def test_a_single_measurement(tmp_path: Path, two_nodes: labs.Lab) -> None:
    done = wulf(
        "net", "pingpong", "n1", "n2", "--bytes", "1", "--lab", "--quick", "--json", "--out", str(tmp_path / "r")
    )
    assert done.returncode in (0, 1), done.stderr
    rtt = json.loads(done.stdout.splitlines()[0])
    assert (rtt["subject"], rtt["metric"], rtt["unit"]) == ("n1>n2", "rtt", "s")
    assert 1e-6 < rtt["value"] < 1e-2
    assert rtt["counters"]["client"], "host counters of both ends stand beside the figure"
    assert rtt["counters"]["server"]


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    process = start("survey", "--lab", "3", out=tmp_path / "run")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANG)
    assert process.returncode == 130
    run = read_run(tmp_path / "run")
    assert run.meta["state"] == "interrupted"
    assert len(run.replicates) > 20
    assert (tmp_path / "run" / "report.html").exists()


@pytest.mark.full
def test_kill_9_in_the_middle_leaves_nothing_and_the_run_is_readable(tmp_path: Path, mark: str, lab_name: str) -> None:
    before = [subprocess.run(["ip", *words], capture_output=True, text=True, check=True).stdout for words in SHOWN]
    process = start("demo", out=tmp_path / "run")
    process.kill()
    process.communicate(timeout=HANG)
    wulf("lab", "down", "--name", lab_name)  # whichever lab it names, it clears what others left
    assert left(mark) == []
    after = [subprocess.run(["ip", *words], capture_output=True, text=True, check=True).stdout for words in SHOWN]
    assert after == before
    run = load(tmp_path / "run")
    assert run.meta["state"] == "interrupted"
    assert len(run.replicates) > 20
    assert wulf("report", str(tmp_path / "run")).returncode == 0


@pytest.mark.full
def test_a_node_that_dies_in_the_middle(tmp_path: Path, lab_name: str) -> None:
    with labs.up(3, keep=True, name=lab_name) as lab:
        process = start("survey", "--lab", "--quick", out=tmp_path / "run", env=os.environ | {"WULF_LAB": lab.name})
        lab.kill_node("n2")
        out, err = process.communicate(timeout=HANG)
    assert process.returncode == 3, out + err
    run = read_run(tmp_path / "run")
    failed = [r for r in run.records if r.verdict == "failed"]
    assert failed
    assert all("n2" in r.nodes for r in failed)
    assert all(r.verdict in ("ok", "noisy") for r in run.records if "n2" not in r.nodes and r.metric == "rtt")
    assert "n2" in {f.subject for f in run.findings if f.kind == "failed"}


@pytest.mark.parametrize(
    ("words", "said"),
    first_of(
        [
            (["net", "pingpong", "n1", "n2", "--bytes", "0", "--lab"], "bytes = 0 B is too small"),
            (["net", "pingpong", "n1", "n2", "--transport", "udp", "--bytes", "65508", "--lab"], "udp"),
            (["net", "pingpong", "n1", "n9", "--lab"], "not in the inventory: n9"),
            (["survey", "--lab", "--sweep-pair", "n1,n7"], "not in the inventory: n7"),
            (["survey", "--inventory", "absent.toml"], "absent.toml"),
            (["survey", "--width", "0", "--lab", "2"], "--width"),
            (["lab", "up", "--rate", "fast"], "fast"),
        ]
    ),
)
def test_bad_input_is_refused_before_anything_is_measured(
    words: list[str], said: str, tmp_path: Path, two_nodes: labs.Lab
) -> None:
    done = wulf(*words, cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert not list(tmp_path.glob("runs/*/replicates.jsonl"))


def test_a_malformed_cluster_toml_is_named_with_file_line_and_field(tmp_path: Path) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text('nodes = "n[1-4]"\nlaucher = "ssh"\n')
    done = wulf("survey", "--inventory", str(file))
    assert done.returncode == 2
    assert f"{file}:2" in done.stderr
    assert "laucher" in done.stderr


@pytest.mark.full
def test_two_surveys_into_one_directory(tmp_path: Path, two_nodes: labs.Lab) -> None:
    first = start("survey", "--lab", out=tmp_path / "run")
    second = wulf("survey", "--lab", "--quick", "--out", str(tmp_path / "run"))
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=HANG)
    assert second.returncode == 2
    assert "another wulf is writing" in second.stderr
    third = wulf("survey", "--lab", "--quick", "--out", str(tmp_path / "run"))
    assert third.returncode == 2
    assert "already holds a run" in third.stderr


def test_no_permission_for_the_run(tmp_path: Path, two_nodes: labs.Lab) -> None:
    file = tmp_path / "file"
    file.write_text("")
    done = wulf("survey", "--lab", "--quick", "--out", str(file / "run"))
    assert done.returncode == 2
    assert str(file) in done.stderr


@pytest.mark.full
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system in a mount namespace of its own: needs root")
def test_a_full_disk_ends_it_with_the_reason_and_keeps_what_was_measured(tmp_path: Path) -> None:
    mount = "mount -t tmpfs -o size=256k tmpfs disk && mkdir kept && "
    survey = f"{' '.join(WULF)} survey --lab 2 --quick --out disk/run; status=$?; cp -r disk/run kept/; exit $status"
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", mount + survey],
        cwd=_with(tmp_path / "disk"), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "No space left on device" in done.stderr
    assert len(load(tmp_path / "kept" / "run").replicates) > 5


def _with(directory: Path) -> Path:
    directory.mkdir()
    return directory.parent

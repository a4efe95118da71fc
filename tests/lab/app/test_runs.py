"""`wulf app` on a real lab of two nodes: what runs, and everything that can go wrong with an application."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.lab.commands import WULF
from tests.lab.conftest import needs
from tests.process.native.mpi_session import each_mpi
from tests.processes import wait_until
from tests.running.tiers import first_of
from wulf import lab as labs

PATIENCE = 600
"""Seconds that only a hang reaches: agents and ranks start slowly on a machine that others use, too."""

pytestmark = [pytest.mark.lab, pytest.mark.timeout(PATIENCE + 60)]


def wulf(lab: labs.Lab, out: Path, *words: str) -> subprocess.CompletedProcess[str]:
    at = words.index("--") if "--" in words else len(words)
    return subprocess.run(
        [*WULF, "app", *words[:at], "--lab", "--quick", "--json", "--out", str(out), *words[at:]],
        capture_output=True, text=True, timeout=PATIENCE, check=False, env=os.environ | {"WULF_LAB": lab.name},
    )  # fmt: skip


def record_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    (record,) = [record for record in map(json.loads, done.stdout.splitlines()) if "stopped" in record]
    return record


def marked(mark: str) -> list[str]:
    """The processes of this machine, a lab's nodes included, that have a word in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "cmdline").read_text():
                found.append(entry.name)
        except OSError:
            continue
    return found


@pytest.mark.full
def test_a_command_runs_on_each_node_by_itself(two_nodes: labs.Lab, tmp_path: Path) -> None:
    words = ["--runs", "2", "--figure", r"load (\d+)", "--unit", "s", "--", "sh", "-c", "echo load 4; hostname"]
    done = wulf(two_nodes, tmp_path / "run", "run", "n1", "n2", *words)
    assert done.returncode == 0, done.stderr
    records = [record for record in map(json.loads, done.stdout.splitlines()) if record["metric"] == "figure"]
    assert {(record["subject"], record["value"], record["replicates"]) for record in records} == {
        ("n1", 4.0, 2),
        ("n2", 4.0, 2),
    }
    texts = [path.read_text() for path in sorted((tmp_path / "run/outputs").iterdir())]
    assert len(texts) == 4
    assert sum("\nn2\n" in text for text in texts) == 2


@pytest.mark.command("app run")
@each_mpi
def test_a_command_runs_over_ranks_with_one_folder_on_all_nodes(two_nodes: labs.Lab, tmp_path: Path, kind: str) -> None:
    script = 'echo "rank $OMPI_COMM_WORLD_RANK$PMI_RANK on $(hostname) $WHO in $PWD"'
    words = ["--ranks", "2", "--mpi", kind, "--runs", "1", "--env", "WHO=me", "--check", "rank 1 on n2 me"]
    done = wulf(two_nodes, tmp_path / "run", "run", "n[1-2]", *words, "--", "sh", "-c", script)
    record = record_of(done)
    assert record["value"] is not None, record["reason"]
    assert (record["subject"], record["params"]["ranks"], record["metric"]) == ("n[1-2]", 2, "wall")
    (text,) = [path.read_text() for path in (tmp_path / "run/outputs").iterdir()]
    folders = {line.split(" in ")[1] for line in text.splitlines() if line.startswith("rank")}
    assert len(folders) == 1
    assert not Path(folders.pop()).exists()


FAULTS = {
    "status": ("echo sorry >&2; exit 3", "failed", "ended with status 3; its last words: sorry"),
    "signal": ("kill -SEGV $$", "failed", "killed by SIGSEGV"),
    "figure": ("echo nothing", "no-figure", "nothing that"),
    "wrong": ("echo figure 1", "wrong", "'residual passed' is not in its output"),
}


@pytest.mark.parametrize("fault", first_of(FAULTS))
def test_what_goes_wrong_is_said_and_the_run_is_complete(two_nodes: labs.Lab, tmp_path: Path, fault: str) -> None:
    script, verdict, words = FAULTS[fault]
    options = ["--runs", "1", "--figure", r"figure (\d)", *(["--check", "residual passed"] if fault == "wrong" else [])]
    done = wulf(two_nodes, tmp_path / "run", "run", "n1", *options, "--", "sh", "-c", script)
    assert done.returncode == 3, done.stderr
    record = record_of(done)
    assert (record["verdict"], record["value"]) == ("failed", None)
    assert words in record["reason"]
    (replicate,) = map(json.loads, (tmp_path / "run/replicates.jsonl").read_text().splitlines())
    assert replicate["error"]["code"] == verdict
    assert json.loads((tmp_path / "run/run.json").read_text())["state"] == "complete"


@pytest.mark.full
def test_one_node_that_fails_does_not_cost_the_others(two_nodes: labs.Lab, tmp_path: Path) -> None:
    script = '[ "$(hostname)" = n2 ] && exit 9; echo figure 7'
    done = wulf(two_nodes, tmp_path / "run", "run", "n[1-2]", "--runs", "2", "--figure", r"figure (\d)", "--", "sh",
                "-c", script)  # fmt: skip
    assert done.returncode == 3
    values = {r["subject"]: (r["value"], r["verdict"]) for r in map(json.loads, done.stdout.splitlines())
              if "stopped" in r}  # fmt: skip
    assert values == {"n1": (7.0, "noisy"), "n2": (None, "failed")}


@pytest.mark.full
def test_a_flood_is_a_note_and_the_last_figure_counts(two_nodes: labs.Lab, tmp_path: Path) -> None:
    script = "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo figure 5"
    done = wulf(two_nodes, tmp_path / "run", "run", "n1", "--runs", "1", "--figure", r"^figure (\d)", "--", "sh", "-c",
                script)  # fmt: skip
    record = record_of(done)
    assert record["value"] == 5.0, record["reason"]
    assert "100 MB" in record["info"]["notes"][0]
    (text,) = (tmp_path / "run/outputs").iterdir()
    assert text.stat().st_size < 3_000_000


@pytest.mark.full
@each_mpi
def test_ranks_that_hang_are_ended_on_all_nodes(two_nodes: labs.Lab, tmp_path: Path, kind: str) -> None:
    mark = f"wulf-hangs-{secrets.token_hex(6)}"
    words = ["--ranks", "2", "--mpi", kind, "--runs", "1", "--timeout", "8"]
    script = f"echo up on $(hostname); trap '' TERM; sleep 1000 & sleep 1000; : {mark}"
    done = wulf(two_nodes, tmp_path / "run", "run", "n[1-2]", *words, "--", "sh", "-c", script)
    record = record_of(done)
    assert (record["verdict"], record["value"]) == ("failed", None)
    assert "did not end in time" in record["reason"]
    (text,) = [path.read_text() for path in (tmp_path / "run/outputs").iterdir()]
    assert "up on n1" in text
    assert "up on n2" in text
    assert wait_until(lambda: not marked(mark), 60), marked(mark)


@pytest.mark.full
@each_mpi
def test_ctrl_c_leaves_no_rank_behind(two_nodes: labs.Lab, tmp_path: Path, kind: str) -> None:
    mark = f"wulf-hangs-{secrets.token_hex(6)}"
    words = ["run", "n[1-2]", "--ranks", "2", "--mpi", kind, "--lab", "--out", str(tmp_path / "run")]
    command = [*WULF, "app", *words, "--", "sh", "-c", f"trap '' TERM; sleep 1000; : {mark}"]
    with subprocess.Popen(
        command, env=os.environ | {"WULF_LAB": two_nodes.name}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        started = wait_until(lambda: sum("sh" in Path(f"/proc/{p}/comm").read_text() for p in ranks(mark)) >= 2, 300)
        running.send_signal(2)
        out, err = running.communicate(timeout=PATIENCE)
    assert started, err
    assert running.returncode == 130, (out, err)
    assert wait_until(lambda: not marked(mark), 60), marked(mark)


def ranks(mark: str) -> list[str]:
    return [pid for pid in marked(mark) if Path(f"/proc/{pid}/comm").exists()]


@pytest.mark.command("app phyml")
@needs(shutil.which("phyml-mpi"), "phyml")
def test_phyml_over_two_nodes(two_nodes: labs.Lab, tmp_path: Path) -> None:
    words = ["--ranks", "2", "--runs", "1", "--taxa", "6", "--sites", "60", "--bootstraps", "2", "--timeout", "500s"]
    record = record_of(wulf(two_nodes, tmp_path / "run", "phyml", "n[1-2]", *words))
    assert record["value"] is not None, record["reason"]
    assert record["params"]["mpi"].startswith("openmpi")
    assert record["info"]["checks"]["tree"] == "the tree has 6 taxa of 6"
    assert record["info"]["bootstrap trees"] == 2


@needs(shutil.which("blastn"), "ncbi-blast+")
def test_blast_splits_its_database_over_two_nodes(two_nodes: labs.Lab, tmp_path: Path) -> None:
    words = ["--ranks", "3", "--runs", "1", "--families", "5", "--members", "8", "--sites", "200"]
    record = record_of(wulf(two_nodes, tmp_path / "run", "blast", "n[1-2]", *words))
    assert record["value"] is not None, record["reason"]
    assert (record["metric"], record["unit"], record["info"]["volumes"]) == ("time", "s", 3)
    assert record["info"]["checks"]["merged"].endswith("in one of the two alone: 0")


@pytest.mark.command("app list")
def test_what_the_nodes_have(two_nodes: labs.Lab) -> None:
    done = subprocess.run(
        [*WULF, "app", "list", "n[1-2]", "--lab", "--json"],
        capture_output=True, text=True, timeout=PATIENCE, check=False, env=os.environ | {"WULF_LAB": two_nodes.name},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = {row["driver"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert {"stream", "phyml", "lammps"} <= set(rows)
    assert all(row["nodes"] == ["n1", "n2"] for row in rows.values())
    assert all(row["path"] or "in the PATH" in row["reason"] for row in rows.values())


@pytest.mark.full
def test_a_run_that_was_interrupted_goes_on(two_nodes: labs.Lab, tmp_path: Path) -> None:
    words = ["run", "n1", "--runs", "3", "--figure", r"figure (\d)", "--", "sh", "-c", "echo figure 3"]
    assert wulf(two_nodes, tmp_path / "run", *words).returncode == 0
    replicates = tmp_path / "run/replicates.jsonl"
    kept = replicates.read_text().splitlines()[:1]
    replicates.write_text(f"{kept[0]}\n")
    state = json.loads((tmp_path / "run/run.json").read_text())
    (tmp_path / "run/run.json").write_text(json.dumps({**state, "state": "interrupted"}))
    environment = os.environ | {"WULF_LAB": two_nodes.name}
    done = subprocess.run(
        [*WULF, "resume", str(tmp_path / "run")], capture_output=True, text=True, timeout=PATIENCE, check=False,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = replicates.read_text().splitlines()
    assert (len(lines), lines[0]) == (3, kept[0])

"""Every command that takes `--lab`, once over a small lab of real nodes: it answers, and its run is complete.

What a command does in full is in its own file. Those of its tests that `make test` runs carry the mark `command`; a
command that has none has its line here.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.lab.conftest import ssh
from tests.process.native.mpi_session import installed
from wulf import lab as labs
from wulf.agent.blas import find as blas
from wulf.cli.main import cli
from wulf.store.run import Run, read_run
from wulf.tune.setting import Aim
from wulf.workflow.tune import measures as tune_measures

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]

ANY_RUN = (0, 1)
"""A machine that others use may make something stand out."""

PAIR = {
    "burst": "burst", "connect": "connect", "loaded": "rtt", "oneway": "there", "openloop": "delay", "pingpong": "rtt",
    "request": "rtt", "stream": "throughput", "sweep --most 64 --seconds 0.005": "rtt",
    "curve --least 4096 --most 8192 --seconds 0.01": "client_cpus",
    "zero-loss --frames 1518 --seconds 0.02 --width 20%": "sent",
}  # fmt: skip
"""Pattern of `wulf net` between two nodes, with what makes it short → a metric of its records. Of a sweep its cells: on
a busy machine the line through a few small sizes may tell no latency, and says why."""

TWO = {
    "clock": "error", "collective --start barrier": "time",
    "collectives --sizes 8 --ops bcast --start barrier": "time", "linpack": "rate", "loggp": "prtt",
    "message-rate": "rate", "overlap": "overlap", "pairs": "rtt", "pingping": "time", "pingpong": "rtt",
    "ptrans": "throughput", "ring": "latency", "stream": "throughput",
    "sweep --most 64 --seconds 0.005": "rtt", "curve --least 4096 --most 8192 --seconds 0.01": "client_cpus",
}  # fmt: skip
"""Probe of `wulf mpi` between two nodes → a metric of its records. Collectives begin at a barrier: at an agreed moment
all ranks must have a CPU, which a busy machine gives them too late."""

CLUSTER = {
    "pairs --nodes n[1-3] --rounds 1": "throughput", "incast --to n1 --senders 2": "incast",
    "bisection --halvings 1 --search 1": "bisection_worst",
}  # fmt: skip
"""What `wulf net` measures over a whole cluster, with what makes it short → a metric of its records."""

ONE = {"get": "latency", "put": "latency", "onesided --sizes 8": "latency"}
"""Those of two ranks of one node: Debian's Open MPI makes no window over TCP."""


@pytest.fixture(autouse=True)
def short_replicates(monkeypatch: pytest.MonkeyPatch) -> None:
    """A campaign has no option for it; what it says of the nodes is in tune/test_campaigns.py."""
    latency = replace(tune_measures.NET[Aim.LATENCY], seconds=0.01)
    monkeypatch.setitem(tune_measures.NET, Aim.LATENCY, latency)


def wulf(*words: str) -> Result:
    done = CliRunner().invoke(cli, list(words), standalone_mode=False)
    assert done.exception is None, done.exception
    return done


def measured(out: Path, *words: str) -> Run:
    done = wulf(*words, "--lab", "--quick", "--json", "--out", str(out))
    assert done.return_value in ANY_RUN, done.stderr
    run = read_run(out)
    assert run.meta["state"] == "complete"
    assert len(done.stdout.splitlines()) == len(run.records)
    return run


def holds(run: Run, metric: str) -> None:
    """Figures of a metric, with a value each."""
    values = [record.value for record in run.records if record.metric == metric]
    assert values and None not in values, sorted({record.metric for record in run.records})


def lines(of: dict[str, str], group: str) -> list[object]:
    return [
        pytest.param(words.split(), metric, id=name, marks=pytest.mark.command(f"{group} {name}"))
        for words, metric in of.items()
        for name in words.split()[:1]
    ]


@pytest.mark.parametrize(("pattern", "metric"), lines(PAIR, "net"))
def test_a_pair(two_nodes: labs.Lab, tmp_path: Path, pattern: list[str], metric: str) -> None:
    holds(measured(tmp_path / "run", "net", *pattern, "n1", "n2"), metric)


@pytest.mark.parametrize(("probe", "metric"), lines(TWO, "mpi"))
def test_two_ranks(two_nodes: labs.Lab, tmp_path: Path, probe: list[str], metric: str) -> None:
    holds(measured(tmp_path / "run", "mpi", *probe, "n[1-2]", "--mpi", installed()[0]), metric)


@pytest.mark.parametrize(("probe", "metric"), lines(ONE, "mpi"))
def test_two_ranks_of_a_node(two_nodes: labs.Lab, tmp_path: Path, probe: list[str], metric: str) -> None:
    holds(measured(tmp_path / "run", "mpi", *probe, "n1", "--ranks", "2", "--mpi", installed()[0]), metric)


@pytest.mark.parametrize(("what", "metric"), lines(CLUSTER, "net"))
def test_a_cluster(four_nodes: labs.Lab, tmp_path: Path, what: list[str], metric: str) -> None:
    holds(measured(tmp_path / "run", "net", *what), metric)


@pytest.mark.command("model loggp")
def test_what_a_message_costs(two_nodes: labs.Lab, tmp_path: Path) -> None:
    words = ["--mpi", installed()[0], "--seconds", "0.005"]
    done = wulf("model", "loggp", "n1", "n2", *words, "--lab", "--quick", "--json", "--out", str(tmp_path / "run"))
    assert done.return_value in ANY_RUN, done.stderr
    found = json.loads(done.stdout)
    assert found["subject"].startswith("n1>n2 ") and found["gap"]["value"] > 0


@pytest.mark.command("app linpack")
def test_linear_equations(two_nodes: labs.Lab, tmp_path: Path) -> None:
    words = ["--n", "64", "--nb", "16", "--runs", "1", "--mpi", installed()[0]]
    holds(measured(tmp_path / "run", "app", "linpack", "n[1-2]", *words), "rate")


@pytest.mark.command("app blas")
def test_a_blas_library(two_nodes: labs.Lab, tmp_path: Path) -> None:
    words = ["--rows", "64", "--nb", "8", "--runs", "1", "--library", blas.find()[0]]
    holds(measured(tmp_path / "run", "app", "blas", "n1", *words), "rate")


@pytest.mark.command("search hpl")
def test_the_best_hpl_dat(two_nodes: labs.Lab, tmp_path: Path, xhpl: Path) -> None:
    out = tmp_path / "run"
    words = ["--program", str(xhpl), "--n", "400", "--nb", "16,32", "--blas", "own", "--budget", "6s"]
    done = wulf("search", "hpl", "n1", *words, "--lab", "--quick", "--seed", "1", "--out", str(out))
    assert done.return_value == 0
    found = json.loads((out / "search.json").read_text())
    assert (found["winner"]["nb"], found["failed"]) == (32, [])


@pytest.mark.command("search own")
def test_the_best_parameter_of_a_program(two_nodes: labs.Lab, tmp_path: Path) -> None:
    mine = tmp_path / "my.toml"
    mine.write_text(
        'command = "echo is {x}"\nfigure = "is ([0-9]+)"\nbetter = "higher"\n[parameters.x]\nvalues = [1, 7, 4]\n'
    )
    out = tmp_path / "run"
    done = wulf("search", "own", str(mine), "n1", "--lab", "--quick", "--seed", "1", "--out", str(out))
    assert done.return_value == 0
    found = json.loads((out / "search.json").read_text())
    assert (found["winner"], found["value"]["value"], found["failed"]) == ({"x": 7}, 7, [])


@pytest.mark.command("impact")
def test_what_a_setting_is_worth_to_a_program(two_nodes: labs.Lab, tmp_path: Path) -> None:
    """On one node, where nothing is measured of the network: impact/test_settings.py has links and both ends."""
    out = tmp_path / "run"
    words = ["n1", "--settings", "net.somaxconn=1234", "--blocks", "6", "--answer", "it is .*", "--no-profile"]
    wulf("impact", *words, "--lab", "--out", str(out), "--", "echo", "it is 4")
    found = json.loads((out / "impact.json").read_text())
    assert (found["state"], found["same_answers"], found["leftovers"]) == ("complete", True, [])
    assert (found["rows"][0]["n"], found["same"]) == ({"before": 6, "after": 6}, True)


@pytest.mark.command("tune campaign", "tune status", "tune revert")
def test_a_setting_is_tried_and_taken_back(two_nodes: labs.Lab, tmp_path: Path) -> None:
    """Kept or not is a matter of the figures: tune/test_campaigns.py. Afterwards there is nothing left to take back."""
    out = tmp_path / "run"
    words = ["--settings", "nic.mtu=1400", "--aim", "latency", "--blocks", "6", "--quick", "--apply"]
    done = wulf("tune", "campaign", "n[1-2]", *words, "--lab", "--json", "--out", str(out))
    assert done.return_value in ANY_RUN, done.stderr
    kept = json.loads((out / "kept.json").read_text())["kept"]
    states = [json.loads(line) for line in wulf("tune", "status", "--lab", "--json").stdout.splitlines()]
    assert [state["node"] for state in states] == ["n1", "n2"]
    reverted = [json.loads(line) for line in wulf("tune", "revert", "--lab", "--json").stdout.splitlines()]
    assert {one["outcome"] for one in reverted} == ({"reverted"} if kept else set())


@pytest.mark.command("mpi install")
def test_an_mpi_from_an_index(two_nodes: labs.Lab, tmp_path: Path) -> None:
    """From a folder in the place of PyPI: a lab's nodes reach no other network."""
    wheel(tmp_path, "mpich", {"mpirun": "#!/bin/sh\necho here\n"})
    config = f"printf '[global]\nno-index = true\nfind-links = {tmp_path}\n' > ~/.config/pip/pip.conf"
    try:
        assert ssh(two_nodes, "n1", f"mkdir -p ~/.config/pip; {config}").returncode == 0
        done = wulf("mpi", "install", "mpich", "n1", "--lab")
        (prefix,) = [line.removeprefix("n1: ") for line in done.stdout.splitlines()]
        ran = ssh(two_nodes, "n1", f"{prefix}/bin/mpirun")
        assert ran.stdout == "here\n", ran.stderr
    finally:
        ssh(two_nodes, "n1", "rm -rf ~/.config/pip ~/.cache/wulf/mpi/wheel-mpich")


def wheel(folder: Path, name: str, scripts: dict[str, str]) -> None:
    """A package of scripts alone, as an index would serve it."""
    info = f"{name}-1.dist-info"
    files = {f"{name}-1.data/scripts/{file}": text for file, text in scripts.items()}
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o100755 << 16  # pip makes a program only of what is one here
            archive.writestr(entry, text)

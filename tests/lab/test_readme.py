"""What the README and the tour of all commands say is run here, word by word; and what pages show as measured."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from handbook import shown
from handbook.main import showing

from tests.lab.conftest import needs
from wulf import lab as labs

pytestmark = [pytest.mark.lab, pytest.mark.full]
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text() + (ROOT / "docs" / "reference" / "tour.md").read_text()
MEASURED = [page for page in showing() if any(one.kind == shown.MEASURED for one in shown.shown(page.read_text()))]


@pytest.fixture(scope="module")
def place(netns: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory with a run in it, and a running lab."""
    name = f"readme-{os.getpid()}"
    directory = tmp_path_factory.mktemp("readme")
    environment = os.environ.get("WULF_LAB")
    os.environ["WULF_LAB"] = name
    try:
        run("wulf lab up --nodes 4 --rate 1gbit", directory)
        yield directory
    finally:
        labs.down(name)
        if environment is None:
            del os.environ["WULF_LAB"]


def run(
    command: str, where: Path, *more: str, readme: str = "", timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run a command of the README, where it stands as it is or as `readme`, with what a test has to add."""
    stands = readme or command
    assert stands.removeprefix("wulf lab ") in README, f"neither the README nor the tour has {stands!r} any more"
    words = [sys.executable, "-m", "wulf.cli.main", *shlex.split(command)[1:], *more]
    return subprocess.run(words, cwd=where, capture_output=True, text=True, timeout=timeout, check=False)


def test_the_lab(place: Path) -> None:
    assert run("wulf lab set n3 --rate 200mbit", place).returncode == 0
    done = run("wulf lab exec n1 --", place, "hostname")
    assert (done.returncode, done.stdout) == (0, "n1\n")
    status = run("wulf lab status", place, "--json")
    (mine,) = [one for one in json.loads(status.stdout) if one["name"] == os.environ["WULF_LAB"]]
    assert {node["name"]: node["rate"] for node in mine["nodes"]} == {
        "n1": "1gbit", "n2": "1gbit", "n3": "200mbit", "n4": "1gbit"
    }  # fmt: skip


@pytest.mark.alone
def test_single_measurements_then_what_was_measured(place: Path) -> None:
    done = run("wulf net pingpong n1 n2 --transport tcp --bytes 1", place, "--lab", "--quick", "--json")
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout.splitlines()[0])["metric"] == "rtt"
    done = run("wulf net stream n1 n2 --streams 4", place, "--lab", "--quick", "--json")
    throughput = json.loads(done.stdout.splitlines()[0])
    assert throughput["params"]["streams"] == 4
    assert 0.8 * 125e6 < throughput["value"] < 1.02 * 125e6, "of 1 Gbit/s"
    listed = run("wulf runs", place)
    assert listed.stdout.count("complete") == 2
    shown = run("wulf report last", place)
    assert shown.returncode == 0
    assert "report.html" in shown.stdout
    table = run("wulf runs export last --format csv", place).stdout.splitlines()
    assert table[0].startswith("run,subject,probe,metric") and "n1>n2" in table[1]
    assert "wulf 0" in run("wulf doctor", place).stdout
    assert "Nothing is configured" in run("wulf config show", place).stdout
    asked = run('wulf query "SELECT subject, value FROM records"', place, "--json")
    assert {row["subject"] for row in map(json.loads, asked.stdout.splitlines())} == {"n1>n2"}


def test_two_configurations_two_runs_and_their_history(place: Path) -> None:
    """A lab of one machine: Nagle's algorithm does not show in a ping-pong, which is a verdict, too."""
    done = run("wulf net pingpong n1 n2 --versus nodelay=false", place, "--lab", "--seconds", "0.02")
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout.startswith(("A and B are equivalent", "No difference is shown", "B is "))
    for where in ("monday", "runs/friday"):
        made = run("wulf net stream n1 n2 --streams 4", place, "--lab", "--quick", "--out", where)
        assert made.returncode == 0, made.stderr
    compared = run("wulf compare monday last", place)
    assert compared.returncode in (0, 1), compared.stderr
    assert "1 cell:" in compared.stdout
    assert "`--baseline RUN`" in README
    again = run(
        "wulf net stream n1 n2 --streams 4", place, "--lab", "--quick", "--out", "runs/sunday", "--baseline", "monday"
    )
    assert again.returncode in (0, 1), again.stderr
    assert "1 cell:" in again.stdout and (place / "runs" / "sunday" / "change.html").is_file()
    shutil.rmtree(place / "monday")
    told = run("wulf history rtt", place)
    assert told.returncode in (0, 1), told.stderr
    assert "n1 → n2" in told.stdout


def test_a_sweep(place: Path) -> None:
    done = run("wulf net sweep n1 n2", place, "--lab", "--quick", "--most", "65536", "--budget", "60s")
    assert done.returncode in (0, 3), done.stderr
    assert "From 1 B to " in done.stdout


@pytest.mark.parametrize(
    "command",
    ["wulf net openloop n1 n2 --rate 5000", "wulf net oneway n1 n2 --transport udp"],
)
def test_patterns_of_one_pair(place: Path, command: str) -> None:
    done = run(command, place, "--lab", "--quick", "--json")
    assert done.returncode in (0, 1), done.stderr
    assert all(json.loads(line)["subject"] == "n1>n2" for line in done.stdout.splitlines())


@pytest.mark.parametrize("pattern", ["request", "loaded", "burst", "connect"])
def test_patterns_that_the_readme_names_alone(place: Path, pattern: str) -> None:
    assert f"`{pattern}`" in README or f"`wulf net {pattern}`" in README
    words = [sys.executable, "-m", "wulf.cli.main", "net", pattern, "n1", "n2", "--lab", "--quick", "--json"]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout.splitlines()[0])["value"] > 0


def test_layers_and_whole_clusters(place: Path) -> None:
    done = run("wulf net layers n1 n2", place, "--lab", "--quick", "--json", "--seconds", "0.02", "--mpi", "none")
    assert done.returncode in (0, 1), done.stderr
    assert {"shm", "pipe", "unix", "tcp"} <= {
        json.loads(line)["params"].get("transport") for line in done.stdout.splitlines()
    }
    for command in ("pairs", "incast", "bisection"):
        assert f"`{command}`" in README or f"wulf net {command}" in README
    done = run("wulf net pairs", place, "--lab", "--quick", "--json")
    assert done.returncode in (0, 1), done.stderr
    assert len({json.loads(line)["subject"] for line in done.stdout.splitlines()}) == 12


def test_another_tools_words_and_a_watch(place: Path) -> None:
    done = run("wulf net pingpong n1 n2 --as sockperf", place, "--lab", "--quick")
    assert done.returncode in (0, 1), done.stderr
    assert "sockperf: Summary: Latency is" in done.stdout
    done = run("wulf watch n1 n2", place, "--lab", "--json", "--budget", "3s")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 3


def test_a_link_gets_a_delay(place: Path) -> None:
    assert run("wulf lab set n1 --delay 1ms", place).returncode == 0
    status = run("wulf lab status", place, "--json")
    (mine,) = [one for one in json.loads(status.stdout) if one["name"] == os.environ["WULF_LAB"]]
    (n1,) = [node for node in mine["nodes"] if node["name"] == "n1"]
    assert [n1["link"][way]["delay"] for way in ("out", "in")] == [0.001, 0.001]
    words = [sys.executable, "-m", "wulf.cli.main", "lab", "set", "n1", "--emulator", "none"]
    assert subprocess.run(words, cwd=place, capture_output=True, timeout=60, check=False).returncode == 0


def test_the_statistics_test_themselves(place: Path) -> None:
    """One area of them: tests/process/selftest/test_run.py has all, in thirteen minutes of CPU time."""
    done = run("wulf stats selftest --quick", place, "--only", "knobs", "--json", timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    claims = [json.loads(line) for line in done.stdout.splitlines()]
    assert any(claim["verdict"] == "met" for claim in claims)
    assert all(claim["verdict"] != "missed" for claim in claims)


def test_schema_and_completion(place: Path) -> None:
    assert json.loads(run("wulf schema", place).stdout)["title"] == "wulf record"
    script = run("wulf completion bash", place)
    assert script.returncode == 0
    checked = subprocess.run(["bash", "-n"], input=script.stdout, text=True, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert run("wulf manual ~/.local/share/man/man1", place).returncode == 0  # no shell expands it here
    assert (place / "~" / ".local" / "share" / "man" / "man1" / "wulf-survey.1").is_file()


def test_a_quick_survey_of_your_own_cluster(place: Path) -> None:
    """As for any cluster: nodes by name, over ssh with a configuration of one's own."""
    lab = labs.find()
    assert lab is not None
    lab.set_rate("n3", "200mbit")
    done = run(
        "wulf survey --nodes 'n[1-4]' --out monday", place,
        "--ssh-config", str(lab.ssh_config), "--network", "10.77.0.0/24", "--quick",
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "n3 stands out" in done.stdout
    assert (place / "monday" / "report.html").is_file()


def test_a_table_of_times_and_a_health_check(place: Path) -> None:
    rows = ["workers,seconds", "1,100", "2,52", "4,28", "8,16", "16,11"]
    (place / "times.csv").write_text("\n".join(rows) + "\n")
    fitted = run("wulf model speedup times.csv", place)
    assert fitted.returncode == 0, fitted.stderr
    assert "Amdahl" in fitted.stdout
    cells = [(w, b, 1000 * (2e-4 / w + 2e-5 / (w * b))) for w in (1, 3, 7) for b in (1, 10, 100)]
    (place / "farm.csv").write_text(
        "workers,batch,seconds,units\n" + "".join(f"{w},{b},{s},1000\n" for w, b, s in cells)
    )
    farm = run("wulf model farm farm.csv", place)
    assert farm.returncode == 0, farm.stderr
    assert "Free workers" in farm.stdout
    checked = run("wulf check --max-seconds 20", place, "--json")
    assert checked.returncode in (0, 1), checked.stderr


def test_a_design(place: Path) -> None:
    (place / "times.csv").write_text("workers,seconds\n" + "".join(f"{n},{100 / n + 2}\n" for n in (1, 2, 4, 8, 16)))
    (place / "parts.toml").write_text(
        '[[node]]\nname = "node"\nprice = 1000\n'
        '[[network]]\nname = "net"\nprice = 50\nswitches = [{ ports = 24, price = 500 }]\n'
    )
    done = run("wulf design parts.toml --budget 20000 --for times.csv", place, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["best"]["nodes"], found["best"]["price"]) == (18, 19_400)
    assert found["more"]["nodes"] == 19
    assert found["frontier_designs"] > 18


def test_an_audit_and_the_plan_of_a_campaign(place: Path) -> None:
    """Changes themselves: tests/lab/tune/test_campaigns.py; what is kept of them: tests/lab/tune/test_verify.py."""
    audited = run("wulf audit 'n[1-4]' --aim latency", place, "--lab", "--json")
    assert audited.returncode in (0, 1), audited.stderr
    explained = run("wulf audit --explain nic.rx_usecs", place, readme="--explain nic.rx_usecs")
    assert explained.returncode == 0, explained.stderr
    assert "rx-usecs" in explained.stdout
    planned = run("wulf tune 'n[1-4]' --aim latency", place, "--lab")
    assert planned.returncode == 0, planned.stderr
    assert "tcp.autocorking" in planned.stdout
    status = run("wulf tune status", place, "--lab", readme="wulf tune revert`, `status`")
    assert status.stdout.splitlines() == [f"n{node}: nothing is changed" for node in (1, 2, 3, 4)]
    assert run("wulf tune revert", place, "--lab").returncode == 0


def test_a_table_of_a_tuning_experiment(place: Path) -> None:
    (place / "table3.csv").write_text("arm,mean,sd,n\nnone,50.03,4.31,10\ncoalescing,31.63,.83,10\n")
    done = run("wulf tune import table3.csv --unit us", place)
    assert done.returncode == 0, done.stderr
    assert "coalescing +36.8 % faster" in done.stdout


def test_a_run_that_was_cut_short_goes_on(place: Path) -> None:
    cut = run("wulf net pingpong n1 n2 --transport tcp --bytes 1", place, "--lab", "--budget", "0.2s", "--out", "cut")
    assert cut.returncode == 3, cut.stderr
    for _ in range(20):  # each turn has the run's budget again
        went_on = run("wulf resume cut", place, readme="wulf resume RUN")
        if went_on.returncode != 3:
            break
    assert went_on.returncode in (0, 1), went_on.stderr


@needs(shutil.which("mpirun"), "an MPI")
def test_mpi_between_the_nodes(place: Path) -> None:
    done = run("wulf mpi pingpong n1 n2", place, "--lab", "--quick", "--json", timeout=280)
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout.splitlines()[0])["probe"] == "mpi"
    words = ("--lab", "--quick", "--units", "200", "--bytes", "1024")
    farm = run("wulf mpi farm 'n[1-4]' --workers 1,3 --batch 1,10,100", place, *words, timeout=280)
    assert farm.returncode in (0, 1), farm.stderr
    assert "2007" in farm.stdout
    graph = run("wulf mpi graph 'n[1-4]' --pattern stencil,none", place, "--lab", "--quick", timeout=280)
    assert graph.returncode in (0, 1), graph.stderr
    assert "METG(50 %) of stencil" in graph.stdout


@pytest.mark.alone
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", MEASURED, ids=lambda page: page.name)
def test_what_pages_show_is_printed_still_but_for_its_figures(netns: None, page: Path) -> None:
    """In order and as a reader types it; `python tools/docs.py refresh` writes it anew."""
    with shown.reader() as run:
        for one in shown.shown(page.read_text()):
            printed = run(one.command)
            if one.kind == shown.MEASURED and one.output.strip() != shown.REST:
                assert shown.shape(printed) == shown.shape(one.output), one.command

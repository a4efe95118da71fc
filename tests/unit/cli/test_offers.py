"""What the shell offers: asked as click asks, of the real commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from wulf.cli.main import cli
from wulf.core.errors import WulfError
from wulf.lab import state
from wulf.model.network.file import network_names
from wulf.tune.catalogue import catalogue


def offered(*words: str) -> list[str]:
    """For the last word, which may be cut short."""
    *before, incomplete = words
    return [item.value for item in ShellComplete(cli, {}, "wulf", "_WULF_COMPLETE").get_completions(before, incomplete)]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WULF_RUNS", str(tmp_path))
    for name in ("20261101T000000-survey-aaaa", "20261102T000000-node-bbbb"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("torn")  # names are offered, whatever they hold
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("report",), ("impacts",), ("compare",), ("compare", "last"), ("resume",), ("runs", "rm"), ("runs", "export"),
        ("cost",), ("predict",), ("trace", "show"), ("survey", "--baseline"), ("node", "--baseline"),
        ("mpi", "sweep", "--baseline"), ("model", "loggp", "--from"), ("rates", "publish", "--from"),
    ],
)  # fmt: skip
def test_runs_are_offered_where_a_run_is_named(words: tuple[str, ...], runs: Path) -> None:
    assert offered(*words, "") == ["last", *sorted(path.name for path in runs.iterdir())]
    assert offered(*words, "20261102") == ["20261102T000000-node-bbbb"]


def test_where_there_are_no_runs_none_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WULF_RUNS", str(tmp_path / "nowhere"))
    assert offered("report", "") == []


def test_networks_and_settings() -> None:
    assert offered("predict", "last", "--network", "") == ["this", *network_names()]
    names = list(catalogue())
    assert offered("audit", "--explain", "") == names
    assert offered("tune", "--settings", f"{names[0]}=1,{names[1][:-1]}") == [
        f"{names[0]}=1,{name}" for name in names if name.startswith(names[1][:-1])
    ]


def test_labs_and_their_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "names", lambda: ["lab", "other"])
    known = {"other": {"nodes": [{"name": "n1"}, {"name": "m1"}]}}
    monkeypatch.setattr(state, "load", known.get)
    assert offered("lab", "down", "--name", "o") == ["other"]
    assert offered("lab", "set", "--name", "other", "n") == ["n1"]
    assert offered("lab", "set", "n") == []  # no lab is up

    def refused() -> list[str]:
        raise WulfError("no permission", "")

    monkeypatch.setattr(state, "names", refused)
    assert offered("lab", "down", "--name", "") == []


def test_hosts_of_ssh_are_offered_as_nodes_and_patterns_are_not(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host node1 node2 *.cluster !bad\n  HostName 10.0.0.1\nhost=head\nMatch host node9\n")
    assert offered("mpi", "sweep", "--ssh-config", str(config), "") == ["node1", "node2", "head"]
    assert offered("survey", "--ssh-config", str(config), "--nodes", "h") == ["head"]
    assert offered("survey", "--ssh-config", str(tmp_path / "none"), "--nodes", "") == []


def test_behind_in_the_runs_of_that_folder_are_offered(runs: Path) -> None:
    other = runs / "elsewhere"
    (other / "20261103T000000-net-cccc").mkdir(parents=True)
    (other / "20261103T000000-net-cccc" / "run.json").write_text(json.dumps({}))
    assert offered("report", "--in", str(other), "2026") == ["20261103T000000-net-cccc"]

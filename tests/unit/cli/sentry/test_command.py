"""`wulf sentry` on the command line: where its state lies, which nodes are meant, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from wulf.cli.main import cli
from wulf.cli.sentry.watch import _given
from wulf.cli.sentry.where import state_path
from wulf.core.errors import UsageError
from wulf.core.findings import Severity
from wulf.sentry.incident import Kind, Observation, What, seen
from wulf.sentry.plan import SentryPlan, read_plan
from wulf.sentry.state import SentryState

OPTIONS = dict.fromkeys(("nodes", "inventory_file", "hostfile", "launcher", "lab", "network", "ssh_config"))
PLAN = '[[measure]]\nname = "node"\ncommand = ["node"]\nevery = "1d"\n'


def plan_of(folder: Path, more: str = "", head: str = "") -> Path:
    path = folder / "plan.toml"
    path.write_text(f"{head}{PLAN}{more}")
    return path


def given(path: Path, **options: Any) -> tuple[tuple[str, ...], list[str]]:
    """The nodes, and how the plan's commands reach them."""
    found = _given(path, path.with_name("sentry.db"), {**OPTIONS, **options})
    return found.inventory.names, list(found.way)


def test_the_state_is_the_named_one_then_systemd_s_then_the_user_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_path(None) == tmp_path / "wulf/sentry.db"
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/wulf-sentry:/other")
    assert state_path(None) == Path("/var/lib/wulf-sentry/sentry.db")
    assert state_path(tmp_path / "x.db") == tmp_path / "x.db"


def test_nodes_are_the_options_then_the_plan_s_and_reached_as_is_said_here(tmp_path: Path) -> None:
    named = plan_of(tmp_path, head='nodes = "n[1-3]"\n')
    assert given(named) == (("n1", "n2", "n3"), [])
    assert given(named, nodes="m1", ssh_config=Path("cfg"), network="10.0.0.0/24") == (
        ("m1",),
        ["--ssh-config", str(Path("cfg").absolute()), "--network", "10.0.0.0/24"],
    )
    assert given(named, launcher="local")[1] == ["--launcher", "local"]


def test_without_nodes_it_is_this_machine(tmp_path: Path) -> None:
    names, way = given(plan_of(tmp_path))
    assert (len(names), way) == (1, ["--launcher", "local"])


@pytest.mark.parametrize(
    ("more", "options", "said"),
    [
        ('[idle]\nby = "slurm"\n', {}, "names no nodes"),
        ('[idle]\nby = "slurm"\n', {"nodes": "n1", "lab": "x"}, "as jobs of Slurm"),
        ('[idle]\nby = "slurm"\n', {"nodes": "n1", "launcher": "ssh"}, "as jobs of Slurm"),
        ("", {"nodes": "n1", "launcher": "slurm"}, "the plan's to say"),
    ],
)
def test_what_plan_and_options_say_differently_is_refused(
    tmp_path: Path, more: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        given(plan_of(tmp_path, more), **options)


def test_under_slurm_nodes_are_reached_by_the_plan_s_jobs(tmp_path: Path) -> None:
    path = plan_of(tmp_path, '[idle]\nby = "slurm"\n')
    assert given(path, nodes="n[1-2]", launcher="slurm") == (("n1", "n2"), [])


def test_the_plan_that_is_printed_is_one(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["sentry", "plan"])
    path = tmp_path / "plan.toml"
    path.write_text(done.output)
    assert isinstance(read_plan(path), SentryPlan)


def test_options_without_a_plan_are_refused() -> None:
    with pytest.raises(UsageError, match="none is named"):
        CliRunner().invoke(cli, ["sentry", "plan", "--nodes", "n1"], standalone_mode=False, catch_exceptions=False)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    path = tmp_path / "sentry.db"
    one = Observation(Kind.ILL, "n2", "fs", Severity.BAD, 1.0, 1.0, "n2: fs: / is full", "look")
    with SentryState(path) as made:
        made.watch({"n1": "", "n2": ""}, 1.0, 0.1)
        made.keep_text("plan", read_plan(plan_of(tmp_path)).model_dump_json())
        made.keep(seen(None, one, 2.0)[0], What.OPENED, 2.0)
    return path


def asked(state: Path, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["sentry", *words, "--state", str(state)], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return int(done.return_value), done.output


def test_status_and_incidents_end_with_1_while_something_is_worse(state: Path) -> None:
    code, text = asked(state, "status")
    assert (code, text.splitlines()[0]) == (
        1,
        "2 nodes watched, 2 of them not measured yet, 1 incident open: n2 is ill: fs",
    )
    assert asked(state, "status", "--nodes", "n1")[0] == 0
    assert asked(state, "incidents")[0] == 1
    found = json.loads(asked(state, "status", "--json")[1])
    assert (found["nodes"], [one["node"] for one in found["open"]]) == (["n1", "n2"], ["n2"])
    assert asked(state, "ack", "1", "--by", "ada")[0] == 0
    assert asked(state, "close", "1", "--note", "made room")[0] == 0
    assert asked(state, "incidents") == (0, "no incident is open\n")
    assert json.loads(asked(state, "incidents", "--all", "--json")[1])["note"] == "made room"


@pytest.mark.parametrize("words", [("status",), ("incidents",), ("ack", "1"), ("close", "1")])
def test_no_state_is_made_for_being_asked(tmp_path: Path, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="there is no state"):
        asked(tmp_path / "none.db", *words)
    assert list(tmp_path.iterdir()) == []

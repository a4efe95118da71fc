"""`wulf audit` on the command line: roles, refusals before any node is asked, what is printed."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.unit.tune.make_audit import CATALOGUE, MECHANISMS, facts_of, read, settings_of
from tests.wording import lacking
from wulf.cli.tune import audit as command
from wulf.cluster.launchers import null
from wulf.cluster.programs import Program
from wulf.cluster.simulated.cluster import SimulatedCluster
from wulf.core.errors import UsageError
from wulf.report.tune import audit as report
from wulf.tune import catalogue as catalogues
from wulf.workflow.tune import audit as workflow

Wulf = Callable[..., Result]


@pytest.fixture
def wulf(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Wulf:
    """`wulf("--json")`: audits four simulated nodes, of which n3 has another MTU."""
    monkeypatch.setattr("wulf.tune.readings.mechanisms", lambda: MECHANISMS)
    for module in (catalogues, workflow, report):
        monkeypatch.setattr(module, "catalogue", lambda: CATALOGUE)
    monkeypatch.setattr(workflow, "agent_program", lambda: Program("wulf-agent", Path("x"), "0" * 64, python=True))
    odd = {"n3": {"nic.mtu": {"eth0": read(1400, 1400)}}}
    cluster = SimulatedCluster(
        [f"n{i}" for i in range(1, 5)], facts=facts_of,
        settings=lambda name: {**settings_of(name), **odd.get(name, {})},
    )  # fmt: skip
    monkeypatch.setattr(null, "LAUNCHER", functools.partial(null.NullLauncher, cluster=cluster))
    inventory = tmp_path / "cluster.toml"
    inventory.write_text('nodes = "n[1-4]"\nlauncher = "null"\n')
    monkeypatch.chdir(tmp_path)

    def run(*words: str, nodes: bool = True) -> Result:
        where = ["--inventory", str(inventory)] if nodes else []
        return CliRunner().invoke(command.command, [*where, *words], standalone_mode=False)

    return run


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_roles_by_name() -> None:
    assert command.parse_roles(("head=n1 compute=n[2-3]", "disk=d1")) == {
        "n1": "head", "n2": "compute", "n3": "compute", "d1": "disk",
    }  # fmt: skip
    assert command.parse_roles(()) == {}


@pytest.mark.parametrize("text", ["n1", "=n1", "head=", "a=n1 b=n1", "a=n["])
def test_what_is_no_role_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        command.parse_roles((text,))


def test_an_odd_node_is_printed_and_gives_1(wulf: Wulf) -> None:
    result = wulf("--out", "run", "--html", "page.html")
    assert result.return_value == 1
    assert lacking(result.stdout, "nic.mtu", "eth0 of n3 has 1400 B", "most have 1500 B") == []
    assert "report: page.html" in result.stdout
    assert Path("run/report.html").exists()
    assert Path("page.html").exists()


def test_json_has_answers_settings_and_findings(wulf: Wulf) -> None:
    result = wulf("--json", "--out", "run", "--aim", "latency")
    found = lines(result)
    assert {each["object"] for each in found} == {"check", "setting", "finding"}
    assert sum(each["object"] == "check" for each in found) == 8 * 4
    (odd,) = [each for each in found if each.get("name") == "nic.mtu" and each["nodes"] == ["n3"]]
    assert (odd["value"], odd["unit"], odd["places"], odd["marks"]) == (1400, "B", ["eth0"], ["odd"])
    (masked,) = [each for each in found if each.get("name") == "nic.rx_usecs"]
    assert masked["marks"] == ["masked"]
    assert result.return_value == 1


def test_a_baseline_is_saved_and_compared_with(wulf: Wulf) -> None:
    wulf("--out", "run", "--save", "saved.json", "--roles", "odd=n3")
    again = wulf("--out", "again", "--baseline", "saved.json", "--json")
    assert not [each for each in lines(again) if each.get("kind") == "drift"]
    content = json.loads(Path("saved.json").read_text())
    content["readings"]["n1"]["nic.mtu"]["eth0"]["value"] = 9000
    Path("saved.json").write_text(json.dumps(content))
    third = wulf("--out", "third", "--baseline", "saved.json", "--json")
    (drift,) = [each for each in lines(third) if each.get("kind") == "drift"]
    assert "9000 B → 1500 B on eth0 of n1" in drift["text"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--baseline", "absent.json"], "can't read the baseline"),
        (["--roles", "x"], "is not a role"),
        (["--roles", "head=n9"], "not in the inventory"),
        (["--explain", "nic.mtv"], "no setting 'nic.mtv'"),
        (["n1", "--nodes", "n2"], "both name the nodes"),
    ],
)
def test_what_is_refused_before_any_node_is_asked(wulf: Wulf, words: list[str], what: str) -> None:
    result = wulf(*words)
    assert isinstance(result.exception, UsageError)
    assert what in str(result.exception)
    assert not Path("runs").exists()


def test_explain_without_nodes_asks_nobody(wulf: Wulf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workflow, "make_launcher", None)
    result = wulf("--explain", "nic.mtu", nodes=False)
    assert result.return_value == 0
    assert "Largest packet" in result.stdout
    assert " on n" not in result.stdout


def test_explain_with_nodes_has_their_values_and_leaves_no_run(wulf: Wulf) -> None:
    result = wulf("--explain", "nic.mtu")
    assert result.return_value == 0
    text = " ".join(result.stdout.split())
    assert "on n[1-2,4] eth0 1500 B" in text
    assert "on n3 eth0 1400 B; most have 1500 B" in text
    assert not Path("runs").exists()


def test_explain_as_json(wulf: Wulf) -> None:
    (found,) = lines(wulf("--explain", "nic.mtu", "--json"))
    assert found["name"] == "nic.mtu"
    assert [state["nodes"] for state in found["states"]] == [["n1", "n2", "n4"], ["n3"]]


def test_the_misspelt_setting_is_guessed(wulf: Wulf) -> None:
    assert "did you mean nic.mtu?" in str(wulf("--explain", "nic.mut").exception)

"""The commands over a whole cluster: their help, their options, and what they hand on."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from wulf.cli.net import cluster as net_cluster
from wulf.cli.net.command import NetGroup
from wulf.workflow.engine import measuring
from wulf.workflow.engine.study import Conditions
from wulf.workflow.net import bisection, incast, pairs


@pytest.mark.parametrize("name", ["pairs", "incast", "bisection"])
def test_help_has_an_example_and_the_nodes(name: str) -> None:
    command = NetGroup(name="net").get_command(click.Context(click.Command("net")), name)
    assert command is net_cluster.COMMANDS[name]
    shown = CliRunner().invoke(command, ["--help-all"])
    assert shown.exit_code == 0
    assert f"Example: wulf net {name} " in shown.output
    for option in ("--nodes", "--lab", "--json", "--out", "--budget"):
        assert option in shown.output


@pytest.mark.parametrize(
    ("name", "words", "handed"),
    [
        ("pairs", ["--rounds", "3", "--together"], {"rounds": 3, "everything": False, "together": True}),
        ("pairs", ["--all"], {"rounds": None, "everything": True, "together": False}),
        ("incast", ["--to", "n[2-3]", "--senders", "5"], {"to": "n[2-3]", "senders": 5}),
        ("bisection", ["--one-way", "--search", "0"], {"halvings": 4, "steps": 0, "both": False}),
    ],
)
def test_options_reach_the_study(
    name: str, words: list[str], handed: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: dict[str, Any] = {}

    def study(given: Conditions, **options: Any) -> Any:
        nodes = [node.name for node in given.inventory.nodes]
        seen.update(options, nodes=nodes, quick=given.effort.quick, seed=given.seed)
        run = SimpleNamespace(path=given.writer.path, records=[], findings=[])
        return SimpleNamespace(run=run, exit_code=1, change=None)

    module = {"pairs": pairs, "incast": incast, "bisection": bisection}[name]
    monkeypatch.setattr(module, name.capitalize(), study)
    monkeypatch.setattr(measuring, "measure", lambda made: made)
    base = ["--nodes", "n[1-3]", "--quick", "--seed", "7", "--json", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(net_cluster.COMMANDS[name], [*base, *words], standalone_mode=False)
    assert done.exception is None
    assert done.return_value == 1
    assert {key: seen[key] for key in handed} == handed
    assert (seen["nodes"], seen["quick"], seen["seed"]) == (["n1", "n2", "n3"], True, 7)

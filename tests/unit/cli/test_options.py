"""Options that many commands share."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from wulf.cli.lab import lab_of
from wulf.cli.net.survey import parse_pair
from wulf.cli.options import Percent, Seconds, inventory_of
from wulf.core.errors import UsageError

NOWHERE: dict[str, Any] = dict.fromkeys(
    ["nodes", "inventory_file", "hostfile", "launcher", "lab", "network", "ssh_config"]
)


@pytest.mark.parametrize(("text", "ratio"), [("5%", 0.05), ("0.01", 0.01), ("100 %", 1.0)])
def test_percent(text: str, ratio: float) -> None:
    assert Percent().convert(text, None, None) == pytest.approx(ratio)


@pytest.mark.parametrize("text", ["0", "-1%", "five", "200%", "nan", ""])
def test_percent_refuses(text: str) -> None:
    with pytest.raises(click.UsageError):
        Percent().convert(text, None, None)


@pytest.mark.parametrize(("text", "seconds"), [("60s", 60), ("5m", 300), ("1h", 3600), ("2.5", 2.5)])
def test_seconds(text: str, seconds: float) -> None:
    assert Seconds().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["0", "-3s", "soon", "nan", "inf", "s"])
def test_seconds_refuses(text: str) -> None:
    with pytest.raises(click.UsageError):
        Seconds().convert(text, None, None)


def test_pair() -> None:
    assert parse_pair("n1,n2") == ("n1", "n2")
    assert parse_pair("n1>n2") == ("n1", "n2")
    assert parse_pair(None) is None
    with pytest.raises(UsageError, match="not a pair"):
        parse_pair("n1")


def names(**where: Any) -> list[str]:
    with inventory_of(**(NOWHERE | where)) as inventory:
        return [node.name for node in inventory.nodes]


def test_sources_of_nodes(tmp_path: Path) -> None:
    toml, hosts = tmp_path / "cluster.toml", tmp_path / "hosts"
    toml.write_text('nodes = "n[1-4]"\n')
    hosts.write_text("a slots=4\nb:2\n")
    assert names(nodes="n[1-3]") == ["n1", "n2", "n3"]
    assert names(inventory_file=toml) == ["n1", "n2", "n3", "n4"]
    assert names(inventory_file=toml, nodes="n[2-3]") == ["n2", "n3"]
    assert names(hostfile=hosts) == ["a", "b"]
    assert len(names()) == 1, "this machine"


def test_options_override_the_file(tmp_path: Path) -> None:
    toml = tmp_path / "cluster.toml"
    toml.write_text('nodes = "n[1-4]"\n')
    with inventory_of(**(NOWHERE | {"inventory_file": toml, "launcher": "local", "network": "10.0.0.0/24"})) as chosen:
        assert (chosen.launcher, chosen.network) == ("local", "10.0.0.0/24")


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ({"nodes": "n[1-"}, "not a node set"),
        ({"inventory_file": Path("x.toml"), "lab": "2"}, "both name the nodes"),
        ({"lab": "n1"}, "neither a lab that is up nor a number of nodes"),
        ({"lab": "0"}, "neither a lab that is up nor a number of nodes"),
        ({"lab": "2", "launcher": "ssh"}, "--lab decides"),
        ({"inventory_file": Path("absent.toml")}, "absent.toml"),
    ],
)
def test_refused(where: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        names(**where)
    assert words in caught.value.what
    assert caught.value.exit_code == 2


def test_a_lab_is_meant_by_its_name_and_none_is_made_to_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    up = {"ux": SimpleNamespace(name="ux", owner=None)}
    monkeypatch.setattr("wulf.lab.find", lambda name=None: up.get(name or "lab"))
    monkeypatch.setattr("wulf.lab.all_labs", lambda: [*up.values()])
    with lab_of("ux", made=False) as found:
        assert found is up["ux"]
    with pytest.raises(UsageError) as caught, lab_of("uy", made=True):
        pass
    assert caught.value.next_step.startswith("up are: ux; ")
    with pytest.raises(UsageError, match="no lab is up that --lab could mean"), lab_of(None, made=False):
        pass


def test_unknown_node_gets_a_guess(tmp_path: Path) -> None:
    toml = tmp_path / "cluster.toml"
    toml.write_text('nodes = "node[1-4]"\n')
    with pytest.raises(UsageError, match="not in the inventory: nod1") as caught:
        names(inventory_file=toml, nodes="nod1")
    assert "node1" in caught.value.next_step

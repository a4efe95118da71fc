"""`wulf impact` as a person types it."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from wulf.apps import hpcc
from wulf.cli.impact import BLOCKS, command
from wulf.core.errors import UsageError
from wulf.stats.comparison import enough_pairs
from wulf.workflow.engine.done import Done
from wulf.workflow.impact import arms as impact_arms
from wulf.workflow.impact import run as workflow


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the workflow was asked; nothing is connected to."""
    seen: dict[str, Any] = {}

    def impact(inventory: Any, request: Any, writer: Any, **_: Any) -> Done:
        seen.update(nodes=inventory.names, request=request)
        return Done({"run": writer.id}, writer.path, 0)

    monkeypatch.setattr(workflow, "impact", impact)
    return seen


def run(tmp_path: Any, *args: str) -> Any:
    at = args.index("--") if "--" in args else len(args)
    words = [*args[:at], "--json", "--out", str(tmp_path / "run"), *args[at:]]
    return CliRunner().invoke(command, words, standalone_mode=False)


def test_a_command_over_ranks(asked: dict[str, Any], tmp_path: Any) -> None:
    done = run(tmp_path, "n[1-4]", "--settings", "nic.mtu=9000", "--ranks", "8", "--timeout", "60s",
               "--answer", "x=(.)", "--", "./solver", "in")  # fmt: skip
    assert done.exception is None, done.exception
    request = asked["request"]
    assert list(asked["nodes"]) == ["n1", "n2", "n3", "n4"] and request.settings == "nic.mtu=9000"
    job = request.application.job("", 8)
    assert job.command == ("./solver", "in") and job.mpi and job.timeout == 60.0
    assert request.application.spec.ranks == 8 and request.application.spec.per_node == 2
    assert request.blocks == BLOCKS == impact_arms.BLOCKS and request.profile
    assert request.answer.text == "x=(.)" and not request.higher


def test_the_domain_is_the_one_given_else_that_of_a_known_application(asked: dict[str, Any], tmp_path: Any) -> None:
    for words, domain in (
        (("--app", "phyml"), "phylogenetics"),
        (("--app", "phyml", "--domain", "trees"), "trees"),
        (("--domain", "climate", "--", "./wrf"), "climate"),
        (("--", "./wrf"), None),
    ):
        done = run(tmp_path / words[0] / words[-1], "n1", "--settings", "nic.mtu=9000", *words)
        assert done.exception is None, done.exception
        assert asked["request"].domain == domain


def test_a_command_that_starts_its_ranks_itself(asked: dict[str, Any], tmp_path: Any) -> None:
    done = run(tmp_path, "n1", "--settings", "nic.gro=off", "--figure", "GF ([0-9.]+)", "--unit", "flop/s", "--better",
               "higher", "--no-profile", "--", "mpirun", "--hostfile", "h", "./solver")  # fmt: skip
    assert done.exception is None, done.exception
    request = asked["request"]
    assert not request.application.job("", 1).mpi and request.higher and request.unit == "flop/s"
    assert not request.profile


def test_links_of_a_lab(asked: dict[str, Any], tmp_path: Any) -> None:
    run(tmp_path, "n1", "--links", "delay=200us", "delay=20us", "--", "true")
    assert asked["request"].links == ({"delay": "200us"}, {"delay": "20us"})


def test_networks_of_the_nodes(asked: dict[str, Any], tmp_path: Any) -> None:
    run(tmp_path, "n[1-2]", "--networks", "10.0.0.7/24", "10.1.0.0/24", "--ranks", "2", "--", "./solver")
    request = asked["request"]
    assert (request.networks, request.links, request.settings) == (("10.0.0.0/24", "10.1.0.0/24"), None, None)
    done = run(
        tmp_path / "both", "n1", "--networks", "10.0.0.0/24", "10.1.0.0/24", "--settings", "nic.mtu=9000", "--", "x"
    )
    assert isinstance(done.exception, UsageError) and "one change is measured" in str(done.exception)


def test_a_suite_of_parts_gets_blocks_in_which_each_can_be_proven(asked: dict[str, Any], tmp_path: Any) -> None:
    run(tmp_path, "n1", "--settings", "nic.mtu=9000", "--app", "hpcc")
    assert asked["request"].blocks == enough_pairs(len(hpcc.LEADING)) > BLOCKS
    assert asked["request"].application.titles["fft.mpi"] == "FFT: all ranks together"
    run(tmp_path / "own", "n1", "--settings", "nic.mtu=9000", "--app", "hpcc", "--blocks", "6")
    assert asked["request"].blocks == 6


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--settings", "nic.mtu=9000"], "one application"),
        (["--settings", "nic.mtu=9000", "--app", "phyml", "--", "x"], "one application"),
        (["--", "x"], "one change"),
        (["--settings", "nic.mtu=9000", "--links", "delay=0", "delay=1ms", "--", "x"], "one change"),
        (["--links", "delay=5", "delay=1ms", "--", "x"], "delay"),
        (["--settings", "nic.mtu=9000", "--app", "nothing"], "no application 'nothing'"),
        (["--settings", "nic.mtu=9000", "--answer", "(", "--", "x"], "--answer"),
        (["--settings", "nic.mtu=9000", "--domain", "a\tb", "--", "x"], "--domain"),
        (["--settings", "nic.mtu=9000", "--domain", "x" * 81, "--", "x"], "at most 80"),
    ],
)
def test_what_can_not_be_measured(asked: dict[str, Any], tmp_path: Any, words: list[str], why: str) -> None:
    done = run(tmp_path, "n1", *words)
    assert isinstance(done.exception, UsageError) and why in str(done.exception)

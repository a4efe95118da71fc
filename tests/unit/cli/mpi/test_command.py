"""`wulf mpi` on the command line: options from the description, nodes as arguments, refusals before any node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.wording import Wording, lacking
from wulf.cli.mpi import command
from wulf.cli.mpi.options import given_params, option_name, taken
from wulf.cli.mpi.whole import Sizes
from wulf.cluster.mpi import Installed
from wulf.core.errors import UsageError
from wulf.measure.mpi.probes import BLOCKS, EACH, SHARED, mpi_probe
from wulf.workflow.mpi import list as mpi_list

COLLECTIVE = mpi_probe().pattern("collective")


def test_every_probe_is_a_command_with_its_parameters() -> None:
    listed = CliRunner().invoke(command.command, ["--help"]).output
    assert all(name in listed for name in ("list", "sweep", "collectives", "onesided", "pairs", "pingpong", "put"))
    shown = CliRunner().invoke(command.command, ["pingpong", "--help-all"]).output
    assert "Of a message [B] (default 1)" in shown
    assert "--launch [shared|blocks|each]" in shown


def test_a_parameter_of_another_options_name_has_the_probes_before() -> None:
    names = {spec.name: option_name(COLLECTIVE, spec) for spec in COLLECTIVE.params}
    assert [name for name, option in names.items() if option != name] == ["ranks"]
    assert names["ranks"] == "collective_ranks"
    options = {**dict.fromkeys(names.values()), "op": "bcast", "collective_ranks": 3, "ranks": 8}
    assert given_params(COLLECTIVE, options) == {"op": "bcast", "ranks": 3}
    assert options == {"ranks": 8}


@pytest.mark.parametrize(
    ("options", "nodes", "ranks", "per_node"),
    [({}, 4, 4, 1), ({}, 1, 2, 2), ({"per_node": 3}, 2, 6, 3), ({"ranks": 8}, 4, 8, 2), ({"ranks": 5}, 4, 5, 2),
     ({"ranks": 1}, 1, 1, 1), ({"ranks": 8, "per_node": 4}, 4, 8, 4)],
)  # fmt: skip
def test_ranks_follow_from_nodes_unless_given(options: dict[str, Any], nodes: int, ranks: int, per_node: int) -> None:
    given = {"mpi": None, "ranks": None, "per_node": None, "starter": "mpirun", "launch": "each", **options}
    launch = taken(given)(nodes)
    assert given == {}
    assert (launch.ranks(nodes), launch.spec.per_node, launch.how) == (ranks, per_node, "each")


@pytest.mark.parametrize(
    ("options", "usual", "how"),
    [
        ({"launch": None, "quick": False}, BLOCKS, BLOCKS),
        ({"launch": None, "quick": True}, BLOCKS, SHARED),
        ({"launch": None, "watch": True}, BLOCKS, SHARED),
        ({"launch": None}, SHARED, SHARED),
        ({"launch": "each", "quick": True}, BLOCKS, EACH),
        ({}, BLOCKS, EACH),  # of applications, which have no such option
    ],
)
def test_launches_are_blocks_unless_it_is_to_be_quick(options: dict[str, Any], usual: str, how: str) -> None:
    given = {"mpi": None, "ranks": None, "per_node": None, "starter": "mpirun", **options}
    assert taken(given, usual)(2).how == how


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["pingpong", "n1", "n2", "--nodes", "n3"], "both name the nodes"),
        (["pingpong", "n1", "n2", "--bytes", "-1"], "bytes = -1 B is too small"),
        (["collectives", "n1", "n2", "--ops", "allsum"], "no such collective"),
        (["collectives", "n1", "n2", "--sizes", "3"], "sums are of numbers of 4 B"),
    ],
)
def test_refusals_come_before_any_node_is_touched(arguments: list[str], what: str) -> None:
    result = CliRunner().invoke(command.command, arguments)
    assert isinstance(result.exception, UsageError)
    assert what in result.exception.what


def test_sizes_are_bytes_with_binary_units() -> None:
    assert Sizes().convert("8,1K,64k,1M,8", None, None) == (8, 1024, 65536, 1 << 20)
    result = CliRunner().invoke(command.command, ["collectives", "n1", "--sizes", "many"])
    assert "'many' is not a number of bytes" in result.output


def test_the_kept_description_can_be_read() -> None:
    assert {"pingpong", "collective", "pairs", "put"} <= set(mpi_probe().patterns)
    assert mpi_probe().pattern("pingpong").least_ranks == 2


def installed(kind: str, version: str, prefix: str = "/usr") -> Installed:
    return Installed(kind, version, prefix, f"{prefix}/bin/mpicxx", f"{prefix}/bin/mpirun", "g++ 12.2.0", "system")


FOUND = {
    "n1": (installed("openmpi", "4.1.4"), installed("mpich", "4.0.2")),
    "n2": (installed("openmpi", "4.1.4"),),
    "n3": (installed("openmpi", "4.1.4"), installed("mpich", "4.1")),
}


def test_mismatches_are_named_by_kind(wording: Wording) -> None:
    assert [mpi.kind for mpi in mpi_list.common(FOUND)] == ["openmpi"]
    (said,) = mpi_list.mismatches(FOUND)
    assert lacking(said, "n1 has MPICH 4.0.2 (/usr)", "n2 has no mpich", "n3 has MPICH 4.1 (/usr)") == []
    wording(said)
    assert mpi_list.mismatches({"n1": (), "n2": ()}) == ["n[1-2] have no MPI"]
    assert mpi_list.mismatches({"n1": FOUND["n1"]}) == []


def test_the_list_has_a_row_an_mpi_and_tells_by_its_exit_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mpi_list, "look", lambda inventory, wanted: FOUND)
    result = CliRunner().invoke(command.command, ["list", "n[1-3]"], standalone_mode=False)
    assert result.return_value == 0
    assert "n[1-3]  Open MPI 4.1.4  /usr (system)" in result.output
    assert max(map(len, result.output.splitlines()[:4])) <= 80
    shown = CliRunner().invoke(command.command, ["list", "n[1-3]", "--json"], standalone_mode=False)
    assert json.loads(shown.stdout.splitlines()[1])["node"] == "n2"
    monkeypatch.setattr(mpi_list, "look", lambda inventory, wanted: {"n1": FOUND["n1"], "n2": ()})
    assert CliRunner().invoke(command.command, ["list", "n[1-2]"], standalone_mode=False).return_value == 1


def test_rules_are_what_tune_writes() -> None:
    with pytest.raises(UsageError, match="--rules is the file that --tune writes"):
        command.command.main(["collectives", "n[1-2]", "--rules", "x.conf"], standalone_mode=False)

"""Slurm's prolog and health check: what drains a node and what never does. Under a Slurm: tests/lab/operations."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.process.operations.templates import configured, written, wulf_in
from wulf.workflow.node.check import NHC

ILL = f"echo '{NHC}check_fs_mount:  /home not mounted'; echo '{NHC}check_x:  more'; exit 1"
HARMLESS = {
    "well": "exit 0",
    "well, and not finished": "echo 'not finished: check_fs_free' >&2; exit 0",
    "a wrong option": "echo 'error: no such option' >&2; exit 2",
    "incomplete": "exit 3",
    "a defect of the check": "echo 'error: wulf itself failed' >&2; exit 70",
    "a Python that can't start": "echo 'ModuleNotFoundError: No module named wulf' >&2; exit 1",
    "interrupted": "exit 130",
    "killed": "kill -9 $$",
}
"""What a `wulf` does, none of which says that the node is ill."""


def ran(script: Path, where: Path, state: str = "idle") -> tuple[int, list[str]]:
    """Its status as Slurm sees it, and how it called scontrol."""
    log = where / "scontrol.log"
    written(where / "scontrol", f'#!/bin/sh\nfor word; do echo "$word"; done >> {log}\n')
    written(where / "sinfo", f"#!/bin/sh\necho {state}\n")
    environment = {"SLURMD_NODENAME": "n7"}  # and no PATH, as from slurmd
    done = subprocess.run([script], env=environment, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, log.read_text().splitlines() if log.exists() else []


def template(name: str, where: Path, wulf: str, drain: str) -> Path:
    program = written(where / "wulf", f"#!/bin/sh\n{wulf}\n")
    return configured(f"slurm/{name}", where, DRAIN=drain, WULF=program, PATH=f"{where}:/usr/bin:/bin")


@pytest.mark.parametrize("name", ["wulf-prolog", "wulf-health"])
@pytest.mark.parametrize("wulf", HARMLESS.values(), ids=HARMLESS)
def test_nothing_but_an_illness_drains(tmp_path: Path, name: str, wulf: str) -> None:
    assert ran(template(name, tmp_path, wulf, "yes"), tmp_path) == (0, [])


@pytest.mark.parametrize("name", ["wulf-prolog", "wulf-health"])
def test_as_they_come_they_drain_no_node(tmp_path: Path, name: str) -> None:
    program = written(tmp_path / "wulf", f"#!/bin/sh\n{ILL}\n")
    script = configured(f"slurm/{name}", tmp_path, WULF=program, PATH=f"{tmp_path}:/usr/bin:/bin")
    assert ran(script, tmp_path) == (0, [])


@pytest.mark.parametrize("name", ["wulf-prolog", "wulf-health"])
def test_a_wulf_that_is_gone_drains_no_node(tmp_path: Path, name: str) -> None:
    script = configured(f"slurm/{name}", tmp_path, DRAIN="yes", WULF=tmp_path / "gone")
    assert ran(script, tmp_path) == (0, [])


def test_the_prolog_of_an_ill_node_fails_and_asks_slurm_nothing(tmp_path: Path) -> None:
    assert ran(template("wulf-prolog", tmp_path, ILL, "yes"), tmp_path) == (1, [])


def test_the_health_check_drains_an_ill_node_with_the_first_reason(tmp_path: Path) -> None:
    assert ran(template("wulf-health", tmp_path, ILL, "yes"), tmp_path) == (
        0, ["update", "nodename=n7", "state=drain", "reason=wulf: check_fs_mount:  /home not mounted"],
    )  # fmt: skip


@pytest.mark.parametrize("state", ["drained", "draining"])
def test_somebody_s_own_reason_stays(tmp_path: Path, state: str) -> None:
    assert ran(template("wulf-health", tmp_path, ILL, "yes"), tmp_path, state) == (0, [])


@pytest.mark.parametrize(("least", "status"), [("0.0", 0), ("1.1", 1)])
def test_the_prolog_with_wulf_itself(tmp_path: Path, least: str, status: int) -> None:
    """A check that holds on any machine, and one that fails on all."""
    table = tmp_path / "checks.toml"
    table.write_text(f'[[check]]\nname = "full"\nkind = "room"\nseconds = 30\npaths = ["/"]\nleast = {least}\n')
    options = f"--max-seconds 45 --checks {table}"
    script = configured("slurm/wulf-prolog", tmp_path, DRAIN="yes", WULF=wulf_in(tmp_path), OPTIONS=options)
    assert ran(script, tmp_path) == (status, [])

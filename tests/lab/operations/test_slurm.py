"""The prolog and the health check of examples/operations under a real Slurm: jobs start, and an ill node drains."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.lab.conftest import slurm_of
from tests.process.operations.templates import configured, wulf_in
from tests.processes import wait_until
from wulf import lab as labs
from wulf.lab.inside.init import SLURM
from wulf.workflow.node.check import NHC

pytestmark = [pytest.mark.lab, pytest.mark.full]
PATIENCE_S = 90.0
NODE = "n1"
ILL = '[[check]]\nname = "check_fs_free"\nkind = "room"\nseconds = 30\npaths = ["/"]\nleast = 1.1\n'
"""A check that fails on any machine."""


@pytest.fixture(scope="module")
def slurm(netns: None) -> Iterator[labs.Lab]:
    with slurm_of(1) as made:
        yield made


def on(lab: labs.Lab, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "wulf.cli.main", "lab", "exec", "--name", lab.name, NODE, "--", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, check=False)


def install(lab: labs.Lab, name: str, setting: str, **variables: object) -> None:
    """A template beside slurm.conf, in which `setting` names it, alone of them; checks find the node ill."""
    folder = lab.state / "slurm"
    (folder / "checks.toml").write_text(ILL)
    wulf_in(folder)
    options = f"--max-seconds 45 --checks {SLURM}/checks.toml"
    configured(f"slurm/{name}", folder, WULF=f"{SLURM}/wulf", OPTIONS=options, **variables)
    conf = folder / "slurm.conf"
    lines = [line for line in conf.read_text().splitlines() if not line.startswith(("Prolog=", "HealthCheck"))]
    conf.write_text("\n".join([*lines, setting, ""]))
    done = on(lab, "scontrol", "reconfigure")
    assert done.returncode == 0, done.stderr


def reason(lab: labs.Lab) -> str:
    return on(lab, "sinfo", "--noheader", "--partition=main", "--format=%E").stdout.strip()


def resumed(lab: labs.Lab) -> bool:
    """Whether the node is available, once it has been asked for; a health check that was under way drains once more."""
    on(lab, "scontrol", "update", f"nodename={NODE}", "state=resume")
    return lab.slurm == {NODE: "idle"}


@pytest.fixture
def healthy(slurm: labs.Lab) -> Iterator[labs.Lab]:
    """The lab, whose node is available again afterwards."""
    yield slurm
    install(slurm, "wulf-prolog", "")
    assert wait_until(lambda: resumed(slurm), PATIENCE_S), slurm.slurm


def test_as_it_comes_the_prolog_lets_jobs_start_on_an_ill_node(healthy: labs.Lab) -> None:
    install(healthy, "wulf-prolog", f"Prolog={SLURM}/wulf-prolog")
    assert on(healthy, "srun", "hostname").stdout == f"{NODE}\n"
    assert healthy.slurm == {NODE: "idle"}


def test_with_drain_no_job_starts_on_an_ill_node_and_the_log_says_why(healthy: labs.Lab) -> None:
    install(healthy, "wulf-prolog", f"Prolog={SLURM}/wulf-prolog", DRAIN="yes")
    done = on(healthy, "srun", "hostname")
    assert (done.returncode == 0, done.stdout) == (False, "")
    assert wait_until(lambda: healthy.slurm == {NODE: "drained"}, PATIENCE_S), healthy.slurm
    assert f"{NHC}check_fs_free:" in (healthy.state / "slurm" / "log" / f"slurmd-{NODE}.log").read_text()


def test_the_health_check_drains_with_the_reason_that_sinfo_shows(healthy: labs.Lab) -> None:
    setting = f"HealthCheckProgram={SLURM}/wulf-health\nHealthCheckInterval=1"
    install(healthy, "wulf-health", setting, DRAIN="yes")
    assert wait_until(lambda: healthy.slurm == {NODE: "drained"}, PATIENCE_S), healthy.slurm
    assert reason(healthy).startswith("wulf: check_fs_free:  / has ")

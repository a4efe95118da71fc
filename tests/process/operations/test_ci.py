"""Jobs for GitHub and GitLab: their forges' schemas take them, and their steps do here what they do on a runner."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.process.operations.peers import peer
from tests.process.operations.templates import FOLDER, written, wulf_in

FORGES = ("github", "gitlab")


def template(forge: str) -> Any:
    return yaml.safe_load((FOLDER / "ci" / f"{forge}.yml").read_text())


def variables(forge: str) -> dict[str, str]:
    return template(forge)["env"] if forge == "github" else template(forge)["wulf"]["variables"]


def steps(forge: str) -> list[str]:
    if forge == "github":
        return [step["run"] for step in template(forge)["jobs"]["performance"]["steps"] if "run" in step]
    return list(template(forge)["wulf"]["script"])


def job(forge: str, where: Path, wulf: Path | None = None, least: float = 0.0) -> tuple[int, str]:
    """The job's status, and what it printed: its steps as the runner's bash runs them, until one fails.

    The machine is well where `least` of its root directory is free.
    """
    table = where / "checks.toml"
    table.write_text(f'[[check]]\nname = "full"\nkind = "room"\nseconds = 30\npaths = ["/"]\nleast = {least}\n')
    own = {
        "WULF": str(wulf or wulf_in(where)), "BASELINE": str(where / "baseline"),
        "NODE_OPTIONS": "--probe fma --quick", "CHECK_OPTIONS": f"--max-seconds 45 --checks {table}",
    }  # fmt: skip
    assert set(own) <= set(variables(forge))
    words = ["bash", "-eo", "pipefail", "-c", "\n".join(steps(forge))]
    done = subprocess.run(
        words, env={**os.environ, **variables(forge), **own}, cwd=where, capture_output=True, text=True, check=False,
        timeout=240,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def kept_files(forge: str) -> str:
    """The pattern of the files that the forge keeps."""
    if forge == "gitlab":
        (pattern,) = template(forge)["wulf"]["artifacts"]["paths"]
        return pattern
    (pattern,) = [step["with"]["path"] for step in template(forge)["jobs"]["performance"]["steps"] if "uses" in step]
    return pattern


@pytest.mark.full
@pytest.mark.parametrize("forge", FORGES)
def test_a_machine_is_held_against_the_first_job_s_baseline(forge: str, tmp_path: Path) -> None:
    kept = []
    for _ in range(2):
        status, said = job(forge, tmp_path)
        assert status in (0, 1), said  # this machine may well be slower the second time
        kept.append((tmp_path / "baseline" / "node" / "run.json").read_bytes())
        assert "change.html" in {page.name for page in tmp_path.glob(kept_files(forge))}
    assert kept[0] == kept[1]


@pytest.mark.parametrize("forge", FORGES)
@pytest.mark.parametrize(("baseline", "now", "status"), [(0, 0, 0), (1, 0, 0), (0, 1, 1), (3, 0, 3), (0, 70, 70)])
def test_a_job_ends_as_its_measurement(forge: str, tmp_path: Path, baseline: int, now: int, status: int) -> None:
    """A baseline in which something stands out is one; a measurement that failed is none, and is made anew."""
    made = f"mkdir -p {tmp_path}/baseline/node && touch {tmp_path}/baseline/node/run.json"
    cases = f"*--save*) ;; node*--baseline*) exit {now};; node*) {made}; exit {baseline};;"
    wulf = written(tmp_path / "wulf", f'#!/bin/sh\ncase "$*" in {cases} esac\n')
    for _ in range(2):
        assert job(forge, tmp_path, wulf) == (status, "")
        assert (tmp_path / "baseline" / "node").exists() == (baseline < 2)


@pytest.mark.parametrize("forge", FORGES)
def test_a_sick_machine_is_not_measured(forge: str, tmp_path: Path) -> None:
    (tmp_path / "baseline" / "node").mkdir(parents=True)
    (tmp_path / "baseline" / "node" / "run.json").touch()
    status, said = job(forge, tmp_path, least=1.1)
    assert (status, (tmp_path / "wulf-node").exists()) == (1, False), said
    assert "Health check failed:  full:" in said


@pytest.mark.timeout(900)
@pytest.mark.full  # it may have to be installed
@pytest.mark.parametrize(
    ("forge", "options"),
    [
        ("github", ["vendor.github-workflows"]),
        ("gitlab", ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"]),
    ],
)  # fmt: skip
def test_the_forge_s_schema_takes_it(forge: str, options: list[str]) -> None:
    words = [peer("check-jsonschema"), "--builtin-schema", *options, FOLDER / "ci" / f"{forge}.yml"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("forge", FORGES)
def test_no_stranger_s_code_runs_on_the_machine(forge: str) -> None:
    if forge == "github":
        events = template(forge)[True]  # YAML 1.1 reads the key `on` so
        assert (set(events), template(forge)["permissions"]) == ({"schedule", "workflow_dispatch"}, {})
    else:
        (rule,) = template(forge)["wulf"]["rules"]
        assert set(re.findall(r'"(\w+)"', rule["if"])) == {"schedule", "web"}

"""The delay of each way by itself: a difference that was planted in the link is found with its size."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wulf import lab

pytestmark = [pytest.mark.lab, pytest.mark.alone]

PLANTED_S = 2e-3


@pytest.fixture
def lopsided(netns: None) -> Iterator[lab.Lab]:
    """Two nodes; what leaves n1 is delayed by two milliseconds, what reaches it is not."""
    with lab.up(2, name=f"oneway-{os.getpid()}", link={"delay": "0us"}, keep=False) as made:
        made.set_link("n1", {"delay": "2ms"}, direction="out")
        yield made


def test_a_planted_asymmetry_is_found_with_its_size(lopsided: lab.Lab, tmp_path: Path) -> None:
    words = [
        "net",
        "oneway",
        "n1",
        "n2",
        "--lab",
        "--transport",
        "udp",
        "--quick",
        "--json",
        "--out",
        str(tmp_path / "r"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "wulf.cli.main", *words], env=os.environ | {"WULF_LAB": lopsided.name},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1, 3), done.stderr
    found = {record["metric"]: record for record in map(json.loads, done.stdout.splitlines())}
    assert found["clock_error"]["value"] == 0, "the nodes of a lab share one clock"
    assert found["asymmetry"]["value"] == pytest.approx(PLANTED_S, rel=0.25)
    assert found["there"]["value"] > found["home"]["value"]
    findings = json.loads((tmp_path / "r" / "findings.json").read_text())
    (told,) = [finding for finding in findings if finding["kind"] == "asymmetry"]
    assert told["text"].startswith("n1 → n2 takes ")

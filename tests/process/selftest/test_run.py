"""The self-test in its reduced form, over processes; `wulf stats selftest` runs it whole."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from tests.processes import gone, wait_until
from wulf.report.selftest import markdown, print_claims
from wulf.selftest.run import SEED, claims, simulated, steps
from wulf.stats.claims import Size, missed

CHEAP = "naive", "blame"
"""Steps that take a moment."""


@pytest.mark.full
@pytest.mark.timeout(3600)  # thirteen minutes of CPU time, of which a busy machine gives a fourth
def test_every_claim_holds_in_the_reduced_form() -> None:
    found = claims(quick=True)
    assert [f"{claim.what}, {claim.stream}: {claim.share:.1%}" for claim in missed(found)] == []
    streams = {claim.stream for claim in found}
    assert {
        "lognormal",
        "heavy-tailed (t2)",
        "bimodal",
        "AR(1), ρ = 0.5",
        "linear drift",
        "linear drift of 40 σ",
        "recorded ping-pong",
    } <= streams
    naive = {claim.what: claim.share for claim in found if claim.stream == "linear drift" and claim.bound is None}
    assert naive["naive: 20 of A, then 20 of B, t-test"] > 0.9, "the naive method fails side by side"
    out = io.StringIO()
    print_claims(found, Console(file=out, width=80))
    assert max(len(line.rstrip()) for line in out.getvalue().splitlines()) <= 80
    assert markdown(found).count("\n") == len(found) + 2


def test_processes_find_what_this_one_would() -> None:
    size, numbers = Size(4, 4), [number for number, (words, _) in enumerate(steps()) if words.startswith(CHEAP)][:3]
    here = {number: steps()[number][1](np.random.default_rng([SEED, number]), size=size) for number in numbers}
    assert dict(simulated(numbers, SEED, size)) == here


def test_processes_end_with_the_command_that_was_killed() -> None:
    command = [sys.executable, "-m", "wulf.cli.main", "stats", "selftest", "--quick"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
        assert wait_until(lambda: len(children.read_text().split()) >= 2)
        begun = children.read_text().split()
        running.kill()
    assert all(gone(pid) for pid in begun)

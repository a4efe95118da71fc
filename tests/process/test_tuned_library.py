"""The example of a library that installs itself by rates: what it is built with, and that it is right. No timing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.rates.making import LATENCY, written

FOLDER = Path(__file__).parents[2] / "examples" / "tuned_library"
CHECKED = "-O1 -g -Werror -fsanitize=address,undefined -fno-sanitize-recover=all"
ASKED = f"{sys.executable} -m wulf.cli.main"

Latencies = tuple[float, float]
"""Of the second level and of memory [s]."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    if shutil.which("make") is None or shutil.which("cc") is None:
        pytest.skip("make or cc is not installed")
    return Path(shutil.copytree(FOLDER, tmp_path / "copy"))


def beside(copy: Path, latencies: Latencies | None, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in the copy, beside a rates file of such latencies, or none."""
    rates = copy / "rates.json"
    rates.unlink(missing_ok=True)
    if latencies is not None:
        figures = zip(("mem.l2.latency", "mem.random.latency"), latencies, strict=True)
        written(rates, *(replace(LATENCY, name=name, value=value) for name, value in figures))
    environment = {**os.environ, "WULF_RATES": str(rates)}
    done = subprocess.run(words, env=environment, cwd=copy, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    return done


def install(copy: Path, wulf: str) -> list[str]:
    return ["make", "install", f"PREFIX={copy / 'there'}", f"WULF={wulf}", f"CFLAGS={CHECKED}"]


def said(copy: Path, *words: str) -> str:
    program = copy / "there/bin/find-timed"
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_each_machine_gets_what_its_rates_say(copy: Path) -> None:
    for latencies, group in (((4e-9, 1.08e-7), 27), ((1e-8, 4e-9), 1), ((1e-9, 5e-7), 64)):
        plan = beside(copy, latencies, "./plan.sh", *ASKED.split()).stdout
        assert plan == f'#define GROUP {group}\n#define GROUP_SOURCE "by the rates of this machine"\n'


def test_what_is_installed_has_that_plan_and_finds_every_key(copy: Path) -> None:
    beside(copy, (4e-9, 1.08e-7), *install(copy, ASKED))
    for n, keys in (("1", "3"), ("1000", "200"), ("4097", "65"), ("2", "27")):
        assert said(copy, n, keys).endswith(", 27 searches at a time, by the rates of this machine\n")
    assert {path.name for path in (copy / "there").rglob("*") if path.is_file()} == {
        "find.h", "libfind.a", "find-timed",
    }  # fmt: skip
    beside(copy, (4e-9, 1e-7), *install(copy, ""))
    assert "4 searches at a time, fixed: no rates were asked for" in said(copy, "100", "9")


def test_without_rates_the_plan_is_the_fixed_one_which_says_why(copy: Path) -> None:
    done = beside(copy, None, "./plan.sh", *ASKED.split())
    assert "`wulf rates publish --only memory` measures both" in done.stderr
    assert "GROUP 4" in done.stdout and "mem.l2.latency or mem.random.latency has no rate" in done.stdout

"""Examples build as their text says, and do what they show: small, and for correctness alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.rates.making import SIZE, written

FOLDER = Path(__file__).parents[2] / "examples" / "blocked_matmul"


@pytest.fixture(scope="module")
def matmul(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, made by its own Makefile in a copy."""
    if shutil.which("make") is None or shutil.which("cc") is None:
        pytest.skip("make or cc is not installed")
    copy = tmp_path_factory.mktemp("example") / "blocked_matmul"
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("matmul"))
    checked = "-O1 -g -Werror -fsanitize=address,undefined -fno-sanitize-recover=all"
    words = ["make", "-C", str(copy), f"WULF={sys.executable} -m wulf.cli.main", f"CFLAGS={checked}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    return copy / "matmul"


def test_kronos_design_is_the_published_one(tmp_path: Path) -> None:
    """The command as it is typed, in a process of its own; its page is written. The other designs: tests/unit/cli."""
    file, page = FOLDER.parent / "design" / "kronos.toml", tmp_path / "page.html"
    words = [sys.executable, "-m", "wulf.cli.main", "design", str(file), "--budget", "2500", "--html", str(page)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=240)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("8 × sempron, gbe: 78.5 s, for $2,490 of $2,500")
    assert page.is_file()


def ran(program: Path, rates: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "WULF_RATES": str(rates)}
    return subprocess.run([program, *words], env=environment, capture_output=True, text=True, check=False, timeout=240)


def test_without_rates_it_falls_back_and_says_why(matmul: Path, tmp_path: Path) -> None:
    done = ran(matmul, tmp_path / "none.json", "50", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("no rates (")
    assert "`wulf rates publish`" in done.stdout


@pytest.mark.parametrize(
    ("l1", "l2", "block"),
    [
        (32768.0, 1048576.0, "160 x 408"), (49152.0, 2097152.0, "212 x 608"), (65536.0, 524288.0, "40 x 816"),
        (512.0, 1024.0, "8 x 8"), (1.0, 1.0, "4 x 8"),
    ],
)  # fmt: skip
def test_the_block_comes_from_the_file_and_the_product_is_right(
    matmul: Path, tmp_path: Path, l1: float, l2: float, block: str
) -> None:
    sizes = [replace(SIZE, name=f"mem.{level}.size", value=value) for level, value in (("l1", l1), ("l2", l2))]
    written(tmp_path / "rates.json", *sizes)
    for size in ("1", "7", "97"):
        done = ran(matmul, tmp_path / "rates.json", size, "2")
        assert (done.returncode, done.stderr) == (0, "")
        assert f": block {block}\n" in done.stdout
        assert "mem.l2.size" in done.stdout


def test_what_makes_no_sense_is_refused(matmul: Path, tmp_path: Path) -> None:
    for words in (("0",), ("-5",), ("10", "0"), ("x",), ("1", "2", "3")):
        assert ran(matmul, tmp_path / "none.json", *words).returncode == 2

"""HPCC's seven parts from a real output, and the checks that void them."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.apps import hpcc
from wulf.apps.linpack import hpcc_files
from wulf.apps.linpack.dat import HplDat, parse

OUTPUT = (Path(__file__).parent / "hpccoutf.txt").read_text()
INPUT = hpcc_files.input_text(HplDat((960,), (80,), ((1, 2),)))
FILES = {"hpccoutf.txt": OUTPUT, "hpccinf.txt": INPUT}


def test_every_part_has_all_its_figures_with_unit() -> None:
    figures = {figure.name: figure for figure in hpcc.read("", FILES).figures}
    assert list(hpcc.PARTS) == ["HPL", "DGEMM", "PTRANS", "RandomAccess", "STREAM", "FFT", "b_eff"]
    assert len(figures) == sum(map(len, hpcc.PARTS.values())) == 32
    assert all(figure.value is not None and figure.value > 0 for figure in figures.values())
    for name, value, unit in (
        ("hpl.rate", 2.89685e8, "flop/s"),
        ("dgemm.star", 3.62917e9, "flop/s"),
        ("ptrans.rate", 1.23891e7, "B/s"),
        ("updates.mpi", 423744, "Hz"),
        ("stream.star.triad", 7.24585e10, "B/s"),
        ("fft.mpi", 3.38397e7, "flop/s"),
        ("ring.latency.random", 2.97403e-7, "s"),
    ):
        assert figures[name].value == pytest.approx(value), name
        assert figures[name].unit == unit
    assert figures["ring.latency.random"].better == "lower"
    assert figures["ring.rate.random"].better == "higher"


def test_a_right_output_passes_all_checks_and_tells_its_sizes() -> None:
    reading = hpcc.read("", FILES)
    assert [check.name for check in reading.checks] == [
        "residual", "configuration", "success", "updates", "updates.lcg", "transpose",
    ]  # fmt: skip
    assert all(check.passed for check in reading.checks)
    assert reading.facts["hpcc.version"] == "1.5.0"
    assert reading.facts["PTRANS_n"] == 480


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("\nSuccess=1\n", "\nSuccess=0\n", "success"),
        ("MPIRandomAccess_ErrorsFraction=0\n", "MPIRandomAccess_ErrorsFraction=0.02\n", "updates"),
        ("\nPTRANS_residual=0\n", "\nPTRANS_residual=0.5\n", "transpose"),
        (" ...... PASSED", " ...... FAILED", "residual"),
    ],
)
def test_a_part_that_is_wrong_is_a_failed_check(old: str, new: str, name: str) -> None:
    assert old in OUTPUT
    checks = hpcc.read("", {**FILES, "hpccoutf.txt": OUTPUT.replace(old, new)}).checks
    assert name in [check.name for check in checks if not check.passed]


def test_a_part_that_did_not_run_has_a_reason_and_the_others_their_figures() -> None:
    text = OUTPUT.replace("MPIFFT_Gflops=0.0338397", "MPIFFT_Gflops=-1")
    figures = {figure.name: figure for figure in hpcc.read("", {**FILES, "hpccoutf.txt": text}).figures}
    assert figures["fft.mpi"].value is None
    assert "MPIFFT_Gflops is -1" in figures["fft.mpi"].reason
    assert figures["fft.star"].value is not None


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        ("End of PTRANS section.", "within the part PTRANS"),
        ("End of HPL section.", "within the part HPL"),
        ("Begin of HPL section.", "after the part LatencyBandwidth"),
        ("End of Summary section.", "within the part Summary"),
    ],
)
def test_an_output_that_is_cut_short_says_where(cut: str, said: str) -> None:
    text = OUTPUT[: OUTPUT.index(cut)]
    figures = hpcc.read("", {**FILES, "hpccoutf.txt": text}).figures
    assert all(figure.value is None and said in figure.reason for figure in figures)


def test_of_a_file_that_was_appended_to_the_last_run_counts() -> None:
    text = OUTPUT + OUTPUT.replace("HPL_Tflops=0.000289685", "HPL_Tflops=0.0005")
    assert hpcc.read("", {**FILES, "hpccoutf.txt": text}).figures[0].value == pytest.approx(5e8)
    begun = OUTPUT + OUTPUT[: OUTPUT.index("End of HPL section.")]
    assert hpcc.read("", {**FILES, "hpccoutf.txt": begun}).figures[0].value is None


def test_the_input_is_hpls_with_ptrans_sizes_after_it() -> None:
    text = hpcc_files.input_text(HplDat((1000,)), transposes=(600, 900), blocks=(32,))
    assert parse(text) == HplDat((1000,))
    assert text.splitlines()[32].split()[0] == "2"
    assert text.splitlines()[33].split()[:2] == ["600", "900"]
    assert text.splitlines()[35].split()[0] == "32"


def test_each_part_has_a_figure_that_stands_for_it() -> None:
    parts = {name: part for part, rows in hpcc.PARTS.items() for name in (row.name for row in rows)}
    assert {parts[name] for name in hpcc.LEADING} == set(hpcc.PARTS)
    assert set(hpcc.TITLES) == set(parts)

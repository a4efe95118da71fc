"""HPL's jobs, and what its output says: whole, wrong, cut short, with others talking in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.apps import hpl
from wulf.apps.driver import checked
from wulf.apps.linpack import hpcc_files
from wulf.apps.linpack import output as hpl_output
from wulf.apps.linpack.dat import HplDat, parse
from wulf.core.errors import UsageError

HERE = Path(__file__).parent
XHPL = (HERE / "xhpl.txt").read_text()
"""What HPL 2.3 printed for N 480, NB 96 on 1 x 2 ranks."""
HPCC = (HERE / "hpccoutf.txt").read_text()
"""What HPCC 1.5.0 wrote for N 960, NB 80 on 1 x 2 ranks, the sections before HPL emptied."""

ROW = "WR11C2R4         480    96     1     2               1.57             4.7250e-02"
RESIDUAL = "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   7.72784642e-03 ...... PASSED"
ASKED = {"HPL.dat": HplDat((480,), (96,), ((1, 2),)).text()}


def test_the_outputs_have_what_the_tests_change() -> None:
    assert ROW in XHPL
    assert RESIDUAL in XHPL


def test_a_right_output_has_rate_and_time_with_the_digits_of_the_rate() -> None:
    reading = hpl.read(XHPL, ASKED)
    rate, time = reading.figures
    assert (rate.name, rate.unit, rate.value) == ("rate", "flop/s", 4.725e7)
    assert time.value == pytest.approx((2 / 3 * 480**3 + 3 / 2 * 480**2) / 4.725e7)
    assert all(check.passed for check in reading.checks)
    assert reading.facts["variant"] == "WR11C2R4"
    assert reading.facts["hpl.version"] == "2.3"


@pytest.mark.parametrize("row", [ROW, ROW.replace("1.57 ", "1.58 "), ROW.replace("4.7250e-02", "4.7e-02")])
def test_n_time_and_rate_fit_each_other_as_far_as_their_digits_go(row: str) -> None:
    assert [check.name for check in hpl.read(XHPL.replace(ROW, row), ASKED).checks] == ["residual", "configuration"]


def test_n_time_and_rate_that_contradict_each_other_are_told() -> None:
    """As the 29.21 and 72.2 Gflop/s of a paper whose N and times make 27.8 and 63.9."""
    row = "WR11C2R4       37326    96     1     2            1246.00             2.9210e+01"
    (check,) = [check for check in hpl.read(XHPL.replace(ROW, row), {}).checks if check.name == "arithmetic"]
    assert not check.passed
    assert check.said == "WR11C2R4 N=37326 in 1246.00 s is 27.83 Gflop/s, and the output says 2.9210e+01"


def test_a_residual_that_is_too_large_is_a_failed_check_and_no_figure() -> None:
    reading = hpl.read(
        XHPL.replace(RESIDUAL, RESIDUAL.replace("7.72784642e-03", "31.5").replace("PASSED", "FAILED")), {}
    )
    assert [check.passed for check in reading.checks] == [False]
    assert "residual 31.5, less than 16 is asked" in reading.checks[0].said
    assert reading.figures[0].value is None
    assert "wrong" in reading.figures[0].reason


def test_a_residual_that_is_no_number_is_wrong() -> None:
    text = XHPL.replace("7.72784642e-03 ...... PASSED", "             nan ...... FAILED")
    assert [check.passed for check in hpl.read(text, {}).checks] == [False]


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (0, "printed nothing of its own"),
        (XHPL.index("The following parameter"), "cut short"),
        (XHPL.index(ROW), "cut short"),
        (XHPL.index(ROW) + 60, "cut short"),
        (XHPL.index(RESIDUAL), "no residual follows"),
        (XHPL.index(RESIDUAL) + 60, "no residual follows"),
    ],
)
def test_an_output_that_is_cut_short_has_no_figure(end: int, reason: str) -> None:
    figure = hpl.read(XHPL[:end], {}).figures[0]
    assert figure.value is None
    assert reason in figure.reason


def test_what_others_say_in_between_does_no_harm() -> None:
    chatter = "[n2:4711] btl_tcp: connection to 10.0.0.2 = 17 ...\n"
    text = XHPL.replace(ROW, f"{chatter}warning from rank 1 {ROW}").replace(RESIDUAL, f"{chatter}{chatter}{RESIDUAL}")
    assert hpl.read(text, ASKED).figures[0].value == 4.725e7


def test_the_fastest_of_several_rows_counts_and_each_is_checked() -> None:
    faster = ROW.replace("4.7250e-02", "9.0000e-02").replace("1.57", "0.82").replace("WR11C2R4", "WC03R2L8")
    text = XHPL.replace(RESIDUAL, f"{RESIDUAL}\n{faster}\n{RESIDUAL}")
    reading = hpl.read(text, {})
    assert reading.figures[0].value == 9e7
    assert reading.facts["variant"] == "WC03R2L8"
    assert len(reading.checks) == 2


def test_the_three_residuals_of_hpl_1_must_all_pass() -> None:
    old = "||Ax-b||_oo / ( eps * ||A||_1  * N        ) =        0.0674622 ...... {}\n"
    two = old.format("PASSED") + old.format("FAILED").replace("0.0674622", "99.5")
    output = hpl_output.parse(f"{ROW}\n{two}{old.format('PASSED')}")
    assert output.rows[0].residuals == (0.0674622, 99.5, 0.0674622)
    assert output.rows[0].passed is False


def test_what_hpl_says_of_its_input_is_the_reason() -> None:
    text = (
        "HPL ERROR from process # 0, on line 419 of function HPL_pdinfo:\n"
        ">>> Need at least 4 processes for these tests <<<\n\n"
    )
    assert hpl.read(text * 2, {}).figures[0].reason == "Need at least 4 processes for these tests"


def test_another_configuration_than_the_one_asked_for_is_a_failed_check() -> None:
    reading = hpl.read(XHPL, {"HPL.dat": HplDat((960,), (96,), ((1, 2),)).text()})
    assert [check.name for check in reading.checks if not check.passed] == ["configuration"]


def test_hpcc_as_a_runner_of_hpl_gives_the_summarys_digits() -> None:
    asked = hpcc_files.input_text(HplDat((960,), (80,), ((1, 2),)))
    reading = hpl.read("", {"hpccoutf.txt": HPCC, "hpccinf.txt": asked})
    assert reading.figures[0].value == pytest.approx(2.89685e8)
    assert reading.figures[1].value == 2.04086
    assert all(check.passed for check in reading.checks)


def test_hpcc_that_replaced_an_input_which_it_could_not_read_is_found_out() -> None:
    asked = hpcc_files.input_text(HplDat((2000,), (80,), ((1, 2),)))
    reading = hpl.read("", {"hpccoutf.txt": HPCC, "hpccinf.txt": asked})
    assert "N 960" in next(check.said for check in reading.checks if not check.passed)


def test_hpcc_that_did_not_get_to_hpl_says_how_far_it_got() -> None:
    text = HPCC[: HPCC.index("End of StarDGEMM section.")]
    assert "within the part StarDGEMM" in hpl.read("", {"hpccoutf.txt": text}).figures[0].reason
    assert "HPCC did not get so far" in hpl.read("", {"hpccoutf.txt": ""}).figures[0].reason


def test_a_job_has_its_input_one_thread_a_rank_and_reads_its_input_back() -> None:
    job = hpl.job("/usr/bin/xhpl", checked(hpl, {"n": 1000, "nb": 64, "bcast": 3}), 6)
    dat = parse(job.files["HPL.dat"])
    assert (dat.ns, dat.nbs, dat.grids, dat.bcasts) == ((1000,), (64,), ((2, 3),), (3,))
    assert job.mpi
    assert job.outputs == ("HPL.dat",)
    assert job.environment["OPENBLAS_NUM_THREADS"] == "1"
    assert "LD_PRELOAD" not in job.environment


def test_a_job_of_hpcc_has_its_five_lines_more() -> None:
    job = hpl.job("/usr/bin/hpcc", checked(hpl, {"n": 1000}), 2)
    assert len(job.files["hpccinf.txt"].splitlines()) == 36
    assert job.outputs == ("hpccoutf.txt", "hpccinf.txt")


def test_a_blas_is_loaded_before_the_programs_own() -> None:
    environment = hpl.environment_of({"threads": 4, "blas": "/l/blis/libblas.so.3"})
    assert environment["LD_PRELOAD"] == "/l/blis/libblas.so.3"
    assert environment["BLIS_NUM_THREADS"] == "4"
    mkl = hpl.environment_of({"threads": 1, "blas": "/l/libmkl_rt.so.2"})
    assert (mkl["MKL_INTERFACE_LAYER"], mkl["MKL_THREADING_LAYER"]) == ("LP64", "SEQUENTIAL")


def test_one_side_of_a_grid_gives_the_other_and_a_wrong_one_is_refused() -> None:
    assert hpl.dat_of(checked(hpl, {"n": 1000, "p": 4}), 8).grids == ((4, 2),)
    assert hpl.dat_of(checked(hpl, {"n": 1000, "q": 8}), 8).grids == ((1, 8),)
    with pytest.raises(UsageError, match="3 x 2 is 6 ranks, and 8 are to be started"):
        hpl.job("xhpl", checked(hpl, {"n": 1000, "p": 3}), 8)
    with pytest.raises(UsageError, match="n is missing"):
        hpl.job("xhpl", checked(hpl, {}), 8)


def test_a_files_configurations_are_jobs_of_their_own() -> None:
    dat = HplDat((1000, 2000), (64, 128), ((1, 2),), depths=(0, 1), pmap=1, swap_threshold=96)
    each = hpl.params_of(dat)
    assert len(each) == 8
    texts = [hpl.job("xhpl", checked(hpl, params), 2).files["HPL.dat"] for params in each]
    assert [parse(text) for text in texts] == [dat.single(one) for one in dat.configurations()]

"""HPL.dat: written, read back, and checked against ranks and memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.apps.linpack import size as hpl_size
from wulf.apps.linpack.dat import LINES, HplDat, parse
from wulf.core.errors import UsageError

ONE = HplDat((1000,), (80,), ((1, 2),))

MANY = """\
HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
6            device out (6=stdout,7=stderr,file)
2            # of problems sizes (N)
29   30      Ns
1            # of NBs
4            NBs
1            PMAP process mapping (0=Row-,1=Column-major)
3            # of process grids (P x Q)
2 1 4        Ps
2 4 1        Qs
16.0         threshold
3            # of panel fact
0 1 2        PFACTs (0=left, 1=Crout, 2=Right)
2            # of recursive stopping criterium
2 4          NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
3            # of recursive panel fact.
0 1 2        RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
0            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
0            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
"""

small = st.integers(1, 10**6)


def lists(low: int, high: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(st.integers(low, high), min_size=1, max_size=20).map(tuple)


@given(
    st.builds(
        HplDat, ns=lists(1, 10**6), nbs=lists(1, 4096),
        grids=st.lists(st.tuples(small, small), min_size=1, max_size=20).map(tuple),
        pfacts=lists(0, 2), nbmins=lists(1, 64), ndivs=lists(2, 9), rfacts=lists(0, 2), bcasts=lists(0, 5),
        depths=lists(0, 4), pmap=st.integers(0, 1), swap=st.integers(0, 2), swap_threshold=st.integers(0, 999),
        l1=st.integers(0, 1), u=st.integers(0, 1), equil=st.integers(0, 1), align=st.integers(1, 64),
        threshold=st.floats(0.5, 100).map(lambda value: round(value, 3)),
    )
)  # fmt: skip
def test_what_is_written_is_read_back(dat: HplDat) -> None:
    assert parse(dat.text()) == dat
    assert len(dat.text().splitlines()) == LINES


def test_values_stand_one_blank_apart_as_hpl_reads_them() -> None:
    assert "29 30        Ns" in parse(MANY).text()


def test_a_file_of_many_values_is_all_their_combinations_in_hpls_order() -> None:
    dat = parse(MANY)
    runs = dat.configurations()
    assert len(runs) == 2 * 3 * 3 * 2 * 3
    assert [run.variant for run in runs[:3]] == ["WC00L2L2", "WC00L2L4", "WC00L2C2"]
    assert (runs[-1].p, runs[-1].q, runs[-1].n) == (4, 1, 30)
    singles = [dat.single(run) for run in runs]
    assert [each.configurations() for each in singles] == [[run] for run in runs]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2 4 1        Qs", "2 4 Qs", "line 12: Q = '2 4 Qs'"),
        ("2 4          NBMINs (>= 1)", "2", "line 17: 1 of 2 values of NBMIN"),
        ("1            # of NBs", "0            # of NBs", "line 7: 0 values of NB"),
        ("1            # of NBs", "21           # of NBs", "line 7: 21 values of NB"),
        ("16.0 ", "x ", "line 13: threshold = 'x' is not a number"),
        ("16.0 ", "-1.0 ", "checks no residual"),
        ("0            BCASTs", "7            BCASTs", "BCAST = 7"),
        ("2            NDIVs", "1            NDIVs", "NDIV = 1"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(old: str, new: str, said: str) -> None:
    assert old in MANY
    with pytest.raises(UsageError, match=said):
        parse(MANY.replace(old, new))


def test_a_file_that_is_cut_short_says_what_is_missing() -> None:
    with pytest.raises(UsageError, match="ends after 10 lines, where P should stand"):
        parse("\n".join(MANY.splitlines()[:10]))


@pytest.mark.parametrize("field", [{"ns": (0,)}, {"nbs": ()}, {"grids": ((0, 2),)}, {"ns": (1,) * 21}, {"swap": 3}])
def test_what_hpl_would_not_take_is_refused(field: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="HPL"):
        replace(ONE, **field)


def test_the_grid_must_have_as_many_places_as_there_are_ranks() -> None:
    ONE.check(2)
    with pytest.raises(UsageError, match="1 x 2 is 2 ranks, and 6 are to be started") as caught:
        ONE.check(6)
    assert caught.value.next_step == "grids of 6: 2 x 3, 1 x 6, 3 x 2, 6 x 1"


def test_a_block_larger_than_the_matrix_is_refused() -> None:
    with pytest.raises(UsageError, match="NB = 80 is larger than N = 64"):
        replace(ONE, ns=(64,)).check(2)


def test_a_matrix_that_does_not_fit_is_refused_with_both_figures_and_the_largest_that_does() -> None:
    dat = replace(ONE, ns=(100_000,), nbs=(192,))
    with pytest.raises(UsageError) as caught:
        dat.check(2, {"n1": 32 * 10**9, "n2": 16 * 10**9})
    assert "n2 has 16000000000 B" in caught.value.what
    largest = int(caught.value.next_step.split("N = ")[1].split()[0])
    replace(dat, ns=(largest,)).check(2, {"n1": 32 * 10**9, "n2": 16 * 10**9})
    with pytest.raises(UsageError):
        replace(dat, ns=(largest + 192,)).check(2, {"n1": 32 * 10**9, "n2": 16 * 10**9})


def test_ranks_of_a_node_share_its_memory() -> None:
    """8·N² = 8 GB: half of it is too much where both ranks are on one node of 6 GB."""
    dat = replace(ONE, ns=(31_600,))
    dat.check(2, {"n1": 6 * 10**9, "n2": 6 * 10**9})
    with pytest.raises(UsageError, match="2 ranks of"):
        dat.check(2, {"n1": 6 * 10**9})


@given(st.integers(1, 3000), st.integers(1, 300), st.integers(1, 12))
def test_the_parts_of_a_side_are_the_whole(n: int, nb: int, parts: int) -> None:
    lengths = [hpl_size.local_length(n, nb, index, parts) for index in range(parts)]
    assert sum(lengths) == n
    assert max(lengths[:2]) == max(lengths)


def test_the_size_for_a_share_of_memory_is_a_multiple_of_nb() -> None:
    n = hpl_size.size_for({"n1": 64 * 2**30, "n2": 128 * 2**30}, 192, 0.8)
    assert n % 192 == 0
    assert 0.79 < 8 * n * n / (2 * 64 * 2**30) <= 0.8


def test_grids_are_the_squarest_first() -> None:
    assert hpl_size.grids_of(12) == [(3, 4), (2, 6), (1, 12), (4, 3), (6, 2), (12, 1)]
    assert hpl_size.grids_of(4) == [(2, 2), (1, 4), (4, 1)]
    assert hpl_size.grids_of(1) == [(1, 1)]

"""Shares of MPI and the bounds, from profiles whose sums are known."""

from typing import Any

import pytest

from wulf.model.mpi_share import NoProfileError, mpi_share


def profile(rank: int, seconds: float = 10.0, ranks: int = 2, host: str | None = None, **calls: Any) -> dict[str, Any]:
    """One rank's; calls are (kind, same, other, open)."""
    rows = {
        f"MPI_{name}": {"kind": kind, "calls": 100, "bytes": 1000, "same": same, "other": other, "open": unknown}
        for name, (kind, same, other, unknown) in calls.items()
    }
    return {
        "version": 1, "rank": rank, "ranks": ranks, "host": host or f"n{rank + 1}", "library": "Open MPI v4.1.4",
        "several_threads": False, "clock": "counter", "init": 0.5, "seconds": seconds, "finalize": 0.25, "cost": 1e-7,
        "calls": rows, "sent": {"same": [], "other": [[0, 1, 0], [4, 2, 20]], "open": []},
    }  # fmt: skip


MASTER = profile(0, Recv=("receive", 0.0, 0.0, 8.0), Send=("send", 0.0, 1.0, 0.0))
WORKER = profile(1, Recv=("receive", 0.0, 1.5, 0.0), Barrier=("all", 0.0, 0.5, 0.0))


def test_shares_are_means_over_the_ranks():
    share = mpi_share([WORKER, MASTER])
    assert (share.ranks, share.hosts, share.missing) == (2, 2, ())
    assert share.mpi == pytest.approx((0.9 + 0.2) / 2)
    assert share.certain == pytest.approx((0.1 + 0.2) / 2)
    assert share.waiting == pytest.approx((0.8 + 0.2) / 2)
    assert share.outside == pytest.approx(0.75)


def test_the_bound_is_what_the_busiest_rank_leaves():
    share = mpi_share([MASTER, WORKER])
    assert share.most == pytest.approx(0.2)  # not the master's 0.9: the worker computes for 8 s on any network
    assert share.busiest == 1
    assert share.least_time(0.1) == pytest.approx(1 - 0.2 * 0.9)
    assert share.least_time(3.0) == 1.0  # a slower network saves nothing
    assert share.most_of(20.0) == pytest.approx(1 - 8 / 20)


def test_on_one_host_the_network_explains_nothing():
    share = mpi_share([{**MASTER, "host": "n1"}, {**WORKER, "host": "n1"}])
    assert share.most == 0.0 and share.mpi > 0.5


def test_time_beyond_the_span_is_no_more_than_the_span():
    several = profile(0, ranks=1, Recv=("receive", 0.0, 0.0, 30.0))
    other = profile(1, ranks=2)
    assert mpi_share([{**several, "ranks": 2}, other]).most == 0.0
    assert mpi_share([{**several, "ranks": 2}, {**several, "rank": 1, "ranks": 2, "host": "n2"}]).most == 1.0


def test_a_rank_that_died_is_named():
    assert mpi_share([profile(0, ranks=3), profile(2, ranks=3)]).missing == (1,)


def test_calls_and_sizes_are_sums():
    share = mpi_share([MASTER, WORKER])
    assert [call.name for call in share.calls] == ["MPI_Recv", "MPI_Send", "MPI_Barrier"]
    assert share.calls[0].seconds == pytest.approx(9.5) and share.calls[0].calls == 200
    assert share.calls[0].share == pytest.approx(9.5 / 20)
    assert [(one.least, one.most, one.messages["other"], one.bytes["other"]) for one in share.sizes] == [
        (0, 0, 2, 0), (8, 15, 4, 40),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("profiles", "why"),
    [
        ([], "no rank left"),
        ([MASTER, MASTER], "several runs"),
        ([MASTER, {**WORKER, "ranks": 4}], "several runs"),
        ([{**MASTER, "seconds": 0.0}], "no time"),
    ],
)
def test_what_says_nothing(profiles: list[dict[str, Any]], why: str):
    with pytest.raises(NoProfileError, match=why):
        mpi_share(profiles)

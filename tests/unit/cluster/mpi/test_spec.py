"""Where ranks go."""

import pytest

from wulf.cluster.mpi.spec import WorldSpec, counts, layout
from wulf.core.errors import UsageError


@pytest.mark.parametrize(
    ("spec", "places"),
    [
        (WorldSpec(), "n1 n2 n3"),
        (WorldSpec(per_node=2), "n1 n1 n2 n2 n3 n3"),
        (WorldSpec(ranks=1), "n1"),
        (WorldSpec(ranks=2), "n1 n2"),
        (WorldSpec(ranks=3, per_node=2), "n1 n1 n2"),
        (WorldSpec(ranks=5), "n1 n1 n2 n2 n3"),
        (WorldSpec(ranks=7, per_node=2), "n1 n1 n1 n2 n2 n3 n3"),
        (WorldSpec(ranks=9, per_node=2), "n1 n1 n1 n2 n2 n2 n3 n3 n3"),
    ],
)
def test_consecutive_ranks_share_a_node(spec, places):
    assert layout(["n1", "n2", "n3"], spec) == tuple(places.split())


def test_counts_keep_the_order_of_ranks():
    assert list(counts(("n2", "n2", "n1")).items()) == [("n2", 2), ("n1", 1)]


@pytest.mark.parametrize("wrong", [{"ranks": 0}, {"per_node": 0}, {"starter": "prun"}])
def test_what_cannot_be_started_is_refused(wrong):
    with pytest.raises(UsageError):
        WorldSpec(**wrong)

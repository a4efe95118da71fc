"""Which MPI all nodes agree on, and what is said where they don't."""

from dataclasses import replace

import pytest

from tests.wording import lacking
from wulf.cluster.mpi.installed import Installed, NodeView, agree, builder, prefixes_of
from wulf.core.errors import NodeError, UsageError

OPENMPI = Installed(
    "openmpi", "4.1.4", "/usr", "/usr/bin/mpicxx.openmpi", "/usr/bin/mpirun.openmpi", "g++ 12", "system"
)
MPICH = Installed("mpich", "4.0.2", "/usr", "/usr/bin/mpicxx.mpich", "/usr/bin/mpirun.mpich", "g++ 12", "system")
WHEEL = Installed(
    "mpich", "5.0.2", "/c/wheel-mpich", "/c/wheel-mpich/bin/mpicxx", "/c/wheel-mpich/bin/mpirun", "", "wheel"
)


def node(*mpis, places=("/c",)):
    return NodeView(mpis, places, "boot", "host", 2, 0)


def test_the_first_nodes_choice_that_all_have():
    views = {"n1": node(OPENMPI, MPICH), "n2": node(MPICH, OPENMPI)}
    assert agree(views) == OPENMPI
    assert agree({"n1": node(OPENMPI, MPICH), "n2": node(MPICH)}) == MPICH


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ("openmpi", OPENMPI),
        ("mpich", MPICH),
        ("wheel:mpich", WHEEL),
        ("/c/wheel-mpich", WHEEL),
        ("/c/wheel-mpich/", WHEEL),
        ("/c/wheel-mpich/bin", WHEEL),
        ("/usr/bin/mpicxx.mpich", MPICH),
        ("/usr/bin/mpirun.openmpi", OPENMPI),
    ],
)
def test_the_one_that_the_user_means(wanted, chosen):
    assert agree({"n1": node(OPENMPI, MPICH, WHEEL)}, wanted) == chosen


def test_different_versions_are_named_with_the_nodes_that_have_them(wording):
    newer = replace(OPENMPI, version="4.1.6")
    views = {"n1": node(OPENMPI), "n2": node(OPENMPI), "n3": node(newer)}
    with pytest.raises(UsageError) as caught:
        agree(views)
    assert lacking(caught.value.what, "n[1-2] have Open MPI 4.1.4 (/usr)", "n3 has Open MPI 4.1.6 (/usr)") == []
    wording(caught.value.what)


def test_the_same_version_elsewhere_is_another():
    views = {"n1": node(OPENMPI), "n2": node(replace(OPENMPI, prefix="/opt/om"))}
    with pytest.raises(UsageError) as caught:
        agree(views)
    assert lacking(caught.value.what, "n1 has Open MPI 4.1.4 (/usr)", "n2 has Open MPI 4.1.4 (/opt/om)") == []


def test_nodes_without_it_are_named_with_what_they_have(wording):
    with pytest.raises(UsageError) as caught:
        agree({"n1": node(OPENMPI), "n2": node(MPICH), "n3": node()}, "openmpi")
    assert caught.value.what.startswith("n[2-3]: no Open MPI")
    assert lacking(caught.value.what, "n1 has Open MPI 4.1.4 (/usr)", "n2 has MPICH 4.0.2 (/usr)") == []
    assert "n3 has" not in caught.value.what
    wording(caught.value.what)
    assert "wulf mpi install openmpi" in caught.value.next_step
    with pytest.raises(UsageError, match="n1: no MPI is there"):
        agree({"n1": node()})
    with pytest.raises(UsageError, match=r"n1: no MPI from PyPI \(mpich\) is there"):
        agree({"n1": node(MPICH)}, "wheel:mpich")


def test_the_first_node_with_a_compiler_builds():
    runtime = replace(OPENMPI, mpicxx=None, compiler=None)
    views = {"n1": node(runtime), "n2": node(MPICH, OPENMPI)}
    assert builder(views, runtime) == ("n2", OPENMPI)
    with pytest.raises(NodeError, match=r"n1: Open MPI 4\.1\.4 has no mpicxx") as caught:
        builder({"n1": node(runtime), "n2": node(MPICH)}, runtime)
    assert "libopenmpi-dev" in caught.value.next_step


@pytest.mark.parametrize(
    ("wanted", "prefixes"),
    [
        (None, ()),
        ("openmpi", ()),
        ("wheel:mpich", ()),
        ("/opt/om", ("/opt/om",)),
        ("/opt/om/", ("/opt/om",)),
        ("/opt/om/bin/mpirun", ("/opt/om/bin",)),
    ],
)
def test_where_a_users_word_points(wanted, prefixes):
    assert prefixes_of(wanted) == prefixes


def test_names():
    assert (OPENMPI.title, OPENMPI.name) == ("Open MPI 4.1.4", "openmpi 4.1.4")
    assert replace(OPENMPI, kind="other", version="").title == "an unknown MPI"

"""Which rank died, from the launchers' own words."""

import pytest

from tests.unit.cluster.mpi import outputs
from tests.wording import lacking
from wulf.cluster.mpi.deaths import RankPlace, cause_of_death, not_running

RANKS = (RankPlace(0, "n1", "n1", 92), RankPlace(1, "n2", "n2", 60))


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (outputs.KILLED_OPENMPI_4, "rank 1 on n2 was killed by SIGKILL"),
        (outputs.KILLED_OPENMPI_5, "rank 1 on n2 was killed by SIGKILL"),
        (outputs.STATUS_OPENMPI_4, "rank 1 on n2 ended with status 3"),
        (outputs.INIT_OPENMPI_4, "MPI_Init failed: ompi_mpi_init: ompi_rte_init failed: Not found"),
        (
            outputs.INIT_OPENMPI_4 + outputs.STATUS_OPENMPI_4,
            "rank 1 on n2 ended with status 3 (MPI_Init failed: ompi_mpi_init: ompi_rte_init failed: Not found)",
        ),
        (outputs.KILLED_MPICH, "rank 1 on n2 was killed by SIGKILL"),
        (
            outputs.CRASHED_MPICH,
            "rank 0 on n1 was killed by SIGSEGV (its launcher names one rank alone: this one may have "
            "crashed because another one died first)",
        ),
        (outputs.KILLED_SRUN, "rank 1 on n2 was killed"),
        (outputs.LOST_OPENMPI_4, "the connection to n2 was lost: that node, or its network, is down"),
        (["a line of the program's own"], None),
        ([], None),
    ],
)
def test_the_launchers_words(said, cause):
    assert cause_of_death(said, RANKS) == cause


def test_before_the_ranks_are_known():
    assert cause_of_death(outputs.KILLED_OPENMPI_4, ()) == "rank 1 on n2 was killed by SIGKILL"
    assert cause_of_death(outputs.KILLED_MPICH, ()) == "process 60 on n2 was killed by SIGKILL"
    assert cause_of_death(outputs.STATUS_OPENMPI_4, ()) == "rank 1 ended with status 3"


def test_a_nodes_name_in_the_inventory_counts():
    ranks = (RankPlace(1, "login-2", "n2", 60),)
    assert cause_of_death(outputs.KILLED_MPICH, ranks) == "rank 1 on login-2 was killed by SIGKILL"


def test_processes_that_do_not_run(wording):
    assert not_running(RANKS, {"n1": {"92": "S"}, "n2": {"60": "R"}}) == []
    stopped, gone = not_running(RANKS, {"n1": {"92": "T"}, "n2": {"60": None}})
    assert lacking(stopped, "rank 0 on n1 is stopped", "SIGSTOP", "(process 92)") == []
    assert lacking(gone, "rank 1 on n2 is gone", "(process 60)") == []
    (unreached,) = not_running(RANKS, {"n1": {"92": "S"}, "n2": "no route to it"})
    assert lacking(unreached, "rank 1 on n2 can't be asked", ": no route to it") == []
    (unasked,) = not_running(RANKS[:1], {})
    assert lacking(unasked, "rank 0 on n1 can't be asked", "not asked") == []
    wording("\n".join((stopped, gone, unreached, unasked)))

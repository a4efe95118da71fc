"""Which rank died, from the launchers' own words."""

import pytest

from tests.unit.cluster.mpi import outputs
from tests.wording import lacking
from wulf.cluster.mpi.deaths import RankPlace, cause_of_death, not_running

RANKS = (RankPlace(0, "n1", "n1", 92), RankPlace(1, "n2", "n2", 60))


INIT = "MPI_Init failed: ompi_mpi_init: ompi_rte_init failed: Not found"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        pytest.param(outputs.KILLED_OPENMPI_4, ("rank 1 on n2", "SIGKILL"), id="killed, Open MPI 4"),
        pytest.param(outputs.KILLED_OPENMPI_5, ("rank 1 on n2", "SIGKILL"), id="killed, Open MPI 5"),
        pytest.param(outputs.STATUS_OPENMPI_4, ("rank 1 on n2", "status 3"), id="status"),
        pytest.param(outputs.INIT_OPENMPI_4, (INIT,), id="init"),
        pytest.param(
            outputs.INIT_OPENMPI_4 + outputs.STATUS_OPENMPI_4,
            ("rank 1 on n2", "status 3", f"({INIT})"),
            id="init and status",
        ),
        pytest.param(outputs.KILLED_MPICH, ("rank 1 on n2", "SIGKILL"), id="killed, MPICH"),
        pytest.param(outputs.CRASHED_MPICH, ("rank 0 on n1", "SIGSEGV", "another one died first"), id="crashed, MPICH"),
        pytest.param(outputs.KILLED_SRUN, ("rank 1 on n2", "killed"), id="killed, srun"),
        pytest.param(outputs.LOST_OPENMPI_4, ("connection to n2 was lost",), id="lost"),
    ],
)
def test_the_launchers_words(said, words, wording):
    cause = cause_of_death(said, RANKS)
    assert lacking(cause, *words) == []
    wording(cause)


def test_other_words_name_no_cause():
    assert cause_of_death(["a line of the program's own"], RANKS) is None
    assert cause_of_death([], RANKS) is None


def test_before_the_ranks_are_known():
    assert lacking(cause_of_death(outputs.KILLED_OPENMPI_4, ()), "rank 1 on n2", "SIGKILL") == []
    assert lacking(cause_of_death(outputs.KILLED_MPICH, ()), "process 60 on n2", "SIGKILL") == []
    assert lacking(cause_of_death(outputs.STATUS_OPENMPI_4, ()), "rank 1 ", "status 3") == []


def test_a_nodes_name_in_the_inventory_counts():
    ranks = (RankPlace(1, "login-2", "n2", 60),)
    assert lacking(cause_of_death(outputs.KILLED_MPICH, ranks), "rank 1 on login-2", "SIGKILL") == []


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

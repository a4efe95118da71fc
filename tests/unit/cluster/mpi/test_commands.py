"""The launchers' command lines, word for word."""

from dataclasses import replace

import pytest

from tests.unit.cluster.mpi.test_installed import MPICH, OPENMPI
from wulf.cluster.mpi.commands import FLAT_LAUNCH, RankHost, Site, command
from wulf.cluster.mpi.spec import WorldSpec
from wulf.core.errors import UsageError

PROGRAM = "/home/u/my cache/wulf-mpi"
OPENMPI_5 = replace(OPENMPI, version="5.0.11", mpirun="/o/bin/mpirun")
INTEL = replace(MPICH, kind="intel", version="2021.10", mpirun="/i/bin/mpirun")

CLUSTER = Site((RankHost("n1", 2, 16, "a"), RankHost("n2", 1, 16, "b")))
LAB = Site((RankHost("n1", 2, 2, "a"), RankHost("n2", 1, 2, "a")), root=True)
HERE = Site((RankHost("here", 4, 8, "a"),), local=True)


def line(mpi, site, spec=None):
    return " ".join(command(mpi, site, spec or WorldSpec(), PROGRAM).argv)


def test_openmpi_4_on_a_cluster():
    assert line(OPENMPI, CLUSTER) == (
        "/usr/bin/mpirun.openmpi -n 3 --host n1:2,n2:1 --map-by slot --bind-to core:overload-allowed "
        "--mca plm rsh --mca ras ^slurm --mca plm_rsh_agent ssh -x -oBatchMode=yes --mca plm_rsh_no_tree_spawn 1 "
        + PROGRAM
    )


def test_openmpi_5_names_its_launchers_parameters_anew():
    assert line(OPENMPI_5, replace(CLUSTER, network="10.0.0.0/24")) == (
        "/o/bin/mpirun -n 3 --host n1:2,n2:1 --map-by slot --bind-to core:overload-allowed "
        "--mca btl_tcp_if_include 10.0.0.0/24 "
        "--prtemca plm ssh --prtemca ras ^slurm --prtemca plm_ssh_agent ssh -x -oBatchMode=yes "
        "--prtemca plm_ssh_no_tree_spawn 1 --prtemca prte_if_include 10.0.0.0/24 " + PROGRAM
    )


def test_openmpi_5s_daemons_are_given_the_interface_where_all_nodes_have_the_same():
    words = line(OPENMPI_5, replace(CLUSTER, network="10.0.0.0/24", interface="ib0"))
    assert "--mca btl_tcp_if_include 10.0.0.0/24" in words
    assert "--prtemca prte_if_include ib0" in words


def test_openmpi_is_kept_to_the_network():
    words = line(OPENMPI, replace(CLUSTER, network="10.0.0.0/24"))
    assert "--mca btl_tcp_if_include 10.0.0.0/24" in words
    assert "--mca oob_tcp_if_include 10.0.0.0/24" in words


def test_nodes_of_one_machine_talk_tcp_and_the_user_is_told():
    made = command(OPENMPI, LAB, WorldSpec(), PROGRAM)
    words = " ".join(made.argv)
    assert "--allow-run-as-root" in words
    assert "--bind-to none" in words
    assert "--mca mpi_yield_when_idle 1" in words
    assert "--mca pml ob1 --mca btl self,tcp,vader" in words
    assert any("go by TCP" in note for note in made.notes)
    assert "3 ranks share 2 CPUs" in " ".join(made.notes)
    assert "self,tcp,sm" in line(OPENMPI_5, LAB)
    assert "-genv UCX_TLS tcp,self -genv FI_PROVIDER tcp" in line(MPICH, LAB)
    assert "-genv I_MPI_OFI_PROVIDER tcp" in line(INTEL, LAB)


def test_real_nodes_use_whatever_mpi_chooses():
    for mpi in (OPENMPI, OPENMPI_5, MPICH, INTEL):
        assert "tcp" not in line(mpi, CLUSTER)
        assert command(mpi, CLUSTER, WorldSpec(), PROGRAM).notes == ()


def test_one_machine_needs_no_daemons():
    assert line(OPENMPI, HERE).startswith("/usr/bin/mpirun.openmpi -n 4 --host localhost:4")
    assert "plm" not in line(OPENMPI, HERE)
    assert line(MPICH, HERE) == f"/usr/bin/mpirun.mpich -launcher fork -bind-to core -n 4 {PROGRAM}"


def test_mpich():
    assert line(MPICH, replace(CLUSTER, interface="ib0"), WorldSpec(environment={"A": "b c"})) == (
        "/usr/bin/mpirun.mpich -hosts n1:2,n2:1 -launcher ssh -iface ib0 -bind-to core -genv A b c -n 3 " + PROGRAM
    )


def test_intel_has_one_count_for_all_nodes():
    assert line(INTEL, CLUSTER).split()[:7] == ["/i/bin/mpirun", "-hosts", "n1,n2", "-ppn", "2", "-launcher", "ssh"]


def test_srun():
    spec = WorldSpec(starter="srun", environment={"A": "b"}, options=["--mpi=pmi2"])
    assert line(OPENMPI, CLUSTER, spec) == (
        "srun --mpi=pmix --nodes=2 --ntasks=3 --nodelist=n1,n2 --distribution=block --overlap --ntasks-per-node=2 "
        f"--input=0 --unbuffered --kill-on-bad-exit=1 --cpu-bind=cores --export=ALL,A=b --mpi=pmi2 {PROGRAM}"
    )
    assert line(OPENMPI, replace(CLUSTER, job="7"), spec).startswith("srun --jobid=7 --mpi=pmix")
    assert "--mpi=pmi2" in line(MPICH, CLUSTER, WorldSpec(starter="srun"))


@pytest.mark.parametrize(("nodes", "flat"), [(FLAT_LAUNCH, True), (FLAT_LAUNCH + 1, False)])
def test_many_nodes_are_started_as_a_tree(nodes, flat):
    site = Site(tuple(RankHost(f"n{i}", 1, 2, f"m{i}") for i in range(nodes)))
    assert ("no_tree_spawn" in line(OPENMPI, site)) == flat


def test_what_the_user_asks_for_comes_last():
    made = command(OPENMPI, CLUSTER, WorldSpec(bind="socket", options=["--mca", "btl", "self,vader"]), PROGRAM)
    assert "--bind-to socket:overload-allowed" in " ".join(made.argv)
    assert made.argv[-4:] == ("--mca", "btl", "self,vader", PROGRAM)


def test_messages_go_by_tcp_over_the_network_where_that_is_asked_for():
    site, spec = replace(CLUSTER, network="10.1.0.0/24", interface="eth1"), WorldSpec(tcp=True)
    words = line(OPENMPI, site, spec)
    assert "--mca pml ob1 --mca btl self,tcp,vader --mca btl_tcp_if_include 10.1.0.0/24" in words
    assert "yield" not in words and "btl self,tcp,sm" in line(OPENMPI_5, site, spec)
    words = line(MPICH, site, spec)
    assert "-iface eth1" in words and "-genv UCX_NET_DEVICES eth1" in words and "-genv FI_TCP_IFACE eth1" in words
    assert "-genv I_MPI_OFI_PROVIDER tcp -genv FI_TCP_IFACE eth1" in line(INTEL, site, spec)


def test_an_mpi_that_takes_a_name_alone_needs_one_that_all_nodes_have():
    site = replace(CLUSTER, network="10.1.0.0/24")
    with pytest.raises(UsageError, match="different names: MPICH"):
        line(MPICH, site, WorldSpec(tcp=True))
    assert "10.1.0.0/24" in line(OPENMPI, site, WorldSpec(tcp=True))
    with pytest.raises(UsageError, match="srun can't be told"):
        WorldSpec(tcp=True, starter="srun")

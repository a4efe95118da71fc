"""MPIs found by what their launchers and compilers say, in folders made for that."""

from tests.unit.agent.mpi.test_mpi_find import bare as bare
from tests.unit.cluster.mpi import outputs
from wulf.agent.mpi import find


def command(folder, name, text):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\ncat <<'.'\n{text}\n.\n")
    path.chmod(0o755)
    return path


def test_debians_pair_with_their_own_compilers(bare):
    usr = bare / "usr/bin"
    command(usr, "mpirun.openmpi", outputs.OPENMPI_4_DEBIAN)
    command(usr, "mpicxx.openmpi", "g++ 12")
    command(usr, "mpirun.mpich", outputs.MPICH_4)
    (usr / "mpirun").symlink_to("mpirun.mpich")  # the alternatives: launchers' and compilers' need not agree
    (usr / "mpicxx").symlink_to("mpicxx.openmpi")
    found = find.find([])
    assert [(row["kind"], row["mpicxx"]) for row in found] == [
        ("mpich", None), ("openmpi", str(usr / "mpicxx.openmpi")),
    ]  # fmt: skip
    assert found[1]["compiler"] == "g++ 12"
    assert {row["where"] for row in found} == {"system"}


def test_what_was_given_stands_first_and_wheels_last(bare, monkeypatch):
    command(bare / "usr/bin", "mpirun", outputs.OPENMPI_4)
    command(bare / "my mpi/bin", "mpirun", outputs.MPICH_4)
    command(bare / "wheel-mpich/bin", "mpirun", outputs.MPICH_5_WHEEL)
    command(bare / "module/bin", "mpirun", outputs.INTEL)
    monkeypatch.setattr(find, "wheel_folders", lambda: [bare / "wheel-mpich"])
    monkeypatch.setenv("I_MPI_ROOT", str(bare / "module"))
    found = find.find([str(bare / "my mpi")])
    assert [(row["where"], row["kind"], row["version"]) for row in found] == [
        ("given", "mpich", "4.0.2"), ("system", "openmpi", "4.1.5"), ("module", "intel", "2021.10"),
        ("wheel", "mpich", "5.0.2"),
    ]  # fmt: skip
    assert found[0]["prefix"] == str(bare / "my mpi")


def test_a_launcher_that_fails_is_of_unknown_kind(bare):
    path = command(bare / "usr/bin", "mpirun", "")
    path.write_text("#!/bin/sh\nexit 1\n")
    assert [(row["kind"], row["version"]) for row in find.find([])] == [("other", "")]


def test_the_operation_tells_what_decides_a_launch(bare):
    command(bare / "x/bin", "mpirun", outputs.MPICH_4)
    answer = find.mpi_find([str(bare / "x")])
    assert [row["kind"] for row in answer["mpis"]] == ["mpich"]
    assert answer["cpus"] >= 1
    assert len(answer["boot_id"]) == 36

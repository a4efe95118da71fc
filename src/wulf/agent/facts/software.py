"""Programs and daemons that matter to a cluster's speed: where MPI and Slurm are, who moves interrupts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.fact import Topic
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("software")

# Where distributions and sites put MPI and Slurm without always putting them into PATH.
_FOLDERS = (
    "usr/local/bin",
    "usr/bin",
    "usr/lib64/openmpi/bin",
    "usr/lib64/mpich/bin",
    "usr/lib64/mpi/gcc/openmpi4/bin",
    "opt/slurm/bin",
    "usr/local/slurm/bin",
)

_PROGRAMS = (
    ("mpirun", "Starter of MPI programs"),
    ("mpicc", "Compiler of MPI programs"),
    ("srun", "Starter of Slurm jobs"),
    ("sbatch", "Submitter of Slurm jobs"),
)


def _add_program(name: str, help: str) -> None:
    @topic.fact(name, f"{help}: path of the first '{name}'")
    def read(machine: Machine) -> str:
        folders = [folder.strip("/") for folder in machine.ask("path")]
        for folder in (*folders, *_FOLDERS):
            if machine.executable(f"{folder}/{name}"):
                return f"/{folder}/{name}"
        raise Unknown(f"no '{name}' in PATH or the usual folders", absent=True)


for _name, _help in _PROGRAMS:
    _add_program(_name, _help)


@topic.fact("irqbalance", "Whether irqbalance runs and moves interrupts between CPUs")
def irqbalance(machine: Machine) -> bool:
    return "irqbalance" in machine.ask("daemons")


@topic.fact("tuned", "Whether tuned runs and applies a profile")
def tuned(machine: Machine) -> bool:
    return "tuned" in machine.ask("daemons")


@topic.fact("tuned_profile", "Profile that tuned applies")
def tuned_profile(machine: Machine) -> str:
    return machine.text("etc/tuned/active_profile")

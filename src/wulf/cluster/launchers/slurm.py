"""Programs started by srun, as steps of a Slurm job that we are in or hold, from a private cache on each node.

Every session is a step of one task that shares the job's resources with the others (--overlap), since a node may have
several. Keys travel over the sessions' standard input, as everywhere; nothing of them stands in an argument list.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence

from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launcher import Opened
from wulf.cluster.programs import Program
from wulf.cluster.session import Explain
from wulf.cluster.slurm.jobs import current_job
from wulf.cluster.slurm.words import SRUN_FAILED, explain_srun
from wulf.cluster.ssh.cached import CachedLauncher
from wulf.core.errors import UsageError

# Everything that the job's own options would otherwise decide (they come as SLURM_* variables) is said again.
_OPTIONS = (
    "--overlap",
    "--nodes=1",
    "--ntasks=1",
    "--ntasks-per-node=1",
    "--distribution=block",
    "--cpu-bind=none",  # the probes bind themselves, and say where
    "--mem=0",  # all that the job has there
    "--mpi=none",
    "--kill-on-bad-exit=0",
    "--job-name=wulf",
    "--chdir=/",
    "--export=ALL",
)


class SlurmLauncher(CachedLauncher):
    """srun within the inventory's job, or within the one that this process runs in."""

    gently = 5.0
    """Killed outright, srun leaves its step running for as long as the job lasts."""

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        job = inventory.job or getattr(current_job(), "id", None)
        if job is None:
            raise UsageError(
                "the launcher slurm needs a job to start its steps in, and this is none",
                "run it within salloc or sbatch, or give --launcher slurm --nodes … on the command line, which asks "
                "for a job",
            )
        self.job = job

    def open(self, nodes: Iterable[Node], program: Program, timeout: float = 60.0) -> Opened:
        if shutil.which("srun") is None:
            raise UsageError("this machine has no srun", "run wulf where Slurm's commands are (slurm-client)")
        return super().open(nodes, program, timeout)

    def remote(self, node: Node, command: str) -> Sequence[str]:
        return ("srun", f"--jobid={self.job}", f"--nodelist={node.name}", *_OPTIONS, "sh", "-c", command)

    def explanation(self, node: Node, program: Program) -> Explain:
        return explain_srun(self.job, program)

    def way_failed(self, end: Exit) -> bool:
        return end.status == SRUN_FAILED


LAUNCHER = SlurmLauncher

"""MPI on the nodes of an inventory: which ones there are, wulf-mpi built with one, and its ranks started.

    with open_world(inventory, WorldSpec(per_node=2), say) as world:
        world.session.request("run", probe="pingpong", params={"bytes": 8})

installed  which MPIs the nodes have, and the one that all agree on
building   built once per MPI, and brought to every node
spec       how many ranks, and where each one goes
commands   the command lines of mpirun and srun
deaths     which rank died or does not run, in words
world      the ranks of one launch
opening    all of it together
"""

from wulf.cluster.mpi.installed import Installed, find_mpis
from wulf.cluster.mpi.opening import bring_file, install_wheel, open_world
from wulf.cluster.mpi.spec import WorldSpec
from wulf.cluster.mpi.world import World

__all__ = ["Installed", "World", "WorldSpec", "bring_file", "find_mpis", "install_wheel", "open_world"]

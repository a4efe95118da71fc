"""How many ranks there are, and where each one goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wulf.core.errors import UsageError

STARTERS = ("mpirun", "srun")


@dataclass(frozen=True)
class WorldSpec:
    """What the user wants of a launch.

    Parameters
    ----------
    ranks
        Of all nodes together; None: `per_node` on each. More than fit with `per_node` are spread evenly.
    per_node
        Ranks on a node; the first nodes are filled first.
    mpi
        Which MPI: a kind (openmpi, mpich, intel), "wheel:KIND", or the prefix of one; None: the first node's own
        choice among those that all nodes have.
    starter
        mpirun or srun.
    bind
        To what each rank is bound, in the starter's words (core, socket, none); None: to cores where there are
        enough of them for all ranks, else not at all.
    environment
        Variables for the ranks.
    options
        Further words on the starter's command line, after wulf's own: of two that contradict, the last one counts.
    tcp
        Messages between nodes go by TCP over the inventory's network alone, whatever else the MPI could use.
    """

    ranks: int | None = None
    per_node: int = 1
    mpi: str | None = None
    starter: str = "mpirun"
    bind: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[str] = ()
    tcp: bool = False

    def __post_init__(self) -> None:
        if self.per_node < 1 or (self.ranks is not None and self.ranks < 1):
            raise UsageError(f"{self.ranks or self.per_node} ranks can't be started", "ask for 1 or more")
        if self.starter not in STARTERS:
            raise UsageError(f"{self.starter!r} starts no ranks", f"there are: {', '.join(STARTERS)}")
        if self.tcp and self.starter != "mpirun":
            raise UsageError(f"{self.starter} can't be told which network MPI is to use", "leave --starter out")


def layout(nodes: Sequence[str], spec: WorldSpec) -> tuple[str, ...]:
    """The node of each rank, by rank: consecutive ranks share a node.

    >>> layout(["n1", "n2"], WorldSpec(ranks=3, per_node=2))
    ('n1', 'n1', 'n2')
    >>> layout(["n1", "n2"], WorldSpec(ranks=5))
    ('n1', 'n1', 'n1', 'n2', 'n2')
    """
    ranks = spec.per_node * len(nodes) if spec.ranks is None else spec.ranks
    if ranks <= spec.per_node * len(nodes):
        return tuple(node for node in nodes for _ in range(spec.per_node))[:ranks]
    each, more = divmod(ranks, len(nodes))
    return tuple(node for i, node in enumerate(nodes) for _ in range(each + (i < more)))


def counts(places: Sequence[str]) -> dict[str, int]:
    """Ranks by node, in the order of the ranks."""
    return dict(Counter(places))

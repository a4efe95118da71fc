"""Command lines that start ranks: pure functions of the MPI, the nodes, and what the user asked for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from wulf.cluster.mpi.installed import Installed
from wulf.cluster.mpi.spec import WorldSpec
from wulf.core.errors import UsageError

SSH = "ssh -x -oBatchMode=yes"
"""How launchers reach the other nodes: nobody is there to be asked for a password."""

FLAT_LAUNCH = 64
"""Nodes up to which the first one starts all others itself: no node then needs ssh to any but the first one does."""


@dataclass(frozen=True)
class RankHost:
    """A node as the launcher sees it.

    Parameters
    ----------
    name
        What other nodes call it.
    ranks
        That it runs.
    cpus
        Logical CPUs that it has.
    machine
        Boot id: hosts with the same one share its CPUs.
    """

    name: str
    ranks: int
    cpus: int
    machine: str


@dataclass(frozen=True)
class Site:
    """Where the ranks run.

    Parameters
    ----------
    network
        That MPI's TCP and the launcher are to use, as CIDR; None: the nodes have only one.
    interface
        Its name, where all nodes have the same.
    root
        Whether the launcher runs as root.
    local
        All ranks run on one machine under one name: no other node is reached.
    job
        The Slurm job that srun starts them in; None: the one that it finds itself in.
    """

    hosts: tuple[RankHost, ...]
    network: str | None = None
    interface: str | None = None
    root: bool = False
    local: bool = False
    job: str | None = None

    @property
    def ranks(self) -> int:
        return sum(host.ranks for host in self.hosts)

    @property
    def shared(self) -> bool:
        """Whether hosts of different names are one machine, as a lab's nodes are."""
        return not self.local and len({host.machine for host in self.hosts}) < len(self.hosts)

    @property
    def machines(self) -> list[tuple[int, int]]:
        """Ranks and CPUs of each machine."""
        ranks: Counter[str] = Counter()
        for host in self.hosts:
            ranks[host.machine] += host.ranks
        cpus = {host.machine: host.cpus for host in self.hosts}
        return [(ranks[machine], cpus[machine]) for machine in cpus]

    @property
    def crowded(self) -> bool:
        """Whether there are more ranks on a machine than CPUs."""
        return any(ranks > cpus for ranks, cpus in self.machines)


@dataclass(frozen=True)
class Command:
    """What starts the ranks, and what the user should know about it."""

    argv: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())


def command(mpi: Installed, site: Site, spec: WorldSpec, *program: str) -> Command:
    """The command line that starts a program, with its own words, on the site's hosts.

    Raises
    ------
    UsageError
        The MPI can't be told to use the network that it is to use.
    """
    if spec.tcp and mpi.kind != "openmpi" and site.interface is None:
        raise UsageError(
            f"the nodes' interfaces in {site.network} have different names: {mpi.title} takes one name alone",
            "use Open MPI (--mpi openmpi), or nodes that name them alike",
        )
    bind = spec.bind or ("none" if site.crowded or site.shared else "core")
    if spec.starter == "srun":
        argv, notes = _srun(mpi, site, spec, bind)
    elif mpi.kind == "openmpi":
        argv, notes = _openmpi(mpi, site, spec, bind)
    else:
        argv, notes = _hydra(mpi, site, spec, bind)
    return Command((*argv, *spec.options, *program), (*notes, *_common_notes(site, bind)))


def _common_notes(site: Site, bind: str) -> list[str]:
    notes = []
    if site.crowded:
        ranks, cpus = max(site.machines, key=lambda machine: machine[0] / machine[1])
        notes.append(f"{ranks} ranks share {cpus} CPUs: they take turns, and waiting ones cost the others time")
    if bind == "none":
        notes.append("ranks are not bound to cores")
    return notes


def _openmpi(mpi: Installed, site: Site, spec: WorldSpec, bind: str) -> tuple[list[str], list[str]]:
    """mpirun(1) of Open MPI 4, and of 5, whose launcher is PRRTE with names of its own."""
    new = _major(mpi.version) >= 5
    argv = [mpi.mpirun, *(["--allow-run-as-root"] if site.root else []), "-n", str(site.ranks)]
    argv += ["--host", _host_list(site), "--map-by", "slot"]
    argv += ["--bind-to", bind if bind == "none" else f"{bind}:overload-allowed"]
    notes = []
    mca: dict[str, str] = {}
    if site.crowded or site.shared:
        # a rank that waits asks all the time: on one machine it takes the CPU from what carries its messages, too
        mca["mpi_yield_when_idle"] = "1"
    if site.shared or spec.tcp:
        memory = "sm" if new else "vader"
        mca |= {"pml": "ob1", "btl": f"self,tcp,{memory}"}
    if site.shared:
        if not new:
            mca["btl_vader_single_copy_mechanism"] = "none"
        notes.append("nodes of one machine: messages between them go by TCP, as between machines (btl tcp)")
    if site.network and not site.local:
        mca["btl_tcp_if_include"] = site.network
    for name, value in mca.items():
        argv += ["--mca", name, value]
    for name, value in _launching(site, new).items():
        argv += ["--prtemca" if new else "--mca", name, value]
    for name, value in spec.environment.items():
        argv += ["-x", f"{name}={value}"]
    return argv, notes


def _launching(site: Site, new: bool) -> dict[str, str]:
    """The parameters of Open MPI's own daemons."""
    if site.local:
        return {}
    way = "ssh" if new else "rsh"
    # inside a Slurm job it would start its daemons by srun, as a step within the step that it runs in itself
    params = {"plm": way, "ras": "^slurm", f"plm_{way}_agent": SSH}
    if len(site.hosts) <= FLAT_LAUNCH:
        params[f"plm_{way}_no_tree_spawn"] = "1"
    if site.network and new:
        # PRRTE 3 takes a network only in the very width that the interface has; a name it takes as it is
        params["prte_if_include"] = site.interface or site.network
    elif site.network:
        params["oob_tcp_if_include"] = site.network
    return params


def _hydra(mpi: Installed, site: Site, spec: WorldSpec, bind: str) -> tuple[list[str], list[str]]:
    """mpiexec.hydra of MPICH and its relatives, among them Intel MPI."""
    environment = dict(spec.environment)
    notes = []
    argv = [mpi.mpirun]
    if site.local:
        argv += ["-launcher", "fork"]
    elif mpi.kind == "intel":
        # one count a node is all that its host list can say
        argv += ["-hosts", ",".join(h.name for h in site.hosts), "-ppn", str(max(h.ranks for h in site.hosts))]
        argv += ["-launcher", "ssh"]
    else:
        argv += ["-hosts", _host_list(site), "-launcher", "ssh"]
    if site.interface and not site.local:
        argv += ["-iface", site.interface]
    if bind != "none":
        argv += ["-bind-to", bind]
    if site.shared or spec.tcp:
        environment = {**_tcp_alone(mpi, site), **environment}
    if site.shared:
        notes.append("nodes of one machine: messages between them go by TCP, as between machines")
    for name, value in environment.items():
        argv += ["-genv", name, value]
    return [*argv, "-n", str(site.ranks)], notes


def _tcp_alone(mpi: Installed, site: Site) -> dict[str, str]:
    """What keeps UCX and libfabric from shared memory and other networks; within a node MPICH has a memory of its own.

    Names of interfaces: ucx_info -c, fi_tcp(7).
    """
    interface = {"FI_TCP_IFACE": site.interface} if site.interface else {}
    if mpi.kind == "intel":
        return {"I_MPI_OFI_PROVIDER": "tcp", **interface}
    device = {"UCX_NET_DEVICES": site.interface} if site.interface else {}
    return {"UCX_TLS": "tcp,self", "FI_PROVIDER": "tcp", **device, **interface}


def _srun(mpi: Installed, site: Site, spec: WorldSpec, bind: str) -> tuple[list[str], list[str]]:
    """srun(1), inside an allocation."""
    kind = "pmix" if mpi.kind == "openmpi" else "pmi2"
    argv = [
        "srun",
        *([f"--jobid={site.job}"] if site.job else []),
        f"--mpi={kind}",
        f"--nodes={len(site.hosts)}",
        f"--ntasks={site.ranks}",
    ]
    argv += [f"--nodelist={','.join(host.name for host in site.hosts)}", "--distribution=block", "--overlap"]
    argv += [f"--ntasks-per-node={max(host.ranks for host in site.hosts)}"]
    # rank 0 holds the session; no rank's line may wait in a buffer
    argv += ["--input=0", "--unbuffered", "--kill-on-bad-exit=1"]
    argv += [f"--cpu-bind={'none' if bind == 'none' else f'{bind}s'}"]
    if spec.environment:
        argv += ["--export=" + ",".join(["ALL", *(f"{name}={value}" for name, value in spec.environment.items())])]
    return argv, []


def _host_list(site: Site) -> str:
    if site.local:
        return f"localhost:{site.ranks}"
    return ",".join(f"{host.name}:{host.ranks}" for host in site.hosts)


def _major(version: str) -> int:
    head = version.partition(".")[0]
    return int(head) if head.isdigit() else 0

"""Measuring a cluster from Python: the studies of the commands, over the same nodes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from wulf.api.results import Results
from wulf.cluster.inventory import Inventory, expand
from wulf.cluster.launchers import check_launcher
from wulf.core.errors import LabError, UsageError
from wulf.core.names import fold
from wulf.core.records import Param
from wulf.lab import Lab, find, up
from wulf.measure.engine.probes import net_probe
from wulf.measure.engine.watcher import UNWATCHED, Lines
from wulf.stats.cluster.nodes import MARGIN
from wulf.store.run import RunWriter
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.measuring import measure
from wulf.workflow.engine.nodes import nodes_meant
from wulf.workflow.engine.study import Conditions, Study
from wulf.workflow.net.one_pair import PairProbe, pair_cell
from wulf.workflow.net.survey import Survey
from wulf.workflow.node.survey import NodeSurvey, groups_of

PathLike = str | os.PathLike[str]


class Cluster:
    """Nodes to be measured. Making one touches none of them; each measurement connects, and leaves nothing running.

    A node that can't be reached, or fails, is a finding of the results; the others are measured. Interrupting a
    measurement (Ctrl-C, or a notebook's interrupt) keeps what was measured: the results' state is "interrupted".

    Parameters
    ----------
    nodes
        In ClusterShell's syntax, "n[1-4]", or names; None: all of the inventory or hostfile, else this machine.
    inventory, hostfile
        A cluster.toml (docs/how-to/inventory.md), or an MPI hostfile; one of them at most.
    launcher
        How nodes are reached: "ssh", "local", "slurm" (the nodes of the job that this process runs in).
    network
        Measure over the addresses in this network: "10.0.0.0/24".
    ssh_config
        Instead of ~/.ssh/config.
    progress
        Called with a line for each step, and every half minute: `print`; None: quiet.

    Raises
    ------
    UsageError
        Nodes or a file can't be read, or contradict each other.
    """

    def __init__(
        self,
        nodes: str | Iterable[str] | None = None,
        *,
        inventory: PathLike | None = None,
        hostfile: PathLike | None = None,
        launcher: str | None = None,
        network: str | None = None,
        ssh_config: PathLike | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        if inventory is not None and hostfile is not None:
            raise UsageError("inventory and hostfile both name the nodes", "give one of them")
        if launcher is not None:
            check_launcher(launcher)
        how = {"launcher": launcher, "network": network, "ssh_config": _path(ssh_config)}
        given = {name: value for name, value in how.items() if value is not None}
        self._hold(nodes_meant(_pattern(nodes), _path(inventory), _path(hostfile), **given), progress)

    def _hold(
        self, inventory: Inventory, progress: Callable[[str], None] | None, lab: Lab | None = None, *,
        own: bool = False,
    ) -> Self:  # fmt: skip
        """These nodes: of a lab, perhaps of one that was made for them."""
        self._inventory, self._progress, self._lab, self._own = inventory, progress, lab, own
        return self

    @classmethod
    def in_lab(
        cls, nodes: int | None = None, *, name: str | None = None, progress: Callable[[str], None] | None = None
    ) -> Self:
        """The nodes of a lab, a cluster on this machine (`wulf lab`).

        Parameters
        ----------
        nodes
            Make one of so many nodes, n1 to nN; it is taken down by `close`, or at the end of a `with` block or of this
            process. None: the lab that is up.
        name
            Of the lab; None: $WULF_LAB or "lab" of one that is up, a name that nobody has for a new one.

        Raises
        ------
        LabError
            No lab is up, or this machine allows none.
        """
        lab = find(name) if nodes is None else up(nodes, name=name, keep=False, say=progress or (lambda _: None))
        if lab is None:
            raise LabError("no lab is up", "`wulf lab up` makes one that stays, Cluster.in_lab(4) one for this process")
        return cls.__new__(cls)._hold(Inventory.from_lab(lab), progress, lab, own=nodes is not None)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Their names, in the inventory's order."""
        return self._inventory.names

    def __getitem__(self, nodes: str) -> Cluster:
        """The same cluster with some of its nodes: `cluster["n[1-2]"]`. UsageError where it lacks one."""
        some = replace(self._inventory, nodes=self._inventory.pick(expand(nodes)))
        return Cluster.__new__(Cluster)._hold(some, self._progress, self._lab)

    def set_link(self, node: str, **options: str) -> None:
        """Change the link of a lab's node while it runs: rate="200mbit", delay="50us", loss="0.1%", as `wulf lab set`.

        Raises
        ------
        LabError
            It is no lab, the lab has no such node, or can't do that; then all is as before.
        """
        if self._lab is None:
            raise LabError(f"{node}: only links of a lab can be set", "Cluster.in_lab(4) makes one")
        self._lab.set_link(node, options)

    def survey(
        self, *, quick: bool = False, width: float = 0.05, budget: float | None = None, margin: float = MARGIN,
        seed: int | None = None, out: PathLike | None = None,
    ) -> Results:  # fmt: skip
        """Facts, all pairs' latency and bandwidth, and what stands out: `wulf survey`.

        Parameters
        ----------
        quick
            Six replicates a figure, whatever their spread.
        width
            Measure until intervals are so narrow, relative to their figure.
        budget
            Stop measuring after so many seconds.
        margin
            Deviations of a node from its like up to this are not reported.
        seed
            Of the random order; None: drawn, and recorded.
        out
            Directory of the run; None: a new one in the directory of runs.

        Raises
        ------
        UsageError
            `out` holds a run already, or is not to be written.
        StoreError
            The disk is full; what was measured before is kept.
        """
        effort = _effort(quick, width, budget, margin)
        return self._measured("survey", Survey, effort, seed=seed, out=out, margin=margin)

    def node(
        self, *, only: Sequence[str] = (), quick: bool = False, width: float = 0.05, budget: float | None = None,
        margin: float = MARGIN, seed: int | None = None, out: PathLike | None = None,
    ) -> Results:  # fmt: skip
        """Every node's own figures, lmbench's table and more: `wulf node`.

        Parameters
        ----------
        only
            Groups: "cpu", "memory", "os", "net", "noise", "power"; none: all. The others are as of `survey`.
        """
        groups = ",".join(only) or None
        groups_of(groups)  # refused before any node is touched
        effort = _effort(quick, width, budget, margin)
        return self._measured("node", partial(NodeSurvey, only=groups), effort, seed=seed, out=out, margin=margin)

    def net(
        self, pattern: str, client: str, server: str, *, transport: str | None = None,
        params: Mapping[str, Param] | None = None, quick: bool = False, width: float = 0.05,
        budget: float | None = None, seed: int | None = None, out: PathLike | None = None,
    ) -> Results:  # fmt: skip # what is measured, and how well
        """One pair, by one pattern of the network probe: `wulf net pingpong n1 n2`.

        Parameters
        ----------
        pattern
            "pingpong", "stream", …: `wulf net --help` lists them, and `wulf net pingpong --help` its parameters.
        client, server
            Nodes of this cluster.
        transport
            What carries the messages; None: "tcp" where the pattern goes over it.
        params
            {"bytes": 64}; what is left out is as the probe has it. The others are as of `survey`.
        """
        probe = net_probe()
        way = transport or probe.pattern(pattern).usual_transport
        cell = pair_cell(probe, pattern, client, server, transport=way, params=params or {})
        pair = replace(self._inventory, nodes=self._inventory.pick(dict.fromkeys((client, server))))
        study = partial(PairProbe, cell=cell)
        return self._measured(
            f"net-{pattern}", study, _effort(quick, width, budget), seed=seed, out=out, inventory=pair
        )

    def _measured(
        self, command: str, make: Callable[[Conditions], Study], effort: Effort, *, seed: int | None,
        out: PathLike | None, inventory: Inventory | None = None, **meta: Any,
    ) -> Results:  # fmt: skip
        """Measure a study, and keep it as a run."""
        nodes, drawn = inventory or self._inventory, secrets.randbelow(2**31) if seed is None else seed
        watch = UNWATCHED if self._progress is None else Lines(self._progress)
        kept = {"seed": drawn, "slurm_job": os.environ.get("SLURM_JOB_ID"), "nodes": list(nodes.names), **meta}
        with RunWriter(_path(out), command, kept) as writer:
            return Results(measure(make(Conditions(nodes, effort, writer, drawn, watch))).run)

    def close(self) -> None:
        """Take the lab down, where one was made for this cluster. Nothing else is held."""
        if self._own and self._lab is not None:
            self._lab.down()
            self._own = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Cluster {fold(self.nodes)}>"


def _effort(quick: bool, width: float, budget: float | None, margin: float = MARGIN) -> Effort:
    """How long and how well. UsageError where a number makes no sense."""
    for name, value, most in (("width", width, 1.0), ("margin", margin, 1.0), ("budget", budget, float("inf"))):
        if value is not None and not 0 < value <= most:
            raise UsageError(f"{name}={value} is not above 0" + (f" and at most {most:g}" if most == 1.0 else ""))
    return Effort(width=width, budget=budget, quick=quick, margin=margin)


def _path(given: PathLike | None) -> Path | None:
    return None if given is None else Path(given)


def _pattern(nodes: str | Iterable[str] | None) -> str | None:
    """As ClusterShell has it; UsageError where names are none."""
    if nodes is None or isinstance(nodes, str):
        return nodes
    names = list(nodes)
    if not names:
        raise UsageError("no nodes are named", "leave them out to measure this machine")
    return ",".join(names)

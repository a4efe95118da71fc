"""The network that a trace was made on, measured right after its run: what `wulf predict` takes for its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi.spec import WorldSpec
from wulf.core.errors import WulfError
from wulf.core.files import replace_file
from wulf.measure.engine.watcher import Watcher
from wulf.measure.mpi.probes import BLOCKS
from wulf.model.network.file import NetworkFile
from wulf.model.network.measured import from_loggp
from wulf.report.foresight.networks import written
from wulf.store.run import RunWriter
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.measuring import measure
from wulf.workflow.engine.study import Conditions
from wulf.workflow.model.loggp import LogGPStudy, measured_of
from wulf.workflow.model.networks import LOGGP_RUN, OWN_FILE
from wulf.workflow.mpi.launching import Launch

BETWEEN, WITHIN = "network", "network-within"
"""Folders of a run: what was measured between two hosts, and within one."""

SECONDS = 0.02
"""Of a replicate: fifty sizes and trains take about half a minute, their launches included."""

SEED = 0


def measure_network(inventory: Inventory, spec: WorldSpec, run: Path, folder: Path, watch: Watcher) -> list[str]:
    """Measure LogGP between the first two hosts, and within one where ranks share one; what to know of it.

    A network that can't be measured does not spoil the trace: why stands in a note.

    Parameters
    ----------
    spec
        As the traced program was started.
    run, folder
        Of the trace's run, and of its trace, which gets `network.toml`.
    """
    shared = spec.per_node > 1 or (spec.ranks or 0) > len(inventory.nodes)
    try:
        file, notes = None, list[str]()
        if len(inventory.nodes) > 1:
            file, said = _measured(inventory, 2, replace(spec, ranks=2, per_node=1), run / BETWEEN, watch)
            notes += said
        if shared:
            within, said = _measured(inventory, 1, replace(spec, ranks=2, per_node=2), run / WITHIN, watch)
            file = (file or within).model_copy(update={"intra": within.inter})
            notes += said
    except WulfError as error:
        return [f"the network was not measured: {error.what}; `wulf predict` then takes --baseline"]
    if file is None:
        return []
    replace_file(folder / OWN_FILE, written(file) + "\n")
    return notes


def _measured(
    inventory: Inventory, nodes: int, spec: WorldSpec, path: Path, watch: Watcher
) -> tuple[NetworkFile, Sequence[str]]:
    names = [node.name for node in inventory.nodes[:nodes]]
    watch.say(f"measuring the network {'between ' + ' and '.join(names) if nodes > 1 else 'within ' + names[0]}")
    few = replace(inventory, nodes=inventory.pick(names))
    with RunWriter(path, LOGGP_RUN, {"argv": [], "nodes": names, "seed": SEED}) as writer:
        given = Conditions(few, Effort(quick=True), writer, SEED, watch)
        # two launches of one MPI differ by themselves, and the traced run was another: each block has one of its own
        found = measure(LogGPStudy(given, Launch(spec, BLOCKS), SECONDS)).run
    times = measured_of(found)
    file, notes = from_loggp(times.fitted(), "measured", f"run {found.id}, {times.subject}")
    return file, [*notes, *times.cautions]

"""What a prediction does not know, in words for its reader."""

from __future__ import annotations

from collections.abc import Sequence

from wulf.core.units import show
from wulf.model.foresight.forecast import RUNS_FREEDOM, Calibration, Forecast
from wulf.model.foresight.prediction import ReplayProgram
from wulf.model.network.figures import COPY_BYTE, Network
from wulf.workflow.foresight.engine import ORDERED, turned


def cautions(
    program: ReplayProgram,
    this: Network,
    hosts: Sequence[str],
    forecasts: Sequence[Forecast],
    *,
    engine: str,
    compute: float,
) -> list[str]:
    """Notes on hosts, order of messages, estimates, and computing.

    Parameters
    ----------
    this
        The network that the trace was made on.
    hosts
        Of each rank; empty: not known.
    compute
        How many times as long as traced computing is taken to take.
    """
    notes = []
    if not hosts:
        notes.append(
            "it is not known which ranks share a host: all are taken to be on hosts of their own; --ranks-on says it"
        )
    elif len(set(hosts)) < len(hosts):
        if this.base.intra is None:
            notes.append(
                "ranks share hosts, and the baseline has no [intra]: messages within a host cost what others do; "
                "--within takes a run of `wulf model loggp` on one host"
            )
        if engine == ORDERED:
            notes.append(
                f"up to {max(hosts.count(host) for host in set(hosts))} ranks share a host: each is given an adapter "
                "of its own; --engine b with --topology has them share one"
            )
    if program.copies and this.base.intra is None:
        notes.append(
            f"{program.copies:,} messages of ranks to themselves are taken to be copied at "
            f"{show(1 / COPY_BYTE, 'byte/s')}: --within takes a run of `wulf model loggp` on one host"
        )
    if program.connecting:
        notes.append(
            f"connecting two ranks took {show(program.connect, 's')} in the trace: {program.connecting:,} first "
            "messages take as much longer on every network"
        )
    worst = turned(program, max((one.inversions for one in forecasts), default=0))
    if engine == ORDERED and worst:
        notes.append(f"{worst}: --engine b has adapters serve them as they come")
    if this.estimated:
        notes.append(
            f"the baseline's {', '.join(this.estimated)} are estimates: `wulf model loggp` between two of the "
            "trace's hosts measures them"
        )
    if compute != 1.0:
        notes.append(f"computing is taken to take {compute:g} times as long as traced, everywhere")
    return notes


def of_one_run(calibration: Calibration) -> list[str]:
    """That one run, or two, say little of how much runs differ."""
    if calibration.measured is None or len(calibration.runs) > RUNS_FREEDOM:
        return []
    runs = "one run was" if len(calibration.runs) <= 1 else "two runs were"
    return [
        f"{runs} traced: that others take up to {calibration.between_runs * 100:.0f} % longer or shorter is mostly "
        "assumed; trace the program three times or more, and give all of the traces, to have that measured"
    ]

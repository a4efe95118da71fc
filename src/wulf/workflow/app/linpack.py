"""`wulf app linpack`: a system of linear equations solved by all ranks, with the BLAS that serves all nodes best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from statistics import median
from typing import Any

from typing_extensions import TypedDict

from wulf.cluster.access import Access
from wulf.core.findings import Finding, Severity
from wulf.core.records import Param, Record, info_as
from wulf.measure.blas import called_libraries, common_path, path_of
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Probe
from wulf.measure.mpi.probes import LINPACK
from wulf.store.run import read_run
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Conditions, Judgement
from wulf.workflow.mpi.launching import Launch
from wulf.workflow.mpi.probes import RanksStudy

OWN = "own"
"""wulf-mpi's portable code, in place of a library."""

BLAS_ROWS, BLAS_SECONDS, BLAS_TIMEOUT = 512, 0.05, 600.0
"""Of the product by which a node's libraries are compared; until all are."""

MEBI = 1 << 20


@dataclass(frozen=True)
class Choice:
    """The BLAS to use, and why."""

    path: str
    why: str


def fastest_common(answers: Mapping[str, Mapping[str, Any]]) -> Choice:
    """The library that every node has at one path and that is fastest on the node where it is slowest.

    Parameters
    ----------
    answers
        By node, what the agent's `dgemm` said.
    """
    rates = [
        {each["path"]: rate for each in called_libraries(node, answer) if (rate := each["rate"]["value"])}
        for node, answer in answers.items()
    ]
    common = set.intersection(*map(set, rates)) if rates else set()
    if not common:
        found = sorted({path for each in rates for path in each})
        lacking = f"none of {', '.join(found)} works on every node" if found else "no BLAS was found on the nodes"
        return Choice(OWN, f"{lacking}: wulf's own code is slower than any library made for the CPU")
    slowest = {path: min(each[path] for each in rates) for path in sorted(common)}
    best = max(slowest, key=slowest.__getitem__)
    of = f"the fastest of {len(common)} that all nodes have" if len(common) > 1 else "the only one that all nodes have"
    return Choice(best, f"{of}: a product of {BLAS_ROWS} rows at {slowest[best] / 1e9:.3g} GFLOP/s on one CPU")


def choose(access: Access) -> Choice:
    """Have every node try its libraries; those that can't be asked are found out where the ranks are launched."""
    params = {"n": BLAS_ROWS, "seconds": BLAS_SECONDS}
    return fastest_common(_answers(access, "run", probe="dgemm", params=params))


def named(access: Access, wanted: str) -> Choice:
    """The library that was asked for by path, by the label that `wulf app blas` prints, or as the linker knows it.

    Raises
    ------
    UsageError
        A node lacks it, or has it elsewhere than the others.
    """
    why = "as it was named"
    if wanted == OWN:
        return Choice(OWN, why)
    answers = _answers(access, "blas_find", also=[wanted])
    sought_by_linker = "/" not in wanted and ".so" in wanted
    if sought_by_linker and not any(path_of(wanted, answer) for answer in answers.values()):
        return Choice(wanted, why)
    return Choice(common_path(wanted, answers), why)


def _answers(access: Access, op: str, **request: Any) -> dict[str, dict[str, Any]]:
    """What each node's agent answers; those that can't be reached are left out."""
    with access.agents() as opened:
        asked = {node: session.call(op, **request) for node, session in opened.sessions.items()}
        return {node: future.result(BLAS_TIMEOUT) for node, future in asked.items()}


class Linpack(RanksStudy):
    """A system of equations, solved as often as the interval of its rate needs; a wrong solution has no figure.

    Parameters
    ----------
    params
        Of the probe, checked. Without `blas` the nodes' libraries are tried first, and the best common one is taken.
    """

    def __init__(self, given: Conditions, launch: Launch, params: Mapping[str, Param]) -> None:
        super().__init__(given, launch, LINPACK)
        self._params = params
        self._choice = Choice(OWN, "")

    def attach(self, connected: Connected, access: Access) -> AbstractContextManager[None]:
        """The ranks, once their library is known."""
        if self._params.get("blas") is None:
            self.given.watch.say("looking for the fastest BLAS that all nodes have")
            self._choice = choose(access)
        else:
            self._choice = named(access, str(self._params["blas"]))
        return super().attach(connected, access)

    def shared(self, probe: Probe) -> Sequence[Cell]:
        """The one cell."""
        return [self.ranks.cell(0, probe, LINPACK, {**self._params, "blas": self._choice.path})]

    def conclude(self, records: Sequence[Record]) -> Judgement:
        """What was solved, with what, and how right it is."""
        good = [each for each in read_run(self.given.writer.path).replicates if each["ok"]]
        infos = [info_as(Solved, each["info"], f"a replicate of {LINPACK}") for each in good]
        return [], [solved_finding(infos, self._choice.why)] if infos else []


class Solved(TypedDict):
    """What a replicate says of its solution: how large, how divided, with what, and how right [1]."""

    label: str
    n: int
    nb: int
    grid: str
    order: str
    lookahead: int
    memory_per_rank: float
    residual: float
    threshold: float
    blas: str
    blas_version: str
    rank_0_seconds: dict[str, float]


def solved_finding(infos: Sequence[Solved], why: str) -> Finding:
    """What was solved, with what, and how right it is; where the time of the first rank went."""
    last = infos[-1]
    residual = max(info["residual"] for info in infos)
    seconds = [info["rank_0_seconds"] for info in infos]
    shares = {name: median(each.get(name, 0.0) for each in seconds) for name in seconds[-1]}
    total = sum(shares.values()) or 1.0
    spent = ", ".join(f"{name} {value / total:.0%}" for name, value in shares.items() if value / total >= 0.005)
    text = (
        f"{last['label']}: n {last['n']}, blocks of {last['nb']}, grid {last['grid']} by {last['order']}, look-ahead "
        f"{last['lookahead']}, {last['memory_per_rank'] / MEBI:.0f} MiB a rank. Scaled residual at most "
        f"{residual:.2g}, below {last['threshold']:g}: right. BLAS {last['blas']} ({why}). "
        f"Time of rank 0: {spent}."
    )
    return Finding(
        kind=LINPACK, severity=Severity.INFO, subject="", text=text,
        about={
            "residual": residual, "blas": last["blas"], "blas_version": last["blas_version"], "label": last["label"],
        },
    )  # fmt: skip

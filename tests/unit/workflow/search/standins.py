"""Nodes that are none, and an HPL that is none: what a search sees of them."""

from __future__ import annotations

from wulf.apps.linpack import dat as hpl_dat
from wulf.cluster.applications import Executable
from wulf.cluster.inventory import Inventory

NODE = Inventory.from_nodeset("n1", launcher="null")


def answer(seconds=1.0, stdout="", **more):
    """As the agent answers app_run."""
    base = {"status": 0, "signal": None, "timed_out": False, "stderr": "", "files": {}, "counters": {}}
    return {**base, "seconds": seconds, "stdout": stdout, **more}


class Apps:
    """Applications on nodes that are none."""

    def __init__(self, program, nodes=("n1",), memory=1 << 30):
        self.nodes, self.failed, self._program, self._memory = tuple(nodes), {}, program, memory
        self.jobs = []

    def say(self, _text):
        pass

    def ask(self, op, _patience, **_):
        assert op == "facts"
        return {node: {"facts": {"memory.total": {"value": self._memory}}} for node in self.nodes}

    def find(self, names, _nodes=None):
        return {
            node: {name: [Executable(f"/usr/bin/{name}", "PATH", "openmpi")] for name in names} for node in self.nodes
        }

    def mpi_for(self, _program, _spec):
        return object()

    def alone(self, _node, job):
        self.jobs.append(job)
        return self._program(job)

    def ranks(self, job, spec, _mpi):
        self.jobs.append((job, spec))
        return self._program(job)


def xhpl(job):
    """HPL as far as the search sees it: fastest at NB 128 on a flat grid; its residual passes."""
    return xhpl_at(job, 1.0)


def xhpl_at(job, speed):
    """The same on nodes of another speed."""
    one = hpl_dat.parse(job.files["HPL.dat"]).configurations()[0]
    rate = speed * 5e10 / (1 + 0.1 * abs(one.nb - 128) / 128 + 0.2 * (one.p > 1) + 50 / one.n)
    work = 2 / 3 * one.n**3 + 1.5 * one.n**2
    seconds = work / rate
    line = (
        f"{one.variant:<12}{one.n:12d}{one.nb:6d}{one.p:6d}{one.q:6d}{seconds:19.2f}{rate / 1e9:23.4e}\n"
        "--------------------------------------------------------------------------------\n"
        f"||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= {0.0034:17.8f} ...... PASSED\n"
        "Finished      1 tests with the following results:\n"
        "              1 tests completed and passed residual checks,\n"
    )
    head = (
        "T/V                N    NB     P     Q               Time                 Gflops\n"
        "--------------------------------------------------------------------------------\n"
    )
    return answer(seconds, head + line, files={"HPL.dat": job.files["HPL.dat"]})

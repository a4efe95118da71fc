"""Part `node`: wulf-node beside loops that one would write by hand, and beside the tools that have the same row.

The hand-written loops (bench/loops/) are compiled here, with more optimisation than wulf-node's own sources get. Both
sides run on the same CPU, a process each, one after the other.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.engine import parse, programs
from bench.engine.blocks import Contest, run_blocks
from bench.engine.child import peak_resident
from bench.engine.context import Context
from bench.engine.errors import BenchError
from bench.engine.places import BUILT, LOOPS
from bench.engine.rows import Row, limited, without_peer
from bench.engine.session import Session
from wulf.cluster.programs import find_program
from wulf.stats.intervals import least_samples

FLAGS = {"triad": ["-O3", "-march=native"], "chase": ["-O2"]}

SECONDS = 0.1
"""Of one replicate, on either side."""

PATIENCE = 120.0
"""For a peer's run [s]."""

MEMRATE_BYTES = 128 << 20
"""Of the array that stress-ng's memrate is given, beyond the caches of most machines."""

EXTRA_MEMORY = 16 << 20
"""wulf-node may need three times the memory that it measures, and this."""


@dataclass(frozen=True)
class Host:
    """The CPU that measures, its data caches [B] by level, and a session of wulf-node."""

    cpu: int
    caches: dict[int, int]
    session: Session

    def figure(self, probe: str, metric: str, **params: object) -> float:
        """One replicate: the metric's value."""
        answer = self.session.request("run", probe=probe, params={"cpu": self.cpu, "seconds": SECONDS, **params})
        value = answer["metrics"][metric]
        if value["value"] is None:
            raise BenchError(f"{probe}: {value['reason']}")
        return float(value["value"])

    def run(self, argv: Sequence[str]) -> str:
        """A program on the same CPU: what it prints."""
        return programs.output(["taskset", "-c", str(self.cpu), *argv], PATIENCE)


def measure(context: Context) -> list[Row]:
    """All rows of the part."""
    host = this_host(context)
    contests = [*_triads(host), *_memrates(host), *_chases(host), *_calls(host)]
    contests = contests[::3] if context.quick else contests
    run_blocks(contests, context.effort, context.rng, context.say)
    return [*(contest.row() for contest in contests), *_missing(), *_memory()]


def this_host(context: Context) -> Host:
    """The last of this process's CPUs, and a session of wulf-node that lives as long as the bench."""
    cpu = max(os.sched_getaffinity(0))
    session = context.stack.enter_context(Session([str(find_program("wulf-node").path)]))
    return Host(cpu, data_caches(cpu), session)


def data_caches(cpu: int, root: Path = Path("/sys/devices/system/cpu")) -> dict[int, int]:
    """Bytes of each level of cache that holds data, as the kernel reports them; empty where it does not."""
    found = {}
    for entry in (root / f"cpu{cpu}" / "cache").glob("index*"):
        if (entry / "type").read_text().strip() != "Instruction":
            size = (entry / "size").read_text().strip()
            found[int((entry / "level").read_text())] = int(size.removesuffix("K")) * 1024
    return dict(sorted(found.items()))


@functools.cache
def loop(name: str) -> Path:
    """A loop of bench/loops, compiled."""
    BUILT.mkdir(parents=True, exist_ok=True)
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise BenchError("no C compiler is installed")
    command = [compiler, *FLAGS[name], "-o", str(BUILT / name), str(LOOPS / f"{name}.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{name}.c does not compile: {done.stderr[-300:]}")
    return BUILT / name


def _sizes(caches: dict[int, int], shares: Sequence[float]) -> Iterator[tuple[str, int]]:
    for level, size in caches.items():
        for share in shares:
            yield f"{share:g}×L{level}", int(size * share) // 4096 * 4096


def _triads(host: Host) -> Iterator[Contest]:
    """STREAM's triad with its three arrays in each cache, and in memory; there beside likwid-bench, too."""
    places = {f"L{level}": size // 4 for level, size in host.caches.items()}
    memory = 4 * max(host.caches.values(), default=32 << 20)
    for place, most in (places | {"memory": memory}).items():
        each = most // 4096 * 4096
        words = [str(loop("triad")), str(each), str(SECONDS)]
        ours = functools.partial(host.figure, "bandwidth", "throughput", kernel="triad", bytes=each)
        yield Contest(
            f"triad, three arrays in {place}, 1 CPU", "plain C loop, -O3 -march=native", "B/s", "higher", ours,
            functools.partial(_number, host, words),
        )  # fmt: skip
    if shutil.which("likwid-bench"):
        for stores, kind in ("normal", ""), ("nontemporal", "mem_"):
            name = f"triad, three arrays in memory, {stores} stores, 1 CPU"
            size = f"N:{3 * memory // 1000}kB:1"
            peer = functools.partial(_likwid, host, ["likwid-bench", "-t", _likwid_kernel(kind), "-w", size, "-s", "1"])
            ours = functools.partial(
                host.figure, "bandwidth", "throughput", kernel="triad", bytes=memory, stores=stores
            )
            yield Contest(name, "likwid-bench", "B/s", "higher", ours, peer)


def _memrates(host: Host) -> Iterator[Contest]:
    """Reading and writing memory with one CPU, beside the fastest width of stress-ng's loops."""
    if not shutil.which("stress-ng"):
        return
    each = MEMRATE_BYTES
    words = ["stress-ng", "--memrate", "1", "--memrate-bytes", str(each), "--timeout", "2", "--metrics"]
    for kernel in ("read", "write"):
        yield Contest(
            f"{kernel} memory, {each >> 20} MiB, 1 CPU", "stress-ng memrate", "B/s", "higher",
            functools.partial(host.figure, "bandwidth", "throughput", kernel=kernel, bytes=each),
            functools.partial(_memrate, host, words, kernel),
        )  # fmt: skip


def _memrate(host: Host, words: Sequence[str], kernel: str) -> float:
    return parse.stress_ng_memrate(host.run(words), kernel)


def _likwid(host: Host, words: Sequence[str]) -> float:
    return parse.likwid_rate(host.run(words))


def _likwid_kernel(kind: str) -> str:
    """STREAM's triad as likwid-bench has it (its own `triad` reads three arrays), with the widest usual vectors."""
    flags = Path("/proc/cpuinfo").read_text().split()
    return f"stream_{kind}" + ("avx" if "avx" in flags else "sse")


def _chases(host: Host) -> Iterator[Contest]:
    """The latency of a random load within, at and far beyond each cache, on huge pages."""
    for name, size in _sizes(host.caches, (0.25, 1, 16)):
        words = [str(loop("chase")), str(size), str(SECONDS), "huge"]
        ours = functools.partial(host.figure, "chase", "latency", bytes=size, pages="huge")
        peer = functools.partial(_number, host, words)
        yield Contest(f"random load, working set {name}", "hand-written chase", "s", "same", ours, peer)


def _number(host: Host, words: Sequence[str]) -> float:
    return float(host.run(words))


def _calls(host: Host) -> Iterator[Contest]:
    """A system call by perf's own definition."""
    null = functools.partial(host.figure, "syscall", "latency", call="null")
    if shutil.which("perf"):
        words = ["perf", "bench", "syscall", "basic", "-l", "500000"]
        yield Contest("null system call, mean", "perf bench", "s", "same", null, _perf(host, words))


def _perf(host: Host, words: Sequence[str]) -> Callable[[], float]:
    return lambda: parse.perf_syscall(host.run(words))


def _missing() -> Iterator[Row]:
    if not shutil.which("likwid-bench"):
        name = "triad, three arrays in memory, normal stores, 1 CPU"
        yield without_peer(name, "likwid-bench (not installed)", "B/s", "higher")
    if not shutil.which("stress-ng"):
        yield without_peer("read memory, 1 CPU", "stress-ng memrate (not installed)", "B/s", "higher")


def _memory() -> Iterator[Row]:
    """The most that wulf-node ever had resident, while it measured large arrays; anew for every sample."""
    each = 32 << 20
    for probe, measured in (("chase", each), ("bandwidth", 3 * each)):
        name = f"wulf-node, peak resident memory, {probe} of {measured >> 20} MiB"
        peaks = [_peak_resident(probe, each) for _ in range(least_samples())]
        yield limited(name, "B", peaks, 3 * measured + EXTRA_MEMORY)


def _peak_resident(probe: str, size: int) -> float:
    with Session([str(find_program("wulf-node").path)]) as session:
        session.request("run", probe=probe, params={"bytes": size, "seconds": 0.01})
        status = Path(f"/proc/{session.greeting['pid']}/status").read_text()
    return peak_resident(status)

"""SimGrid's time-independent traces: a file a rank, and the list that `smpirun -replay` takes.

Collectives of MPI_COMM_WORLD stay collectives; those of other communicators, which the replay would run on the world,
are messages. One nanosecond of computing is one flop: the platform's hosts must have a speed of 1 Gf.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from wulf.trace.errors import TraceError
from wulf.trace.exports.lowering import Calc, Lowered, Post, Tags, Wait, check_end, notes_of, whole, writing
from wulf.trace.reader import Trace
from wulf.trace.record import Record
from wulf.trace.steps import Step, Together

HELP = "SimGrid's time-independent traces, for smpirun -replay: a folder."
FOLDER = True

LIST = "trace.txt"

ACTIONS: dict[str, Callable[[Record], str]] = {
    "barrier": lambda _: "barrier",
    "bcast": lambda one: f"bcast {one.bytes} {one.root}",
    "reduce": lambda one: f"reduce {one.bytes} 0 {one.root}",
    "allreduce": lambda one: f"allreduce {one.bytes} 0",
    "alltoall": lambda one: f"alltoall {one.bytes} {one.bytes2}",
    "allgather": lambda one: f"allgather {one.bytes} {one.bytes2}",
    "gather": lambda one: f"gather {one.bytes} {one.bytes2} {one.root}",
    "scatter": lambda one: f"scatter {one.bytes} {one.bytes2} {one.root}",
}
"""Collective → its action, whose sizes are bytes, since `init` without a word makes MPI_BYTE the type."""


def write(trace: Trace, place: Path) -> list[str]:
    """Write the folder."""
    whole(trace, "SimGrid's format")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TraceError(f"can't make {place}: {error.strerror}", "name another place") from error
    tags, left_out, names = Tags(), Counter[str](), []
    for one in trace.ranks:
        path = place / f"rank-{one.rank:06d}.txt"
        lowered = Lowered(one, trace.size, tags, frozenset(ACTIONS))
        with writing(path) as out:
            for action in _actions(one.rank, lowered.steps()):
                out.write(f"{one.rank} {action}\n")
            check_end(one, "SimGrid's format")
        left_out += lowered.left_out
        names.append(str(path.resolve()))
    with writing(place / LIST) as out:
        out.write("".join(f"{name}\n" for name in names))
    replay = f"smpirun -no-privatize -np {trace.size} -platform P.xml -hostfile H -replay {place / LIST}"
    return ['the platform\'s hosts must have speed="1Gf"', replay, *notes_of(left_out, expanded=False)]


def _actions(rank: int, steps: Iterable[Step]) -> Iterator[str]:
    """The lines of a rank without its number. What is waited for at once is a blocking send or receive."""
    yield "init"
    open_: dict[int, Post] = {}
    last: Post | None = None
    for step in steps:
        if last is not None:
            done = isinstance(step, Wait) and step.slot == last.slot
            yield _message(last, "" if done else "i")
            if not done:
                open_[last.slot] = last
            last = None
            if done:
                continue
        if isinstance(step, Post):
            last = step
        elif isinstance(step, Calc):
            yield f"compute {step.ns}"
        elif isinstance(step, Together):
            yield ACTIONS[step.call](step.record)
        else:
            post = open_.pop(step.slot)
            ends = (rank, post.peer) if post.sent else (post.peer, rank)
            yield f"wait {ends[0]} {ends[1]} {post.tag}"
    if last is not None:
        yield _message(last, "i")
    yield "finalize"


def _message(post: Post, begin: str) -> str:
    return f"{begin}{'send' if post.sent else 'recv'} {post.peer} {post.tag} {post.bytes}"

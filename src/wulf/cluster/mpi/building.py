"""wulf-mpi, libwulf-profile and libwulf-trace, built once per MPI and brought to every node."""

from __future__ import annotations

import base64
import hashlib
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wulf import __version__
from wulf.agent.mpi.build import PROFILE, PROGRAM, TRACE
from wulf.agent.mpi.files import put
from wulf.agent.mpi.places import caches
from wulf.agent.session import Refused
from wulf.cluster.mpi.installed import FIND_TIMEOUT, Installed, NodeView
from wulf.cluster.packed import MOST, decoded, unpacked
from wulf.cluster.session import RequestError, Session
from wulf.codegen.native_source import source
from wulf.codegen.profile_source import profile_source
from wulf.codegen.trace_source import trace_source
from wulf.core.errors import NodeError, UsageError

Say = Callable[[str], None]

PART = 1 << 19
"""Bytes of a part before base64: the agent takes requests of up to 1 MiB."""

COPY_TIMEOUT = 120.0
"""Seconds for one part of a file to reach a node's disk."""

LOOK_INTERVAL = 0.5
"""Seconds between two looks at how far the compiler is."""

COMPILE_TIMEOUT = 1800.0
"""Seconds until a compiler counts as hung; one file takes seconds."""


@dataclass(frozen=True)
class BuildTarget:
    """What is built on the nodes: its name there, and its source with digest."""

    name: str
    source: Callable[[], tuple[bytes, str]]


WULF_MPI = BuildTarget(PROGRAM.name, source)
WULF_PROFILE = BuildTarget(PROFILE.name, profile_source)
WULF_TRACE = BuildTarget(TRACE.name, trace_source)


def common_place(views: Mapping[str, NodeView]) -> str:
    """The folder that every node can keep the program in: mpirun starts it by the same path everywhere.

    Raises
    ------
    UsageError
        There is none.
    """
    first, *others = views.values()
    for place in first.places:
        if all(place in other.places for other in others):
            return place
    raise UsageError(
        "wulf-mpi can't be kept at the same path on all nodes: "
        + "; ".join(f"{node} can write to {', '.join(view.places) or 'neither cache'}" for node, view in views.items()),
        "make room in ~/.cache or /tmp there, without noexec",
    )


def build(
    session: Session, mpi: Installed, place: str, say: Say, keep: Path | None = None, *, part: BuildTarget = WULF_MPI
) -> tuple[str, str]:
    """Build a part on one node, unless it is there; its path and digest.

    Parameters
    ----------
    keep
        A folder of this machine for copies of what was built: a node that has lost its own, as a lab's new nodes
        have, gets it from there. None: wulf's cache.

    Raises
    ------
    NodeError
        The compiler fails: with its last words.
    UsageError
        This wulf does not have the source.
    """
    compilers = {"mpicxx": mpi.mpicxx, "mpirun": mpi.mpirun}
    fields = {"mpi": compilers, "place": place, "version": __version__, "digest": _source(part)[1]}
    if part is not WULF_MPI:
        fields["name"] = part.name
    known = session.request("mpi_key", FIND_TIMEOUT, **fields)
    kept = (keep or caches()[0]) / known["key"] / part.name
    if known["digest"] is None and kept.is_file():
        send(session, known["path"], kept.read_bytes())
        known = session.request("mpi_key", FIND_TIMEOUT, **fields)
    if known["digest"] is None:
        asked = session.call("mpi_build", source=_bring_source(session, place, part), **fields)
        try:
            known = _watch(session, asked, mpi, say, part.name)
        except RequestError as error:
            raise _build_error(session.node.name, mpi, error, part.name) from error
    if not kept.is_file():
        with suppress(OSError, Refused):  # a full disk here is no reason not to measure there
            put(kept, fetch(session, known["path"]))
    return known["path"], known["digest"]


def _source(part: BuildTarget) -> tuple[bytes, str]:
    try:
        return part.source()
    except FileNotFoundError as error:
        raise UsageError(str(error), "install it, or install wulf from its wheel") from error


def _bring_source(session: Session, place: str, part: BuildTarget) -> str:
    data, digest = _source(part)
    path = f"{place}/source-{digest[:16]}.zip"
    if session.request("mpi_look", path=path)["digest"] != digest:
        send(session, path, data)
    return path


def _watch(session: Session, asked: Future[dict[str, Any]], mpi: Installed, say: Say, name: str) -> dict[str, Any]:
    """The build's answer, telling meanwhile how far it is."""
    began = time.monotonic()
    last = None
    while not wait([asked], LOOK_INTERVAL).done:
        elapsed = time.monotonic() - began
        if elapsed > COMPILE_TIMEOUT:
            what = f"{name} was not built within {COMPILE_TIMEOUT:g} s"
            raise NodeError(session.node.name, what, "is the node overloaded?")
        progress = session.request("mpi_progress")
        done, whole = progress["done"], progress["of"]
        if whole and done != last:
            last = done
            left = f", {elapsed / done * (whole - done):.0f} s left" if done else ""
            say(f"building {name} with {mpi.title} on {session.node}: {done} of {whole}{left}")
    return asked.result()


def _build_error(node: str, mpi: Installed, error: RequestError, name: str) -> NodeError:
    if error.code != "compile":
        return NodeError(node, f"{name} was not built with {mpi.title}: {error.message}", "see wulf mpi list")
    old = any(sign in error.message for sign in ("c++20", "concept", "is not a member of", "constexpr"))
    compiler = mpi.compiler or "compiler unknown"
    return NodeError(
        node,
        f"{mpi.mpicxx} ({compiler}) could not build {name}; its last words:\n{error.message}",
        "it needs C++20 (GCC 11, Clang 14 or newer): name another MPI, or make its wrapper use another compiler, by "
        "OMPI_CXX or MPICH_CXX"
        if old
        else "see its words above",
    )


def distribute(sessions: Mapping[str, Session], origin: str, path: str, digest: str, say: Say) -> None:
    """Bring the built program to each node that has not the same one at this path, and see that it runs there.

    Raises
    ------
    NodeError
        A node does not take it, or lacks a library that the node that built it has.
    """
    lacking = [node for node, found in _look(sessions, path).items() if found["digest"] != digest]
    if lacking:
        say(f"copying {Path(path).name} to {len(lacking)} nodes")
        parts = _parts(fetch(sessions[origin], path))
        for number, data in enumerate(parts):
            fields = {"path": path, "data": data, "digest": digest, "part": number, "parts": len(parts)}
            pending = {node: sessions[node].call("mpi_write", **fields) for node in lacking}
            for node, future in pending.items():
                _result(future, node)
    for node, found in _look(sessions, path).items():
        if found["trouble"]:
            raise NodeError(
                node,
                f"{Path(path).name} as it was built on {origin} does not run there: {found['trouble']}",
                "the nodes differ in their C library or their MPI: leave that node out, or measure each kind by itself",
            )


def _look(sessions: Mapping[str, Session], path: str) -> dict[str, dict[str, Any]]:
    pending = {node: session.call("mpi_look", path=path) for node, session in sessions.items()}
    return {node: _result(future, node) for node, future in pending.items()}


def send(session: Session, path: str, data: bytes) -> None:
    """Write a file on a node, whole or not at all."""
    digest = hashlib.sha256(data).hexdigest()
    parts = _parts(data)
    for number, part in enumerate(parts):
        session.request("mpi_write", COPY_TIMEOUT, path=path, data=part, digest=digest, part=number, parts=len(parts))


def _parts(data: bytes) -> Sequence[str]:
    """A file as it travels: compressed, in pieces of base64."""
    packed = zlib.compress(data)
    return [base64.b64encode(packed[at : at + PART]).decode() for at in range(0, max(1, len(packed)), PART)]


def fetch(session: Session, path: str) -> bytes:
    """A file of a node."""
    node, packed, part, parts = session.node.name, b"", 0, 1
    while part < parts and len(packed) <= MOST:  # compressed, it is not longer than it may be as it is
        answer = session.request("mpi_read", COPY_TIMEOUT, path=path, part=part)
        packed += decoded(node, "mpi_read", answer["data"])
        part, parts = part + 1, answer["parts"]
    return unpacked(node, "mpi_read", packed)


def _result(future: Future[dict[str, Any]], node: str) -> dict[str, Any]:
    try:
        return future.result(COPY_TIMEOUT)
    except FutureTimeout:
        what = f"its copy of wulf-mpi was not written within {COPY_TIMEOUT:g} s"
        raise NodeError(node, what, "is its disk well? look there: dmesg") from None

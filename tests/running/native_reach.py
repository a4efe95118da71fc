"""Which native programs are built from a source, as the build itself knows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path

from tests.running.reach import Edges, Texts, naming, tier
from wulf.codegen import native_source, profile_source, trace_source

TESTS = "wulf-native-tests"

BY_AGENTS = {
    "wulf-mpi": native_source.PATTERNS,
    "wulf-profile": (*profile_source.PATTERNS, "profile/calls.txt"),
    "wulf-trace": (*trace_source.PATTERNS, "trace/calls.txt"),
}
"""What agents compile with a node's MPI → its sources below native/, as patterns."""

Sources = Mapping[str, Iterable[str]]
"""Program → its sources below native/, headers included."""

_LINK = re.compile(r"^build (\S+): CXX_EXECUTABLE_LINKER\S* (.*?)(?: \||$)", re.M)


def built(build_file: str, deps: str, native: Path) -> dict[str, set[str]]:
    """Program → sources, headers included, below native/.

    Parameters
    ----------
    build_file
        build.ninja: which objects a program is linked from.
    deps
        What `ninja -t deps` says: which files an object was compiled from. The build compiles several sources as one,
        so that an object says less than its sources' includes would; which program they are for it says all the same.
    """
    read: dict[str, set[str]] = {}
    for part in deps.split("\n\n"):
        head, *files = part.strip().split("\n")
        inside = [file.strip() for file in files if file.strip().startswith(f"{native}/")]
        read[head.partition(":")[0]] = {file.removeprefix(f"{native}/") for file in inside}
    return {
        program: set().union(*(read.get(each, set()) for each in objects.split()))
        for program, objects in _LINK.findall(build_file)
    }


def programs_of(path: str, known: Sources) -> set[str]:
    """The programs that a file below native/ is in; all of them for what says how they are built.

    >>> sorted(programs_of("fuzz/corpus/proc/1", {}))
    ['wulf-native-tests']
    """
    if Path(path).name == "CMakeLists.txt":
        return {*known, TESTS}
    agents = {program for program, patterns in BY_AGENTS.items() if any(fnmatch(path, each) for each in patterns)}
    own = {TESTS} if path.startswith(("tests/", "fuzz/")) else set()
    return agents | own | {program for program, sources in known.items() if path in set(sources)}


def users(programs: Iterable[str], texts: Texts) -> Edges:
    """From programs to the modules that name them, be it in a string or as the file of their tests."""
    edges: Edges = {}
    for program in programs:
        own = re.compile(rf"\.test_{program.replace('-', '_')}(?:_|$)")
        named = naming(texts, program) | naming(texts, f"lib{program}.so")
        found = named | {module for module in texts if own.search(module)}
        edges[program] = {module: 1 for module in found if runs(module)}
    return edges


def runs(module: str) -> bool:
    """Whether a module may start programs: unit tests start none."""
    return not module.startswith("tests.") or tier(module) != "unit"

"""The tests that a change can reach, the nearest first, within a minute: `make test-changed`.

    python -m tests.running.changed [--since COMMIT] [--seconds 60] [--began EPOCH] [-- WORD …]

The words are handed on to pytest. reach.py says how far each test is from the change, durations.py what it took last
time.

Exit status: 0 all passed, or nothing to run; 1 something failed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests import caches, wording
from tests.running import durations, native_reach, reach
from tests.running.durations import Durations, Taken
from tests.running.reach import Edges, Texts
from tests.running.shards import NOTHING_FOUND
from tests.running.tiers import LIMITS, pytest_xdist_auto_num_workers

ROOT = caches.ROOT
BUILD = ROOT / "build/native"
GOLDEN = "tests/wording.toml"
SECONDS = 60.0
START = 5.0
"""Seconds until pytest's workers run the first test, and after the last; half of it each."""
PER_FILE = 0.05
"""Seconds that a test file costs all workers together to import and collect."""
LEAST = 0.3
"""The share of the time that tests have, however long the native build took."""
USUAL = {"lab": 0.5, "browser": 0.5}
"""Tier → a test of which nothing is known takes this share of its limit: a lab or a browser has to be started, too."""
USUAL_ELSE = 0.2
PARAMETERS = 3
"""So many tests is a function with parameters, of which nothing is known."""
MPI = "tests.process.native.mpi_session"
"""Builds wulf-mpi, when run; its tests import it."""
MAY_BE_FULL = re.compile(r"mark\.(?:full|alone)|first_of|each_mpi")


@dataclass(frozen=True)
class Piece:
    """What is run or left as a whole: a test file, or of a file with tests of several commands one function.

    Attributes
    ----------
    distance
        Imports between it and the change; 0: it is changed itself, and runs in any case.
    longest
        Seconds of the part of it that one worker has to run.
    """

    file: str
    distance: int
    seconds: float
    longest: float
    tests: int = 1
    function: str = ""

    @property
    def name(self) -> str:
        """As pytest takes it."""
        return f"{self.file}::{self.function}" if self.function else self.file


@dataclass(frozen=True)
class Choice:
    """What runs, and what is left."""

    run: tuple[Piece, ...]
    left: tuple[Piece, ...] = ()

    def text(self) -> str:
        """In a line, for people."""
        files, rest = {piece.file for piece in self.run}, {piece.file for piece in self.left}
        said = f"{_count(sum(piece.tests for piece in self.run), 'test')} of {_count(len(files), 'file')} run"
        if not rest:
            return f"{said}: all that the change can reach"
        nearest = _count(min(piece.distance for piece in self.left), "import")
        return (
            f"{said}, the nearest; {len(rest)} of {_count(len(files | rest), 'file')}, {nearest} away or more, "
            "are left to `make test`"
        )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def choose(pieces: Iterable[Piece], budget: float, workers: int) -> Choice:
    """The nearest pieces, and of those equally near the quickest, until the workers are busy for so many seconds.

    A piece that no longer fits is left, and a shorter one that is farther away takes its place. What is changed itself
    runs in any case.
    """
    run: list[Piece] = []
    left: list[Piece] = []
    busy = 0.0
    collected: set[str] = set()
    for piece in sorted(pieces, key=lambda each: (each.distance, each.seconds, each.name)):
        more = piece.seconds / workers + (0.0 if piece.file in collected else PER_FILE)
        if piece.distance == 0 or (busy + more <= budget and piece.longest <= budget):
            run.append(piece)
            collected.add(piece.file)
            busy += more
        else:
            left.append(piece)
    return Choice(tuple(run), tuple(left))


def guessed(file: str, source: str) -> Taken:
    """What a file's tests may take of which nothing is known."""
    functions, tables = (len(re.findall(each, source, re.M)) for each in (r"^\s*def test_", r"^\s*@.*parametrize"))
    tests, tier = max(functions + (PARAMETERS - 1) * tables, 1), file.split("/")[1]
    return Taken(tests * USUAL.get(tier, USUAL_ELSE) * LIMITS.get(tier, max(LIMITS.values())), tests)


def apart(functions: Mapping[str, Taken]) -> bool:
    """Whether a file is taken apart: its tests start commands of their own."""
    return any(taken.commands for taken in functions.values())


def node(file: str, function: str = "") -> str:
    """The name of a test in the map."""
    return "::".join(filter(None, [str(reach.module_of(file)), function]))


def command_edges(texts: Texts, kept: Durations, known: reach.Commands, near: Iterable[str]) -> Edges:
    """Edges to tests from the commands that they start.

    Parameters
    ----------
    near
        Modules that have the command line at hand.
    """
    used: dict[str, dict[str, int]] = {}
    taken_apart = {str(reach.module_of(file)): functions for file, functions in kept.items() if apart(functions)}
    for module, functions in taken_apart.items():
        used[module] = {}
        for function, taken in functions.items():
            used[f"{module}::{function}"] = {module: 0, **reach.commands_in(taken.commands, known)}
    for module in near:
        if module.startswith("tests.") and module not in taken_apart:
            used[module] = reach.commands_in(reach.strings(texts[module]), known)
    edges: Edges = {}
    for user, modules in used.items():
        for module, distance in modules.items():
            edges.setdefault(module, {})[user] = distance
    return edges


def pieces_of(
    files: Mapping[str, str], found: Mapping[str, int], changed: Iterable[str], kept: Durations
) -> list[Piece]:
    """All that the change can reach.

    Parameters
    ----------
    files
        Test file → its source.
    found
        Distance of each module, and of functions that are pieces of their own.
    """
    own = set(changed)
    pieces = []
    for file, source in files.items():
        functions = {name: taken for name, taken in kept.get(file, {}).items() if durations.defines(source, name)}
        if file not in own and apart(functions):
            for name, taken in functions.items():
                if (distance := found.get(node(file, name))) is not None:
                    longest = taken.seconds / taken.tests
                    pieces.append(Piece(file, max(distance, 1), taken.seconds, longest, taken.tests, name))
        elif (distance := found.get(node(file))) is not None:
            taken = sum(functions.values(), Taken(0.0, 0)) if functions else guessed(file, source)
            longest = taken.seconds / taken.tests if file.startswith("tests/lab/") else taken.seconds
            distance = 0 if file in own else max(distance, 1)
            pieces.append(Piece(file, distance, taken.seconds, longest, taken.tests))
    return pieces


def reworded(before: wording.Entries, after: wording.Entries) -> set[str]:
    """The test files whose sentences differ."""
    return {f"tests/{file}.py" for file in {*before, *after} if before.get(file) != after.get(file)}


def whole_map(imports: Mapping[str, Iterable[str]], texts: Texts, packages: Iterable[str], kept: Durations) -> Edges:
    """All edges between modules and tests."""
    from wulf.cli.commands import listings

    known = reach.commands({name: listed.module for name, listed in listings().items()}, texts)
    edges = reach.joined(reach.turned(imports), reach.named(texts, packages))
    users = edges.get("wulf.cli.main", {})
    near = {user for module in users for user in (module, *edges.get(module, {}))} & texts.keys()
    return reach.joined(edges, command_edges(texts, kept, known, near))


# What follows asks git, the build and the sources, and runs what was chosen.


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def base() -> str:
    """Where this branch left the one that it is to land on; HEAD on that one itself."""
    for branch in ("@{upstream}", "origin/HEAD", "main"):
        if commit := _git("merge-base", "HEAD", branch).strip():
            return commit
    return "HEAD"


def changed_files(since: str) -> list[str]:
    """Files that differ from a commit, deleted ones too, and new ones that git does not ignore.

    Raises
    ------
    SystemExit
        There is no such commit.
    """
    if not _git("rev-parse", "--verify", "--quiet", f"{since}^{{commit}}"):
        sys.exit(f"make test-changed: git knows no commit {since}")
    tracked = _git("diff", "--name-only", "--no-renames", "-z", since)
    return sorted({*tracked.split("\0"), *_git("ls-files", "-z", "--others", "--exclude-standard").split("\0")} - {""})


def modules() -> tuple[dict[str, set[str]], set[str]]:
    """Module → what it imports, and which modules are packages."""
    sys.path[:0] = [str(ROOT / folder) for folder in ("src", "tools")]
    import grimp

    tops = ("wulf", "tests", "bench", "provision", "handbook")
    graph = grimp.build_graph(*tops, exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    return imports, {module for module in graph.modules if graph.find_children(module)}


def texts_of(modules: Iterable[str], packages: set[str]) -> dict[str, str]:
    tops = {"wulf": ROOT / "src", "provision": ROOT / "tools", "handbook": ROOT / "tools"}
    places = {module: tops.get(module.partition(".")[0], ROOT) / module.replace(".", "/") for module in modules}
    files = {module: place / "__init__.py" if module in packages else place.with_suffix(".py")
             for module, place in places.items()}  # fmt: skip
    return {module: path.read_text(encoding="utf-8") for module, path in files.items() if path.is_file()}


def _beside(path: str) -> dict[str, str]:
    folder = (ROOT / path).parent
    files = [file for file in folder.glob("*") if file.is_file() and file.suffix in {".j2", ".toml", ".js", ".css"}]
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def _programs() -> dict[str, set[str]]:
    """Program → its sources, as the last build knows them; nothing without one."""
    search = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    ninja = shutil.which("ninja", path=search)
    if ninja is None or not (BUILD / "build.ninja").is_file():
        return {}
    deps = subprocess.run([ninja, "-C", BUILD, "-t", "deps"], capture_output=True, text=True, check=False).stdout
    return native_reach.built((BUILD / "build.ninja").read_text(encoding="utf-8"), deps, ROOT / "native")


def _reworded(since: str) -> set[str]:
    import tomllib

    try:
        return reworded(tomllib.loads(_git("show", f"{since}:{GOLDEN}")), wording.read(ROOT / GOLDEN))
    except (OSError, ValueError):
        return set()


def _passes(*command: str | Path) -> bool:
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def _native(programs: set[str]) -> bool:
    """Run the native tests, if the programs are in them: all passed?"""
    there = native_reach.TESTS in programs and (BUILD / native_reach.TESTS).exists()
    return _passes(BUILD / native_reach.TESTS) if there else True


def _pytest(words: Sequence[str], files: Iterable[str]) -> bool:
    """Run pytest: nothing failed?"""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", *words, *files], cwd=ROOT, check=False)
    return done.returncode in {0, NOTHING_FOUND}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.running.changed", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--since", default="", help="the commit to compare with (default: where the branch began)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long the tests may take, about")
    parser.add_argument(
        "--began", type=float, default=time.time(), help="when the seconds began, in seconds since 1970"
    )
    parser.add_argument("--list", action="store_true", help="say what would run, with distances, and run nothing")
    parser.add_argument("words", nargs="*", help="for pytest")
    given = parser.parse_args(arguments)
    since = given.since or base()
    changed = changed_files(since)
    if not changed:
        print("nothing changed: no test to run")
        return 0

    kept = durations.read()
    imports, packages = modules()
    texts = texts_of(imports, packages)
    found, programs = _reached(changed, since, texts, whole_map(imports, texts, packages, kept))
    sources = {f"{module.replace('.', '/')}.py": text for module, text in texts.items() if reach.is_test(module)}
    pieces = pieces_of(sources, found, changed, kept)
    if given.list:
        return _list(pieces, given.seconds)
    passed = _native(programs)
    choice, until = _within(pieces, given.seconds, given.began)
    if any(MPI in texts[str(reach.module_of(piece.file))] for piece in choice.run):
        passed = _passes(sys.executable, "-m", MPI) and passed  # compiles for minutes where the change is in it
        choice, until = _within(pieces, given.seconds, given.began)
    if not choice.run:
        print(f"{_count(len(changed), 'file')} changed, which no test reads")
        return 0 if passed else 1
    print(f"{_count(len(changed), 'file')} changed; {choice.text()}", flush=True)
    own = [path for path in changed if path in sources]
    spread = ["-n", "auto", "-m", "not full", "-p", "tests.running.until", f"--until={until}"]
    spread += [f"--but={path}" for path in own]
    passed = _pytest([*spread, *given.words], [piece.name for piece in choice.run]) and passed
    full = [path for path in own if MAY_BE_FULL.search(sources[path])]
    if full:
        print(f"what is marked `full` in {', '.join(full)}, however long it takes", flush=True)
        passed = _pytest(["-m", "full", *given.words], full) and passed
    return 0 if passed else 1


def _reached(changed: Iterable[str], since: str, texts: Texts, edges: Edges) -> tuple[dict[str, int], set[str]]:
    """Distance of each module and test, and the native programs that the change is in."""
    begin: dict[str, int] = {}
    for path in changed:
        module = reach.module_of(path)
        if path == GOLDEN:
            begin |= {node(file): 1 for file in _reworded(since)}
        elif module is None or module not in texts:
            begin |= dict.fromkeys(reach.readers(path, texts, _beside(path)), 0)
    begin |= dict.fromkeys({str(reach.module_of(path)) for path in changed} & texts.keys(), 0)
    found = reach.distances(edges, begin)
    native = [path.removeprefix("native/") for path in changed if path.startswith("native/")]
    known = _programs() if native else {}
    programs = {program for path in native for program in native_reach.programs_of(path, known)}
    started = reach.joined(edges, native_reach.users(programs, texts)) if programs else {}
    for module, distance in reach.distances(started, dict.fromkeys(programs, 0)).items():
        if native_reach.runs(module):
            found[module] = min(distance, found.get(module, distance))
    return found, programs


def _within(pieces: Iterable[Piece], seconds: float, began: float) -> tuple[Choice, float]:
    """What fits into what is left of the time, and when the time is over."""
    left = max(began + seconds - time.time(), LEAST * seconds)
    return choose(pieces, left - START, pytest_xdist_auto_num_workers()), time.time() + left - START / 2


def _list(pieces: Iterable[Piece], budget: float) -> int:
    choice = choose(pieces, budget - START, pytest_xdist_auto_num_workers())
    print(choice.text())
    for what, some in (("run", choice.run), ("left", choice.left)):
        for piece in some:
            print(f"{what:4} {piece.distance:3} {piece.seconds:7.1f} s  {piece.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

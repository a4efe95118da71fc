"""libFuzzer on the parsers: `make fuzz`. What breaks one is kept in native/fuzz/crashes, for every test run.

The corpus in native/fuzz/corpus is read; what is found beyond it goes to build/fuzz, until --merge takes over those
inputs that reach code which none of the corpus did.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from provision import native
from provision.packages import Host
from provision.places import Places
from provision.runner import SetupError, Shell

TARGETS = ("session", "node", "mpi", "link", "header", "proc", "perf", "trace", "goal", "replay", "questions")
LIMITS = ("-max_len=4096", "-timeout=20", "-rss_limit_mb=1024")
"""An input that takes 20 s hangs; -rss_limit_mb holds for ASan's memory, which grows with its quarantine."""
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TMPDIR": "/dev/shm",  # a target that reads files writes them anew for every input
}  # fmt: skip


@dataclass(frozen=True)
class Build:
    """How the targets are compiled."""

    folder: str
    sanitizers: str
    optimisation: str


THOROUGH = Build("native-fuzz", "address,undefined", "-O1")
# For continuous integration: compiling is most of a short run. The undefined-behaviour sanitizer sees the corpus in
# `make native-test`.
QUICK = Build("native-fuzz-quick", "address", "-O0")


@dataclass(frozen=True)
class Fuzzer:
    """One target's program and folders."""

    name: str
    program: Path
    corpus: Path
    crashes: Path
    found: Path

    @property
    def seeds(self) -> list[Path]:
        """Where inputs are read from; new ones go into the first."""
        return [self.found, self.corpus, *([self.crashes] if self.crashes.exists() else [])]


def build(shell: Shell, host: Host, places: Places, how: Build, names: Sequence[str]) -> None:
    """Compile targets with clang; raises SetupError."""
    compiler = host.command("clang++")
    if compiler is None:
        raise SetupError("clang++, whose libFuzzer this is, is not installed", "make fuzz as root installs it")
    folder = places.build / how.folder
    options = [f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_CXX_FLAGS={how.optimisation}"]
    options += ["-DWULF_STATIC=OFF", "-DWULF_TESTS=OFF", "-DWULF_FUZZ=ON", f"-DWULF_SANITIZE={how.sanitizers}"]
    native.configure(shell, host, places, folder, options)
    wanted = [f"fuzz-{name}" for name in names]
    shell.say(f"building the fuzz targets: {' '.join(wanted)}")
    native.compile_all(shell, host, folder, "--target", *wanted)


def run(fuzzer: Fuzzer, options: list[str], folders: list[Path]) -> tuple[int, str]:
    """One run of libFuzzer; its status and all it said. Inputs that break the target land beside `found`."""
    fuzzer.found.mkdir(parents=True, exist_ok=True)
    words = [str(fuzzer.program), *LIMITS, f"-artifact_prefix={fuzzer.found.parent}/{fuzzer.name}-", *options]
    done = subprocess.run(
        [*words, *map(str, folders)], capture_output=True, text=True, errors="replace", check=False,
        env=os.environ | ENVIRONMENT,
    )  # fmt: skip
    return done.returncode, done.stderr


def keep_crashes(fuzzer: Fuzzer) -> list[Path]:
    """Move the inputs that broke a target to where the tests replay them."""
    kept = []
    for artifact in sorted(fuzzer.found.parent.glob(f"{fuzzer.name}-*-*")):
        fuzzer.crashes.mkdir(parents=True, exist_ok=True)
        kept.append(fuzzer.crashes / artifact.name.removeprefix(f"{fuzzer.name}-"))
        shutil.move(artifact, kept[-1])
    return kept


def summary(said: str) -> str:
    """What a run reached, from libFuzzer's last line of progress."""
    runs = re.findall(r"stat::number_of_executed_units: (\d+)", said)
    reached = re.findall(r"cov: (\d+) ft: (\d+)", said)
    return f"{runs[-1] if runs else '?'} inputs, {reached[-1][0] if reached else '?'} branches reached"


def fuzz(fuzzer: Fuzzer, seconds: int) -> bool:
    """Run one target for a time; whether nothing broke it."""
    status, said = run(fuzzer, [f"-max_total_time={seconds}", "-print_final_stats=1"], fuzzer.seeds)
    kept = keep_crashes(fuzzer)
    if status == 0:
        print(f"{fuzzer.name:<8} clean: {summary(said)}", flush=True)
        return True
    print("\n".join(said.splitlines()[-60:]))
    print(f"{fuzzer.name:<8} FAILED (status {status}): {', '.join(map(str, kept)) or 'no input was kept'}", flush=True)
    return False


def merge(fuzzer: Fuzzer) -> bool:
    """Make the corpus anew: of it and of what was found, few inputs that reach the same code.

    How often a branch is taken does not count: that would keep ten times as many.
    """
    fresh = fuzzer.found.parent / f"{fuzzer.name}.merged"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    status, said = run(fuzzer, ["-set_cover_merge=1", "-use_counters=0"], [fresh, *fuzzer.seeds])
    if status != 0:
        print("\n".join(said.splitlines()[-20:]))
        return False
    shutil.rmtree(fuzzer.corpus, ignore_errors=True)
    shutil.move(fresh, fuzzer.corpus)
    print(f"{fuzzer.name:<8} corpus: {len(list(fuzzer.corpus.iterdir()))} inputs", flush=True)
    return True


def main() -> int:
    """Fuzz the targets asked for, all by default, two at a time. Status 1 when one breaks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=600, help="time for each target (default: 600)")
    parser.add_argument("--quick", action="store_true", help="without optimisation and UBSan, which compiles faster")
    parser.add_argument("--merge", action="store_true", help="renew native/fuzz/corpus with what was found")
    given = parser.parse_args()
    names = given.targets or TARGETS
    places = Places(Path(__file__).resolve().parents[1])
    host = Host(extra=(places.sysroot,), venv=places.venv)
    how = QUICK if given.quick else THOROUGH
    try:
        with (places.build / "native-fuzz.log").open("w", encoding="utf-8") as log:
            build(Shell(log), host, places, how, names)
    except SetupError as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 1
    kept, found = places.repo / "native/fuzz", places.build / "fuzz"
    fuzzers = [
        Fuzzer(name, places.build / how.folder / f"fuzz-{name}", kept / "corpus" / name, kept / "crashes" / name,
               found / name)
        for name in names
    ]  # fmt: skip
    with ThreadPoolExecutor(2) as pool:
        clean = list(pool.map(merge if given.merge else lambda each: fuzz(each, given.seconds), fuzzers))
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())

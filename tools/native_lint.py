"""clang-format and clang-tidy over the native sources, as part of `make lint`."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from provision import native
from provision.packages import Host
from provision.places import Places
from provision.runner import SetupError, Shell
from provision.stamps import Stamps


def sources(places: Places, *endings: str) -> list[Path]:
    return sorted(path for path in (places.repo / "native").rglob("*") if path.suffix in endings)


def format_problems(places: Places) -> list[str]:
    """List what clang-format would change."""
    program = places.venv / "bin/clang-format"
    files = [str(path) for path in sources(places, ".cpp", ".hpp")]
    done = subprocess.run([str(program), "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False)
    return [done.stderr] if done.returncode else []


def tidy_problems(places: Places, host: Host, shell: Shell) -> list[str]:
    """List clang-tidy's complaints; sources that were clean are not checked again until one changes."""
    program = places.venv / "bin/clang-tidy"
    stamps, key = Stamps(places.build / "stamps"), native.sources_digest(places, str(program))
    if stamps.fresh("clang-tidy", key):
        return []
    folder = places.build / "native-tidy"
    native.configure(shell, host, places, folder, [*native.compiler_options(shell, host, places), "-DWULF_TESTS=ON"])

    def check(path: Path) -> str:
        command = [str(program), "--quiet", "--warnings-as-errors=*", "-p", str(folder), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr if done.returncode else ""

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [text for text in pool.map(check, sources(places, ".cpp")) if text]
    if not problems:
        stamps.set("clang-tidy", key)
    return problems


def main() -> int:
    """Status 1 when a source is not as it should be."""
    places = Places(Path(__file__).resolve().parents[1])
    host = Host(extra=(places.sysroot,), venv=places.venv)
    try:
        with (places.build / "native-lint.log").open("w", encoding="utf-8") as log:
            problems = format_problems(places) + tidy_problems(places, host, Shell(log))
    except SetupError as error:
        problems = [str(error)]
    for problem in problems:
        print(problem)
    print(f"native: {len(sources(places, '.cpp', '.hpp'))} sources, " + ("FAILED" if problems else "clean"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

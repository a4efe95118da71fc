"""clang-format and clang-tidy over the native sources, as part of `make lint`."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from provision.native import sources_digest
from provision.packages import Host
from provision.places import Places
from provision.stamps import Stamps


def sources(places: Places, *endings: str) -> list[Path]:
    return sorted(path for path in (places.repo / "native").rglob("*") if path.suffix in endings)


def format_problems(places: Places) -> list[str]:
    """List what clang-format would change."""
    program = places.venv / "bin/clang-format"
    files = [str(path) for path in sources(places, ".cpp", ".hpp")]
    done = subprocess.run([str(program), "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False)
    return [done.stderr] if done.returncode else []


def tidy_problems(places: Places, host: Host) -> list[str]:
    """List clang-tidy's complaints; files that were clean with the same sources are not checked again."""
    program = host.command("clang-tidy")
    if program is None:
        return ["clang-tidy is not installed; `make lint` as root installs it"]
    stamps, key = Stamps(places.build / "stamps"), sources_digest(places, str(program))
    if stamps.fresh("clang-tidy", key):
        return []

    def check(path: Path) -> str:
        command = [str(program), "--quiet", "--warnings-as-errors=*", "-p", str(places.native), str(path)]
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
    problems = format_problems(places) + tidy_problems(places, Host(extra=(places.sysroot,), venv=places.venv))
    for problem in problems:
        print(problem)
    print(f"native: {len(sources(places, '.cpp', '.hpp'))} sources, " + ("FAILED" if problems else "clean"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

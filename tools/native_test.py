"""The native unit tests in each build that has to be clean: `make native-test`.

gcc and clang warn about different things (-Werror holds for both), and see each source by itself, so that it includes
what it needs; the sanitizers exclude each other.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path

from provision import native
from provision.packages import Host
from provision.places import Places
from provision.runner import SetupError, Shell, must
from provision.stamps import Stamps


@dataclass(frozen=True)
class Variant:
    """One build of the tests: the compiler and what it adds."""

    name: str
    compiler: str
    options: tuple[str, ...] = ("-DCMAKE_BUILD_TYPE=Release", "-DWULF_UNITY=OFF")


# -O1 compiles in little more than half the time of -O2. Instrumented code makes gcc 12 see uninitialized members in its
# own <regex> (gcc's manual, -fsanitize: false positives); the builds without sanitizers keep the warning.
SANITIZED = (
    "-DCMAKE_BUILD_TYPE=Debug",
    "-DCMAKE_CXX_FLAGS=-O1 -Wno-maybe-uninitialized",
    "-DWULF_STATIC=OFF",
)
VARIANTS = (
    Variant("gcc", "g++"),
    Variant("clang", "clang++"),
    Variant("address", "g++", (*SANITIZED, "-DWULF_SANITIZE=address,undefined")),
    Variant("thread", "g++", (*SANITIZED, "-DWULF_SANITIZE=thread")),
)
SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}


def check(shell: Shell, host: Host, places: Places, variant: Variant) -> str:
    """Build and run one variant; return its closing line, or raise SetupError with the last lines of what failed."""
    stamps, step = Stamps(places.build / "stamps"), f"native-test-{variant.name}"
    key = native.sources_digest(places, variant.compiler, *variant.options)
    if stamps.fresh(step, key):
        return "passed before, unchanged since"
    compiler = host.command(variant.compiler)
    if compiler is None:
        raise SetupError(f"{variant.compiler} is not installed", "make native-test as root installs it")
    folder = places.build / f"native-{variant.name}"
    options = [f"-DCMAKE_CXX_COMPILER={compiler}", "-DWULF_TESTS=ON", "-DWULF_WERROR=ON", *variant.options]
    native.configure(shell, host, places, folder, options)
    shell.say(f"building the native tests: {variant.name}")
    native.compile_all(shell, host, folder)
    done = must(
        shell, [str(folder / "wulf-native-tests")], "the test's own message says what is wrong", env=SANITIZER_ENV
    )
    stamps.set(step, key)
    return done.output.rstrip().rpartition("\n")[2]


def main() -> int:
    """Check the variants asked for, all by default. Status 1 when one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help=", ".join(variant.name for variant in VARIANTS))
    chosen = parser.parse_args().variants or [variant.name for variant in VARIANTS]
    places = Places(Path(__file__).resolve().parents[1])
    host = Host(extra=(places.sysroot,), venv=places.venv)
    failed = False
    with contextlib.ExitStack() as stack:
        shell = Shell(stack.enter_context((places.build / "native-test.log").open("w", encoding="utf-8")))
        for variant in VARIANTS:
            if variant.name in chosen:
                try:
                    print(f"{variant.name:<8} {check(shell, host, places, variant)}", flush=True)
                except SetupError as error:
                    failed = True
                    print(f"{variant.name:<8} FAILED: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The native build: a toolchain that can link statically, CMake and Ninja, and the probes put into the package."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from provision import elf
from provision.packages import Host
from provision.places import Places
from provision.progress import Ninja
from provision.runner import Runner, SetupError, must
from provision.stamps import Stamps, digest

PROGRAMS = ("wulf-net", "wulf-link", "wulf-node", "wulf-replay")
CHECK = (
    "#include <span>\n#include <thread>\nint main() { std::jthread([] {}).join(); return std::span<int>{}.size(); }\n"
)
SEE_LOG = "see build/setup.log; `make clean` starts the native build over"
NO_COMPILER = "install a C++20 compiler with its static libraries; the list of what is missing names the packages"


def sources_digest(places: Places, *words: str) -> str:
    """Digest all that decides what the native build makes: sources, the version, the compiler asked for."""
    version = next(
        line for line in (places.repo / "pyproject.toml").read_text().splitlines() if line.startswith("version")
    )
    return digest([places.repo / "native"], [version, os.environ.get("CXX", ""), platform.machine(), *words])


def build(runner: Runner, host: Host, places: Places, stamps: Stamps, *, tests: bool) -> None:
    """Build the probes, check that they are static, and put them where the package looks for them."""
    step = "native-tests" if tests else "native"
    key = sources_digest(places, step)
    outputs = [places.programs / program for program in PROGRAMS]
    if stamps.fresh(step, key, *outputs, *([places.native / "wulf-native-tests"] if tests else [])):
        return
    runner.say("building the native probes" + (" and their tests" if tests else ""))
    start = time.monotonic()
    options = [f"-DWULF_TESTS={'ON' if tests else 'OFF'}", "-DCMAKE_BUILD_TYPE=Release"]
    # said either way: CMake's cache would keep what the last build was told
    options += [f"-DWULF_WERROR={'ON' if os.environ.get('CI') == 'true' else 'OFF'}"]
    configure(runner, host, places, places.native, [*compiler_options(runner, host, places), *options])
    compile_all(runner, host, places.native)
    for program in PROGRAMS:
        install(runner, places.native / program, places.programs / program)
    stamps.set(step, key)
    runner.say(f"built in {time.monotonic() - start:.0f} s: {places.programs.relative_to(places.repo)}")


def configure(runner: Runner, host: Host, places: Places, folder: Path, options: Sequence[str]) -> None:
    """Configure one build folder; a folder that was made with other options is made anew."""
    command = [str(tool(host, "cmake")), "-S", str(places.repo / "native"), "-B", str(folder), "-G", "Ninja"]
    command += [f"-DCMAKE_MAKE_PROGRAM={tool(host, 'ninja')}", *library_options(places), *options]
    compiler = " ".join(option for option in command if "COMPILER" in option or "DEPS_INCLUDE" in option)
    note = folder / "wulf-compiler.txt"
    if folder.exists() and (not note.exists() or note.read_text() != compiler):
        shutil.rmtree(folder)
    must(runner, command, SEE_LOG)
    folder.mkdir(parents=True, exist_ok=True)
    note.write_text(compiler)


def compile_all(runner: Runner, host: Host, folder: Path, *options: str) -> None:
    """Compile what a folder was configured for."""
    must(runner, [str(tool(host, "cmake")), "--build", str(folder), *options], SEE_LOG, count=Ninja())


def tool(host: Host, name: str) -> Path:
    path = host.command(name)
    if path is None:
        raise SetupError(
            f"{name} is neither installed nor to be had as a wheel", "install what the list of missing packages names"
        )
    return path


def library_options(places: Places) -> list[str]:
    """Say where the libraries are that came without the system's package manager."""
    prefix = places.sysroot / "usr"
    options = []
    if (prefix / "include").is_dir():
        options += [f"-DWULF_NATIVE_DEPS_INCLUDE={prefix / 'include'}", f"-DCMAKE_PREFIX_PATH={prefix}"]
    if monocypher := max(prefix.glob("src/*/monocypher.c"), default=None):
        options.append(f"-DWULF_MONOCYPHER={monocypher.parent}")
    return options


def compiler_options(runner: Runner, host: Host, places: Places) -> list[str]:
    """Choose the compiler: $CXX or the system's where they link statically, else zig's.

    Returns
    -------
    CMake options; empty for the system's default compiler.
    """
    given = os.environ.get("CXX")
    if given:
        return [f"-DCMAKE_CXX_COMPILER={shlex.split(given)[0]}"]
    for name in ("g++", "clang++", "c++"):
        path = host.command(name)
        if path and links_statically(runner, path, places.build / "check"):
            return [f"-DCMAKE_CXX_COMPILER={path}"]
    if host.has_wheel("ziglang"):
        return zig_options(places)
    raise SetupError("no C++ compiler here can make a static C++20 program", NO_COMPILER)


def links_statically(runner: Runner, compiler: Path, folder: Path) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "static.cpp"
    source.write_text(CHECK)
    command = [str(compiler), "-std=c++20", "-static", str(source), "-o", str(folder / "static"), "-pthread"]
    return runner.run(command).ok


def zig_options(places: Places) -> list[str]:
    """Write wrappers, since CMake wants one program a tool, and return the options that name them."""
    target = f"{platform.machine()}-linux-musl"
    tools = {"CXX_COMPILER": f"c++ -target {target}", "AR": "ar", "RANLIB": "ranlib"}
    options = []
    folder = places.build / "zig"
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in tools.items():
        path = folder / words.split()[0]
        path.write_text(
            f"#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR={shlex.quote(str(folder / 'cache'))}\n"
            f'exec {shlex.quote(str(places.python))} -m ziglang {words} "$@"\n'
        )
        path.chmod(0o755)
        options.append(f"-DCMAKE_{name}={path}")
    return options


def install(runner: Runner, program: Path, target: Path) -> None:
    """Copy a program into the package in one step, so that a session that starts meanwhile gets a whole one."""
    if trouble := elf.problem(program, platform.machine()):
        raise SetupError(f"{program} {trouble}", NO_COMPILER)
    must(runner, [str(program), "--version"], SEE_LOG)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    shutil.copy2(program, part)
    part.replace(target)

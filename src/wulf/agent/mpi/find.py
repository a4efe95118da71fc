"""Which MPIs this node has: launcher, compiler wrapper, version."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from wulf.agent.mpi.places import usable_places, wheel_folders

ENDINGS = (".openmpi", ".mpich", "")
"""Debian names both MPIs' commands apart; the bare names come last, since two alternatives choose them, one for
compilers and one for launchers, which need not agree."""

SYSTEM = ("/usr/lib64/openmpi/bin", "/usr/lib64/mpich/bin", "/usr/lib64/mpi/gcc/*/bin", "/usr/local/*mpi*/bin")
OPTIONAL = ("/opt/*mpi*/bin", "/opt/*mpi*/*/bin", "/opt/intel/oneapi/mpi/latest/bin")
"""Where distributions and vendors install MPIs beside the PATH: glob patterns."""

NAMED_BY = ("MPI_HOME", "MPI_ROOT", "I_MPI_ROOT", "OPAL_PREFIX")
"""Variables that environment modules set to an MPI's prefix."""

PATIENCE = 20.0
"""Seconds that a launcher or compiler may take to say its version."""

_KINDS = (
    ("openmpi", re.compile(r"\((?:Open MPI|OpenRTE)\)\s+v?(\S+)")),
    ("intel", re.compile(r"Intel\(R\) MPI Library.*?Version\s+(\S+)", re.DOTALL)),
    ("mpich", re.compile(r"HYDRA build details:.*?Version:\s+(\S+)", re.DOTALL)),
)
_DEVICE = re.compile(r"--with-device=([\w:,]+)")
_NUMBER = re.compile(r"\d+(?:\.\d+)+")


def identify(text: str) -> tuple[str, str, str]:
    """Kind, version and device of the MPI whose ``mpirun --version`` prints this.

    The device is MPICH's way to the network ("ch4:ucx"); empty where the launcher does not tell.
    """
    for kind, pattern in _KINDS:
        match = pattern.search(text)
        if match:
            device = _DEVICE.search(text)
            return kind, match[1].rstrip(","), device[1] if device else ""
    number = _NUMBER.search(text)
    return "other", number[0] if number else "", ""


def library_folders(show: str) -> list[str]:
    """The folders that a wrapper links from, as ``mpicxx -show`` prints its command line."""
    try:
        words = shlex.split(show)
    except ValueError:  # a path with a quotation mark that the wrapper did not quote
        return []
    return [word[2:] for word in words if word.startswith("-L")]


def output_of(*command: str) -> str:
    """What a command prints; empty where it can't be run, fails, or takes too long."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE,
            check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode(errors="replace")


def find(prefixes: list[str]) -> list[dict[str, Any]]:
    """All MPIs of this node, those that were given first, then the PATH's own, then the others."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for folder, where in _folders(prefixes):
        for ending in ENDINGS:
            launcher = folder / f"mpirun{ending}"
            if os.access(launcher, os.X_OK):
                row = _installed(launcher, folder / f"mpicxx{ending}", where)
                found.setdefault((row["kind"], row["version"], os.path.realpath(launcher)), row)
    default = _default_launcher()
    rank = {"given": 0, "wheel": 2}
    return sorted(
        found.values(), key=lambda row: (rank.get(row["where"], 1), os.path.realpath(row["mpirun"]) != default)
    )


def _installed(launcher: Path, compiler: Path, where: str) -> dict[str, Any]:
    kind, version, device = identify(output_of(str(launcher), "--version"))
    known = os.access(compiler, os.X_OK)
    return {
        "kind": kind,
        "version": version,
        "device": device,
        "prefix": str(launcher.parent.parent),
        "mpirun": str(launcher),
        "mpicxx": str(compiler) if known else None,
        "compiler": output_of(str(compiler), "--version").partition("\n")[0] if known else None,
        "where": where,
    }


def _default_launcher() -> str:
    for folder in os.get_exec_path():
        if os.access(f"{folder}/mpirun", os.X_OK):
            return os.path.realpath(f"{folder}/mpirun")
    return ""


def _folders(prefixes: list[str]) -> list[tuple[Path, str]]:
    """Where commands of an MPI may be, and how each came to be looked at; no folder twice, by whatever name."""
    rows = [(Path(prefix, "bin"), "given") for prefix in prefixes] + [(Path(prefix), "given") for prefix in prefixes]
    rows += [(Path(os.environ[name], "bin"), "module") for name in NAMED_BY if os.environ.get(name)]
    rows += [(Path(folder), _where(folder)) for folder in os.get_exec_path()]
    rows += [(folder, "system") for pattern in SYSTEM + OPTIONAL for folder in sorted(Path("/").glob(pattern[1:]))]
    rows += [(folder / "bin", "wheel") for folder in wheel_folders()] + [(Path(sys.prefix, "bin"), "wheel")]
    unique: dict[str, tuple[Path, str]] = {}
    for folder, where in rows:
        if folder.is_dir():
            unique.setdefault(os.path.realpath(folder), (folder, where))
    return list(unique.values())


def _where(folder: str) -> str:
    """A folder of the PATH that the system does not own was put there by a module."""
    own = folder.startswith(("/usr/", "/bin", "/sbin")) or not os.environ.get("LOADEDMODULES")
    return "system" if own else "module"


def mpi_find(prefixes: Any = None) -> dict[str, Any]:
    """{"op": "mpi_find", "prefixes": ["/opt/x"]}: MPIs, and what of this node decides how one is started."""
    return {
        "mpis": find([str(prefix) for prefix in prefixes or []]),
        "places": usable_places(),
        "boot_id": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        "host": os.uname().nodename,
        "cpus": len(os.sched_getaffinity(0)),
        "uid": os.geteuid(),
    }

"""The virtual environment .venv, wulf in it as an editable install, and pip itself where Python comes without."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from provision import bootstrap
from provision.places import Places
from provision.progress import Pip
from provision.runner import Runner, SetupError, must

PACKAGES, PACKAGES_WITH_EXTRAS = 26, 62
"""How many packages come with wulf, for the progress shown: about."""

NO_PIP = "see the lines above: is the package index reachable (PIP_INDEX_URL, https_proxy, PIP_CERT)?"


def make(runner: Runner, places: Places) -> bool:
    """Make the virtual environment, or keep the one that works; either way it has pip afterwards.

    Returns whether it is a new one, in which nothing is yet.
    """
    venv = places.venv
    kept = _works(runner, places)
    if not kept:
        runner.say(f"making {venv} with Python {sys.version.split()[0]}")
        shutil.rmtree(venv, ignore_errors=True)
        bare = [] if importlib.util.find_spec("ensurepip") else ["--without-pip"]
        must(
            runner,
            [sys.executable, "-m", "venv", *bare, str(venv)],
            f"make {venv.parent} writable, or look at the disk",
        )
    if not runner.run([str(places.python), "-m", "pip", "--version"]).ok:
        add_pip(runner, places)
    return not kept


def _works(runner: Runner, places: Places) -> bool:
    """Judge an environment that is there: it has to start, and be new enough; its programs name its own folder."""
    if not places.python.exists():
        return False
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    if not runner.run([str(places.python), "-c", check]).ok:
        return False
    script = places.venv / "bin" / "pip"
    return not script.exists() or str(places.venv) in script.read_text(errors="replace").split("\n", 1)[0]


def add_pip(runner: Runner, places: Places, fetch: Callable[[Path], Path] = bootstrap.fetch_pip) -> None:
    """Install pip from its own wheel, which can run without being installed."""
    runner.say("fetching pip from the package index")
    wheel = fetch(places.build / "bootstrap")
    command = [str(places.python), f"{wheel}/pip", "install", "--no-deps", "--no-index", str(wheel)]
    must(runner, command, NO_PIP)


def install_wulf(runner: Runner, places: Places, extras: Sequence[str]) -> None:
    """Install wulf as an editable package, with what it depends on."""
    target = f"{places.repo}[{','.join(extras)}]" if extras else str(places.repo)
    label = "wulf and what it depends on" + (f", with {', '.join(extras)}" if extras else "")
    runner.say(f"installing {label} into .venv")
    start = time.monotonic()
    # Compiled when first used: most modules never are, and compiling all takes a third of the time.
    packages = PACKAGES_WITH_EXTRAS if extras else PACKAGES
    pip_install(runner, places, ["--no-compile", "-e", target], packages)
    runner.say(f"installed in {time.monotonic() - start:.0f} s")


def pip_install(runner: Runner, places: Places, arguments: Sequence[str], packages: int = 1) -> None:
    command = [str(places.python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *arguments]
    must(runner, command, NO_PIP, count=Pip(packages))


def try_wheels(runner: Runner, places: Places, wheels: Sequence[str]) -> list[str]:
    """Install wheels that stand in for system packages, one by one; return those that can't be had."""
    refused = []
    for wheel in wheels:
        runner.say(f"installing {wheel} from a wheel, in place of a system package")
        try:
            pip_install(runner, places, ["--only-binary", ":all:", wheel])
        except SetupError:
            refused.append(wheel)
    return refused

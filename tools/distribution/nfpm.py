"""deb and rpm by nfpm, from one description: the same files under the same owner at the same time, whoever builds."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from provision.packages import Host
from provision.places import Places
from provision.runner import Runner, SetupError, must

from distribution import tree, wheels
from distribution.targets import Target

ARCHES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Architectures as nfpm and Debian have them; nfpm knows what rpm calls them."""
WHOLE = (tree.HOME, tree.DOC)
"""Folders that are the package's own. Of all others rpm leaves behind what it was not told of, but for"""
SHARED = ("usr", "usr/bin", "usr/lib", "usr/share", "usr/share/man", "usr/share/man/man1")
"""which every distribution has."""
NAMES = {
    "deb": "wulf_{version}-{release}_{deb_arch}.deb",
    "rpm": "wulf-{version}-{release}.{arch}.rpm",
}
SCRIPTS = ("postinstall", "preremove", "postremove")
DESCRIPTION = """\
measures, explains, tunes and predicts the performance of Linux clusters
wulf surveys the nodes and links of a cluster, says in plain words what
stands out and why, finds better settings by measuring, and predicts how
programs would run elsewhere. It runs on the login node, as any user."""


def package(runner: Runner, host: Host, places: Places, target: Target, arch: str) -> Path:
    """Make one package in dist/; return it."""
    program = host.command("nfpm")
    if program is None:
        raise SetupError("nfpm is not there, which makes deb and rpm", "`make packages` installs it: see what it says")
    root = places.build / f"package/{target.name}-{arch}"
    tree.lay(runner, places, target, arch, root)
    _same_times(root, wheels.epoch())
    config = root.with_suffix(".json")
    config.write_text(json.dumps(description(places, target, arch, root), indent=1), encoding="utf-8")
    name = NAMES[target.format].format(
        version=wheels.version(wheels.wulf_wheel(places)), release=target.release, arch=arch, deb_arch=ARCHES[arch]
    )
    runner.say(f"packing dist/{name}")
    words = [str(program), "package", "--packager", target.format, "--config", str(config)]
    must(runner, [*words, "--target", str(places.repo / "dist" / name)], "see build/setup.log")
    return places.repo / "dist" / name


def description(places: Places, target: Target, arch: str, root: Path) -> dict[str, Any]:
    """What nfpm reads, as https://nfpm.goreleaser.com/docs/configuration/ has it."""
    return {
        "name": "wulf",
        "arch": ARCHES[arch],
        "version": wheels.version(wheels.wulf_wheel(places)),
        "version_schema": "none",
        "release": target.release,
        "section": "utils",
        "priority": "optional",
        "maintainer": "The developers of wulf <wulf@localhost>",
        "description": DESCRIPTION,
        "license": "Apache-2.0",
        "mtime": _rfc3339(wheels.epoch()),
        "depends": list(target.requires),
        "recommends": list(target.recommends),
        "suggests": list(target.suggests),
        "disable_globbing": True,
        "contents": contents(root),
        "scripts": {name: str(places.repo / "packaging/scripts" / name) for name in SCRIPTS},
        "deb": {"compression": "zstd"},
        "rpm": {"compression": "zstd", "group": "Applications/System", "buildhost": "localhost"},
    }


def contents(root: Path) -> list[dict[str, Any]]:
    """List the package's own folders whole, and its files elsewhere one by one."""
    listed: list[dict[str, Any]] = [
        {"src": str(root / folder), "dst": f"/{folder}", "type": "tree"} for folder in WHOLE if (root / folder).is_dir()
    ]
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if str(inside) in SHARED or any(inside.is_relative_to(folder) for folder in WHOLE):
            continue
        if path.is_symlink():
            listed.append({"src": str(path.readlink()), "dst": f"/{inside}", "type": "symlink"})
        elif path.is_dir():
            listed.append({"dst": f"/{inside}", "type": "dir", "packager": "rpm", "file_info": {"mode": 0o755}})
        else:
            listed.append({"src": str(path), "dst": f"/{inside}"})
    return listed


def _same_times(root: Path, seconds: int) -> None:
    for path in root.rglob("*"):
        os.utime(path, (seconds, seconds), follow_symlinks=False)


def _rfc3339(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

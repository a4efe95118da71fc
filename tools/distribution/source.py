"""Sources as one tar for recipes that build where nothing can be fetched: the clone's, Monocypher's and plotly.js."""

from __future__ import annotations

import tomllib
from pathlib import Path

from provision.places import Places
from provision.runner import Runner, must

OTHERS = ("pymonocypher-*/monocypher.[ch]", "pymonocypher-*/LICENSE.txt", "plotly.js-*/*.js", "plotly.js-*/LICENSE")
"""In build/sysroot/usr/src, where set-up unpacked them and where the build looks for them."""


def source(runner: Runner, places: Places) -> Path:
    """Make dist/wulf-VERSION.tar.gz of what is committed; return it."""
    project = tomllib.loads((places.repo / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name = f"wulf-{project['version']}"
    target = places.repo / "dist" / f"{name}.tar.gz"
    target.parent.mkdir(exist_ok=True)
    words = ["git", "-C", str(places.repo), "archive", "-o", str(target)]
    for pattern in OTHERS:
        for file in sorted((places.sysroot / "usr/src").glob(pattern)):
            words += [f"--prefix={name}/{file.parent.relative_to(places.repo)}/", f"--add-file={file}"]
    must(runner, [*words, f"--prefix={name}/", "HEAD"], "this has to be a clone of git's")
    return target

"""What a package puts where: an environment of the distribution's Python in /usr/lib/wulf, and what is outside it.

An environment of its own, and not the distribution's modules: wulf needs newer ones than distributions have, and what
others install, or a site's PYTHONPATH, neither changes nor sees it.
"""

from __future__ import annotations

import gzip
import shutil
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path

from provision.places import Places
from provision.runner import Runner, must

from distribution import wheels
from distribution.targets import Target

HOME = "usr/lib/wulf"
LAUNCHER = f"""\
#!/{HOME}/bin/python3 -I
import sys

from wulf.cli.start import main

sys.exit(main())
"""
COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/wulf",
    "zsh": "usr/share/zsh/{zsh}/_wulf",
    "fish": "usr/share/fish/vendor_completions.d/wulf.fish",
}
ZSH = {"deb": "vendor-completions", "rpm": "site-functions"}
UNITS = {
    "wulf-rates.service": "usr/lib/systemd/system/wulf-rates.service",
    "wulf-rates.timer": "usr/lib/systemd/system/wulf-rates.timer",
    "wulf.sysusers": "usr/lib/sysusers.d/wulf.conf",
}
DOC = "usr/share/doc/wulf"
SEE_LOG = "see build/setup.log"


def lay(runner: Runner, places: Places, target: Target, arch: str, root: Path) -> None:
    """Lay out all files of one package below `root`, which is made anew."""
    shutil.rmtree(root, ignore_errors=True)
    modules = root / HOME / f"lib/python{target.python}/site-packages"
    fetched = places.build / f"wheels/{target.python}-{arch}"
    shutil.rmtree(fetched, ignore_errors=True)
    found = wheels.fetch(runner, places, [str(wheels.wulf_wheel(places))], target.python, arch, fetched)
    wheels.unpack(runner, places, found, target.python, arch, modules)
    _environment(root, target)
    _documents(runner, places, target, root)
    put(root / DOC / "copyright", copyright_of(modules))


def put(path: Path, content: str | bytes, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)


def _environment(root: Path, target: Target) -> None:
    """As `python3 -m venv` would make it, for an interpreter that this machine need not have."""
    home = Path(target.interpreter).parent
    put(root / HOME / "pyvenv.cfg", f"home = {home}\ninclude-system-site-packages = false\nversion = {target.python}\n")
    put(root / HOME / "bin/wulf", LAUNCHER, 0o755)
    (root / HOME / "bin/python3").symlink_to(f"../../../bin/{Path(target.interpreter).name}")
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/wulf").symlink_to(f"../lib/{Path(HOME).name}/bin/wulf")


def _documents(runner: Runner, places: Places, target: Target, root: Path) -> None:
    """Manual pages, completions, units, and the documents that these name."""
    wulf = [str(places.python), "-m", "wulf.cli.main"]
    pages = root / "usr/share/man/man1"
    from_here = {"PYTHONPATH": str(places.repo / "src")}
    must(runner, [*wulf, "manual", str(pages)], SEE_LOG, env=from_here)
    for page in pages.iterdir():
        put(page.with_suffix(".1.gz"), gzip.compress(page.read_bytes(), mtime=0))
        page.unlink()
    for shell, name in COMPLETIONS.items():
        said = must(runner, [*wulf, "completion", shell], SEE_LOG, env=from_here).output
        put(root / name.format(zsh=ZSH[target.format]), said)
    for name, path in UNITS.items():
        put(root / path, (places.repo / "packaging/systemd" / name).read_bytes())
    for document in [*places.repo.glob("*.md"), *(places.repo / "docs").rglob("*.md")]:
        put(root / DOC / document.relative_to(places.repo / "docs" if document.parent != places.repo else places.repo),
            document.read_bytes())  # fmt: skip


def copyright_of(modules: Path) -> str:
    """Say under what wulf is, and what else a package carries: name, version, licence, where its text is."""
    lines = [
        "wulf is under the Apache License 2.0; its text is in",
        f"  /{HOME}/lib/…/site-packages/wulf-*.dist-info/licenses/LICENSE.",
        "This package carries other packages of Python's, unchanged but for the tests of NumPy and SciPy, which are",
        "left out. Their licences' texts are beside their modules, in *.dist-info:",
    ]
    for metadata in sorted(modules.glob("*.dist-info/METADATA")):
        said = HeaderParser().parsestr(metadata.read_text(encoding="utf-8"))
        if said["Name"] != "wulf":
            lines.append(f"  {said['Name']} {said['Version']}: {licence(said)}")
    return "\n".join(lines) + "\n"


def licence(said: Message) -> str:
    """Its name from a package's metadata, in whichever of three places that has it."""
    short = said.get("License-Expression") or said.get("License") or ""
    if short and "\n" not in short.strip():
        return short.strip()
    classified = [value for name, value in said.items() if name == "Classifier" and value.startswith("License ::")]
    return ", ".join(value.rpartition(" :: ")[2] for value in classified) or "see its *.dist-info"

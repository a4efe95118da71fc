"""Builds the agent's single file, which is copied to a node and run there: a zipapp with pyroute2 inside.

Runs on the control side; it is not part of what it builds.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import io
import marshal
import sys
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

from wulf.agent.files.durable import replace

NAME = "wulf-agent"

_SHEBANG = b"#!/usr/bin/env python3\n"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip can name: files' own times would change the digest
_MAIN = b"import sys\n\nfrom wulf.agent.__main__ import main\n\nsys.exit(main(sys.argv[1:]))\n"

# pyroute2's own __init__ imports all of it, which from a zip costs each start 0.2 s to compile what we never call.
_PYROUTE2_INIT = b"# Left empty by wulf: the agent imports the submodules that it needs.\n"
# Large parts of pyroute2 that reading links, addresses, qdiscs and ethtool settings does not need.
_PYROUTE2_UNUSED = frozenset(
    "bsd decoder dhcp ext fixtures inotify ipdb ndb nftables nslink plan9 wirouting".split()  # noqa: SIM905
)


def build(directory: Path) -> Path:
    """Build `wulf-agent` in `directory`, unless the one that is there was built from the same sources.

    The same sources give the same bytes under the same Python, so that a digest names them. Returns the file's path.
    Raises OSError if the directory can't be made or written, and ModuleNotFoundError without pyroute2.
    """
    target, stamp, seen = directory / NAME, directory / f"{NAME}.stamp", _seen()
    if _stamped(stamp) == (seen, _shape(target)):
        return target  # nothing was touched since: to read and check all of it would take each command 0.1 s
    contents = _contents()
    inputs = _digest(contents)
    if _built_from(target) != inputs:
        directory.mkdir(parents=True, exist_ok=True)
        replace(target, _SHEBANG + _zipped(contents, comment=inputs), 0o755)
    with suppress(OSError):
        stamp.write_text(f"{seen} {_shape(target)}\n", encoding="ascii")
    return target


def _seen() -> str:
    """Which sources there are, by name, size and time of change, and which Python packs them."""
    spec = importlib.util.find_spec("pyroute2")
    roots = [
        Path(__file__).resolve().parent,
        *(Path(place) for place in (spec and spec.submodule_search_locations) or ()),
    ]
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(path for root in roots for path in root.rglob("*.py")):
        digest.update(f"{path}\0{_shape(path)}\0".encode())
    digest.update(_shape(roots[0].parent / "__init__.py").encode())
    return digest.hexdigest()


def _shape(path: Path) -> str:
    """A file's size, time of change and number; empty where it is not there."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_size}-{found.st_mtime_ns}-{found.st_ino}"


def _stamped(stamp: Path) -> tuple[str, str] | None:
    """Of which sources the bundle was last seen to be made, and its shape then."""
    try:
        seen, _, shape = stamp.read_text(encoding="ascii").strip().partition(" ")
    except (OSError, UnicodeDecodeError):
        return None
    return (seen, shape) if shape else None


def _contents() -> dict[str, bytes]:
    """Every file of the bundle by its path in the zip, in order."""
    package = Path(__file__).resolve().parent
    files = {"__main__.py": _MAIN, "wulf/__init__.py": (package.parent / "__init__.py").read_bytes()}
    for path in package.rglob("*.py"):
        if path != Path(__file__).resolve():
            files[f"wulf/agent/{path.relative_to(package).as_posix()}"] = path.read_bytes()
    files.update(_pyroute2())
    return dict(sorted(files.items()))


def _pyroute2() -> dict[str, bytes]:
    """The parts of the installed pyroute2 that the agent needs, and its licence."""
    spec = importlib.util.find_spec("pyroute2")  # finds it without running it
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("pyroute2 is not installed here: pip install pyroute2", name="pyroute2")
    package = Path(spec.origin).parent
    found = {
        f"pyroute2/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in _PYROUTE2_UNUSED
    }
    found["pyroute2/__init__.py"] = _PYROUTE2_INIT
    for entry in importlib.metadata.distribution("pyroute2").files or []:  # None in a distribution's package
        if entry.parts[0].endswith(".dist-info") and entry.name.startswith(("LICENSE", "README.license")):
            found[entry.as_posix()] = Path(str(entry.locate())).read_bytes()
    return found


def _digest(contents: dict[str, bytes]) -> str:
    digest = hashlib.sha256(importlib.util.MAGIC_NUMBER + Path(__file__).read_bytes())  # who packs, and how
    for name, data in contents.items():
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()


def _compiled(contents: dict[str, bytes]) -> dict[str, bytes]:
    """The modules' code beside their sources, which halves the start on nodes of the same Python; others pass it over.

    Marked as not to be compared with the source (PEP 552), and written without references, whose number differs from
    process to process.
    """
    kept = {}
    for name, source in contents.items():
        if name.endswith(".py") and name != "__main__.py":
            code = marshal.dumps(compile(source, name, "exec", dont_inherit=True, optimize=0), 2)
            flags = (0b01).to_bytes(4, "little")
            kept[f"{name}c"] = importlib.util.MAGIC_NUMBER + flags + importlib.util.source_hash(source) + code
    return kept


def _zipped(contents: dict[str, bytes], comment: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = comment.encode()
        for name, data in (contents | _compiled(contents)).items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return made.getvalue()


def _built_from(path: Path) -> str | None:
    """Digest of the sources that a whole bundle was built from, as its comment says; None if it is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            return None if archive.testzip() else archive.comment.decode("ascii", "replace")
    except (OSError, zipfile.BadZipFile, zlib.error):
        return None

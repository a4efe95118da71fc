"""wulf-mpi's source as one file: what travels to the node that builds it. Standard library alone: the wheel's build
uses it, too.
"""

from __future__ import annotations

import functools
import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

NAME = "wulf-mpi-source.zip"

PATTERNS = ("mpi/*.[ch]pp", "mpi/*/*.[ch]pp", "mpi/plain/*/*.[ch]pp", "core/*/*.[ch]pp")
LEFT_OUT = ("core/session/program.cpp",)
"""The command line of the other programs: wulf-mpi's is MPI_Init's first."""

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip can name: files' own times would change the digest
_JSON = ("/usr/include", "/usr/local/include")


def pack(native: Path, json_folder: Path) -> bytes:
    """The zip of all that the compiler needs; the same sources give the same bytes.

    Parameters
    ----------
    native
        The folder of the native sources.
    json_folder
        Where nlohmann/json.hpp lies.
    """
    files = {str(path.relative_to(native)): path for pattern in PATTERNS for path in native.glob(pattern)}
    files |= {str(path.relative_to(json_folder)): path for path in (json_folder / "nlohmann").rglob("*.hpp")}
    return zipped({name: files[name].read_bytes() for name in set(files) - set(LEFT_OUT)})


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip of these files that depends on their names and contents alone."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return out.getvalue()


def json_folder(root: Path) -> Path:
    """Where this machine has nlohmann/json.hpp: what `make setup` unpacked, or the system's.

    Raises
    ------
    FileNotFoundError
        Nowhere.
    """
    for folder in (root / "build/sysroot/usr/include", *map(Path, _JSON)):
        if (folder / "nlohmann/json.hpp").is_file():
            return folder
    raise FileNotFoundError("nlohmann/json.hpp is not installed here (Debian: nlohmann-json3-dev)")


@functools.cache
def source() -> tuple[bytes, str]:
    """The source of this wulf, packed, and its digest: from the source tree, or as the wheel carries it.

    Raises
    ------
    FileNotFoundError
        Neither is there.
    """
    package = Path(__file__).resolve().parents[1]
    carried, root = package / "programs" / NAME, package.parents[1]
    if (root / "native/mpi").is_dir():
        data = pack(root / "native", json_folder(root))
    elif carried.is_file():
        data = carried.read_bytes()
    else:
        raise FileNotFoundError(f"this installation of wulf lacks {carried}, the source of wulf-mpi")
    return data, hashlib.sha256(data).hexdigest()

"""DUMPI of SST, as dumpi2ascii prints it: a file a rank.

The calls are in the text only where dumpi2ascii was told to print them (-S), and sizes of derived types where it was
told to print those (-X).

text            a block of lines a call, and what the text says elsewhere
communicators   who belongs to a communicator: the ranks' colours, keys and groups put together
rank            a rank's blocks → records
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from wulf.trace.errors import FormatError
from wulf.trace.imports import Imported
from wulf.trace.imports.building import notes_of, ranks_in, some, write_rank
from wulf.trace.imports.dumpi.communicators import members_of
from wulf.trace.imports.dumpi.rank import Rank
from wulf.trace.imports.dumpi.text import ahead
from wulf.trace.manifest import RANKS

HELP = "DUMPI, as dumpi2ascii prints each rank's file: *.txt or *.ascii."

PATTERN = "*-[0-9]*.[ta][xs]*"
_RANK = re.compile(r"-0*(\d+)\.[^.]*$")


def bring(paths: Sequence[Path], folder: Path) -> Imported:
    """A file a rank."""
    files = ranks_in(
        paths, PATTERN, "text of dumpi2ascii", _rank_of, "name all files of the run, each printed by dumpi2ascii"
    )
    texts = [ahead(path) for _, path in files]
    members = members_of(texts)
    left_out: Counter[str] = Counter()
    for (rank, path), text, made in zip(files, texts, members, strict=True):
        one = Rank(text, rank, len(files), made, left_out)
        first = list(some(one.records(), path, "print it with dumpi2ascii -SX: without -S it leaves the calls out"))
        header = {"rank": rank, "size": len(files), "host": text.host, "mpi": "DUMPI", "begin_realtime_ns": one.begin}
        write_rank(folder, header, first)
    return Imported(len(files), RANKS, notes_of(left_out))


def _rank_of(path: Path) -> int:
    match = _RANK.search(path.name)
    if match is None:
        raise FormatError(f"{path}: its name tells no rank", "DUMPI names them dumpi-DATE-0000.bin: keep the number")
    return int(match[1])

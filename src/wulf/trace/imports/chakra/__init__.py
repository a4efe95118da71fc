"""Chakra's execution traces of MLCommons: a file a rank, a graph of computing, messages and collectives each.

They become one GOAL schedule. Every node is an operation with the node's number for its label, and waits for all that
it depends on; a collective is messages between two operations of no time. What runs on the host, a thread each, what on
a stream of the device, and what goes over the network has a CPU of the rank to itself: CPUs work side by side.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from wulf.trace.errors import FormatError, writing
from wulf.trace.imports import Imported
from wulf.trace.imports.building import notes_by_kind, ranks_in
from wulf.trace.imports.chakra.collectives import Expand
from wulf.trace.imports.chakra.groups import Groups, read_groups
from wulf.trace.imports.chakra.schedule import Tags, write_rank
from wulf.trace.imports.chakra.survey import Survey
from wulf.trace.manifest import GOAL, SCHEDULE

HELP = "Chakra's execution traces, of MLCommons: *.et, one a rank, and perhaps a .json of process groups."

PATTERN = "*.et"
_RANK = re.compile(r"(\d+)\.et$")


def bring(paths: Sequence[Path], folder: Path, *, expand: Expand) -> Imported:
    """A file a rank, whose number ends its name: app.0.et. `expand` makes messages of a collective."""
    given = [path for path in paths if path.suffix == ".json" and not path.is_dir()]
    files = ranks_in(
        [path for path in paths if path not in given], PATTERN, "trace of Chakra", _rank_of, "name all files of the run"
    )
    groups, notes = Groups(len(files)), Counter[str]()
    for path in given:
        read_groups(path, groups)
    survey = Survey(groups, len(files), notes)
    for rank, path in files:
        survey.read(rank, path)
    survey.done()
    with writing(folder / SCHEDULE) as out:
        out.write(f"num_ranks {len(files)}\n")
        tags = Tags()
        for rank, path in files:
            write_rank(out, path, rank, survey, tags=tags, expand=expand)
    lowered = ["collectives are messages, by rings and trees (docs/how-to/trace.md)"] if survey.collectives else []
    return Imported(len(files), GOAL, [*lowered, *notes_by_kind(notes)])


def _rank_of(path: Path) -> int:
    match = _RANK.search(path.name)
    if match is None:
        raise FormatError(f"{path}: its name tells no rank", "Chakra's files end in the rank's number: app.0.et")
    return int(match[1][-9:])

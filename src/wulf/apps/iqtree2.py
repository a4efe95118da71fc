"""IQ-TREE 2: the most likely tree of sequences with bootstraps, which its MPI version deals out to the ranks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wulf.apps.driver import Check, Figure, Job, OutputReading
from wulf.apps.ran import WALL
from wulf.apps.sequences.evolution import alignment, names_in, phylip
from wulf.core.params import ParamSpec
from wulf.core.records import Param

NAME = "iqtree2"
HELP = "IQ-TREE 2 over MPI: bootstraps of a tree of sequences that were generated; wall time."
DOMAIN = "phylogenetics"
PROGRAMS = ("iqtree2-mpi", "iqtree-mpi", "iqtree2")
FIGURE = WALL
PARAMS = (
    ParamSpec("taxa", "int", "1", "Sequences.", 20, 4, 4000),
    ParamSpec("sites", "int", "1", "Length of each.", 600, 10, 1_000_000),
    ParamSpec("bootstraps", "int", "1", "Samples of the sites, each a tree to find; over all ranks.", 10, 1, 100_000),
    ParamSpec("threads", "int", "1", "Of each rank.", 1, 1, 4096),
    ParamSpec("seed", "int", "1", "Of the sequences, and of the search.", 7, 0, 2**31 - 1),
)  # fmt: skip

INPUT, PREFIX = "sequences.phy", "iqtree2"
TREE, LOG = f"{PREFIX}.treefile", f"{PREFIX}.log"

_SCORE = re.compile(r"BEST SCORE FOUND\s*:\s*(-?\d+\.?\d*)")
_SECONDS = re.compile(r"Total wall-clock time used:\s*(\d+\.?\d*)")
_VERSION = re.compile(r"IQ-TREE (?:MPI )?(?:multicore )?version (\S+)")
_TAXA = re.compile(r"Alignment has (\d+) sequences")


def job(program: str, params: Mapping[str, Param], ranks: int) -> Job:
    """One tree with its bootstraps."""
    seed = int(params["seed"] or 0)
    sequences = alignment(int(params["taxa"] or 0), int(params["sites"] or 0), seed)
    words = ["-s", INPUT, "-m", "HKY+G", "-b", str(params["bootstraps"]), "-seed", str(seed)]
    words += ["-nt", str(params["threads"]), "-pre", PREFIX, "-redo"]
    mpi = program.rpartition("/")[2].endswith("mpi")
    return Job((program, *words), {INPUT: phylip(sequences)}, mpi=mpi, outputs=(TREE, LOG))


def read(stdout: str, files: Mapping[str, str]) -> OutputReading:
    """The wall time is the figure; a right answer has a score, and all taxa in its tree."""
    text = files.get(LOG) or stdout
    score, seconds, version, taxa = (pattern.search(text) for pattern in (_SCORE, _SECONDS, _VERSION, _TAXA))
    wanted, found = int(taxa[1]) if taxa else 0, names_in(files.get(TREE, ""))
    checks = (
        Check("score", score is not None, f"log-likelihood {score[1] if score else 'missing'}"),
        Check("tree", wanted > 0 and found == wanted, f"the tree has {found} taxa of {wanted}"),
    )
    facts: dict[str, str | float] = {"log-likelihood": float(score[1])} if score else {}
    own = Figure("own time", "s", float(seconds[1]), "lower") if seconds else None
    return OutputReading((own,) if own else (), checks, facts | ({"version": version[1]} if version else {}))

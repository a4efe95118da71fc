"""PhyML: the most likely tree of sequences, and bootstraps of it, which its MPI version deals out to the ranks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wulf.apps.driver import Check, Job, OutputReading
from wulf.apps.ran import WALL
from wulf.apps.sequences.evolution import alignment, names_in, phylip
from wulf.core.errors import UsageError
from wulf.core.params import ParamSpec
from wulf.core.records import Param

NAME = "phyml"
HELP = "PhyML over MPI: bootstraps of a tree of sequences that were generated; wall time."
DOMAIN = "phylogenetics"
PROGRAMS = ("phyml-mpi", "phyml")
FIGURE = WALL
PARAMS = (
    ParamSpec("taxa", "int", "1", "Sequences.", 16, 4, 4000),
    ParamSpec("sites", "int", "1", "Length of each.", 600, 10, 1_000_000),
    ParamSpec("bootstraps", "int", "1", "Samples of the sites, each a tree to find; over all ranks.", 8, 1, 100_000),
    ParamSpec("seed", "int", "1", "Of the sequences, and of the search.", 7, 0, 2**31 - 1),
)  # fmt: skip

INPUT = "sequences.phy"
TREE, TREES, STATISTICS = (f"{INPUT}_phyml_{part}.txt" for part in ("tree", "boot_trees", "stats"))

_LIKELIHOOD = re.compile(r"Log-likelihood:\s+(-?\d+\.?\d*)")
_TAXA = re.compile(r"Number of taxa:\s+(\d+)")
_VERSION = re.compile(r"PhyML (\S+)")
_DONE = "Completed the bootstrap analysis succes"


def job(program: str, params: Mapping[str, Param], ranks: int) -> Job:
    """Every rank takes its share of the bootstraps: PhyML rounds their number up to a multiple of the ranks."""
    mpi = program.rpartition("/")[2].endswith("mpi")
    bootstraps = int(params["bootstraps"] or 1)
    if mpi and bootstraps < ranks:
        raise UsageError(
            f"bootstraps = {bootstraps} are fewer than the {ranks} ranks: some would have nothing to do",
            f"give --bootstraps {ranks} or more",
        )
    seed = int(params["seed"] or 0)
    sequences = alignment(int(params["taxa"] or 0), int(params["sites"] or 0), seed)
    words = ["-i", INPUT, "-d", "nt", "-m", "HKY85", "-s", "NNI", "-o", "tlr"]
    words += ["-b", str(bootstraps), "--r_seed", str(seed), "--no_memory_check"]
    return Job((program, *words), {INPUT: phylip(sequences)}, mpi=mpi, outputs=(TREE, TREES, STATISTICS))


def read(stdout: str, files: Mapping[str, str]) -> OutputReading:
    """The wall time is the figure; a right answer has all taxa in its tree, and bootstraps that were completed."""
    statistics, tree = files.get(STATISTICS, ""), files.get(TREE, "")
    taxa, likelihood = _TAXA.search(statistics), _LIKELIHOOD.search(statistics)
    wanted, found = int(taxa[1]) if taxa else 0, names_in(tree)
    checks = (
        Check("tree", wanted > 0 and found == wanted, f"the tree has {found} taxa of {wanted}"),
        Check("likelihood", likelihood is not None, f"log-likelihood {likelihood[1] if likelihood else 'missing'}"),
        Check("bootstraps", _DONE in stdout, f"bootstraps {'' if _DONE in stdout else 'not '}completed"),
    )
    facts: dict[str, str | float] = {"bootstrap trees": float(files.get(TREES, "").count(";"))}
    if likelihood:
        facts["log-likelihood"] = float(likelihood[1])
    version = _VERSION.search(statistics)
    return OutputReading((), checks, facts | ({"version": version[1]} if version else {}))

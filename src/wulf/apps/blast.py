"""NCBI BLAST+ over ranks, each with a volume of the database, as mpiBLAST split it; merged, and held against the whole.

mpiBLAST: Darling, Carey & Feng, "The design, implementation, and evaluation of mpiBLAST", ClusterWorld 2003.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.resources import files as resources

from wulf.apps.driver import Check, Figure, Job, OutputReading, number
from wulf.apps.sequences.evolution import AMINO_ACIDS, BASES, alignment, fasta
from wulf.apps.sequences.volumes import best
from wulf.core.errors import UsageError
from wulf.core.params import ParamSpec
from wulf.core.records import Param

NAME = "blast"
HELP = "NCBI BLAST+ with its database split over the ranks: seconds of the slowest; hits as of the whole database."
DOMAIN = "sequence search"
PROGRAMS = ("blastn", "blastp")
FIGURE = "time"
PARAMS = (
    ParamSpec("search", "str", "", "What is searched: nucleotides (blastn) or proteins (blastp).", "blastn",
              choices=PROGRAMS),
    ParamSpec("database", "str", "", "A FASTA file of yours, a path from / that all nodes have [one that is made]."),
    ParamSpec("queries", "str", "", "Likewise; goes with --database."),
    ParamSpec("families", "int", "1", "Of a database that is made: families of sequences, a query for each.", 20, 1,
              10_000),
    ParamSpec("members", "int", "1", "Sequences of a family, related by a tree.", 20, 4, 4000),
    ParamSpec("sites", "int", "1", "Length of each.", 500, 50, 100_000),
    ParamSpec("hits", "int", "1", "Best hits that are kept for each query.", 10, 1, 500),
    ParamSpec("evalue", "float", "1", "Hits with a higher E-value are left out.", 1e-3, 1e-100, 10),
    ParamSpec("whole", "bool", "", "The first rank searches the unsplit database, too: hits must be the same.", True),
    ParamSpec("seed", "int", "1", "Of the sequences.", 7, 0, 2**31 - 1),
)  # fmt: skip

SCRIPT, DATABASE, QUERIES = "volumes.py", "database.fa", "queries.fa"

MOST_LETTERS = 50_000_000
"""Of a database that is made: it travels to every node."""

BRANCH = {"blastn": 0.04, "blastp": 0.1}
"""Mean length of a branch of a family's tree, in substitutions a site: the farthest members are still found."""

_Hit = Sequence[str]


def programs_for(params: Mapping[str, Param]) -> tuple[str, ...]:
    """The one that is asked for."""
    return (str(params["search"]),)


def job(program: str, params: Mapping[str, Param], ranks: int) -> Job:
    """Our script on every rank; it starts makeblastdb and the search."""
    script = (resources("wulf.apps.sequences") / SCRIPT).read_text()
    database, queries, made = DATABASE, QUERIES, {}
    if params["database"] is None and params["queries"] is None:
        made = _made(params, ranks)
    else:
        database, queries = (_given(name, params[name]) for name in ("database", "queries"))
    # env(1) is at one place everywhere, and python3 is not
    words = ["/usr/bin/env", "python3", SCRIPT, program, str(ranks), str(params["hits"]), str(params["evalue"])]
    words += ["1" if params["whole"] else "0", database, queries]
    # each start would tell NCBI that it was started
    return Job(tuple(words), {SCRIPT: script, **made}, {"BLAST_USAGE_REPORT": "false"}, mpi=True)


def _given(name: str, path: Param) -> str:
    if not isinstance(path, str) or not path.startswith("/"):
        raise UsageError(
            f"{name} = {path!r} is no path from /: ranks run in a folder of their own on the nodes",
            "give both --database /path/to/it.fa and --queries /path/to/them.fa",
        )
    return path


def _made(params: Mapping[str, Param], ranks: int) -> dict[str, str]:
    """Database and queries: the last member of each family is the query, and not in the database."""
    families, members, sites, seed = (int(params[name] or 0) for name in ("families", "members", "sites", "seed"))
    if families * members < ranks:
        raise UsageError(
            f"{families * members} sequences are fewer than the {ranks} ranks: some would have nothing to search",
            "give more --families or --members",
        )
    if families * members * sites > MOST_LETTERS:
        raise UsageError(
            f"families × members × sites = {families * members * sites:,} is above {MOST_LETTERS:,} letters",
            "give a file that the nodes have: --database and --queries",
        )
    letters = AMINO_ACIDS if params["search"] == "blastp" else BASES
    branch = BRANCH[str(params["search"])]
    database: dict[str, str] = {}
    queries: dict[str, str] = {}
    for family in range(1, families + 1):
        evolved = alignment(members + 1, sites, seed * 10_000 + family, branch, letters)
        *others, last = (sequence for sequence in evolved.values())
        database |= {f"family{family:05d}_{i:04d}": sequence for i, sequence in enumerate(others, 1)}
        queries[f"query{family:05d}"] = last
    return {DATABASE: fasta(database), QUERIES: fasta(queries)}


def read(stdout: str, files: Mapping[str, str]) -> OutputReading:
    """The slowest rank's time is the figure; all volumes' hits, merged by score, must be the whole database's."""
    lines: dict[str, list[list[str]]] = defaultdict(list)
    for line in stdout.splitlines():
        kind, *words = line.split() or [""]
        lines[kind].append(words)
    ranks = [numbers for row in lines["rank"] if len(numbers := _numbers(row)) == 5]
    figures = _figures([(one[3], one[4]) for one in ranks])
    if not ranks:
        return OutputReading(figures)
    hits, whole = ([hit for hit in some if _is_hit(hit)] for some in ((r[1:] for r in lines["hit"]), lines["whole"]))
    wanted, said = int(ranks[0][1]), int(sum(one[2] for one in ranks))
    there = {one[0] for one in ranks} == set(range(wanted)) and said == len(hits)
    checks = [Check("volumes", there, f"{len(ranks)} ranks of {wanted} found {said} hits, {len(hits)} arrived")]
    facts: dict[str, str | float] = {"volumes": float(wanted), "hits of all volumes": float(said)}
    for row in lines["unsplit"][:1]:
        if len(numbers := _numbers(row)) == 4:
            checks.append(_same(hits, whole, most=int(numbers[0]), count=int(numbers[1])))
            facts["unsplit, s"] = numbers[2] + numbers[3]
    if lines["version"]:
        facts["version"] = " ".join(lines["version"][0])
    return OutputReading(figures, tuple(checks), facts)


def _numbers(row: Sequence[str]) -> list[float]:
    """The words that are numbers."""
    return [value for word in row if (value := number(word)) is not None]


def _is_hit(row: _Hit) -> bool:
    return len(row) == 6 and row[2].isdigit()


def _figures(seconds: Sequence[tuple[float, float]]) -> tuple[Figure, ...]:
    """The slowest rank's time, and its parts, each the longest of all ranks."""
    parts = {
        "time": [a + b for a, b in seconds], "formatting": [a for a, _ in seconds], "search": [b for _, b in seconds]
    }  # fmt: skip
    why = "" if seconds else "no rank says that it has searched its volume"
    return tuple(Figure(name, "s", max(each, default=None), "lower", why) for name, each in parts.items())


def _same(volumes: Sequence[_Hit], whole: Sequence[_Hit], *, most: int, count: int) -> Check:
    """Whether the best hits of all volumes are those of the whole: names, scores and E-values."""
    merged = best(volumes, most)
    differ = len({tuple(hit) for hit in merged} ^ {tuple(hit) for hit in whole}) + abs(count - len(whole))
    said = f"{len(merged)} merged hits, {count} of the unsplit database; in one of the two alone: {differ}"
    return Check("merged", differ == 0 and count > 0, said)

"""A database of sequences split over ranks, as mpiBLAST did: each rank searches a volume of it for all queries.

Travels to the nodes as it is, and so needs the standard library alone (Python >= 3.9):

    python3 volumes.py BLASTN RANKS HITS EVALUE WHOLE DATABASE QUERIES

Every rank takes each RANKS-th sequence. With WHOLE = 1 the first one searches the database in one piece afterwards. All
that is found goes to standard output: launchers forward what ranks print in pieces of some KiB, and those of several
ranks may be mixed; lines of one length end where a piece does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

RANK = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
"""Where launchers say a rank's number."""

LINE, PIECE = 128, 4096
"""Bytes of a line, and of a write: whole lines, so few that a pipe takes them at once (pipe(7), PIPE_BUF)."""

COLUMNS = "6 qseqid sseqid score evalue length nident"
"""Of a hit, as blastn(1) -outfmt names them: the raw score is a whole number, which no rounding can make differ."""

DEEPER = 10
"""So many times the hits that are wanted are asked for: the limit is applied before alignments have their last score
(Shah, Nute, Warnow & Pop 2019)."""

LEAST_DEPTH = 500
"""As BLAST+ has it by itself."""


def sequences(lines: Iterable[str]) -> Iterator[str]:
    """The records of a FASTA file, each with its line of name."""
    record: list[str] = []
    for line in lines:
        if line.startswith(">") and record:
            yield "".join(record)
            record = []
        record.append(line)
    if record:
        yield "".join(record)


def letters(record: str) -> int:
    """Of one record, its name left out."""
    return sum(len(line.strip()) for line in record.split("\n")[1:])


def best(hits: Iterable[Sequence[str]], most: int) -> list[Sequence[str]]:
    """Of each query the hits of the highest score; of equal ones, those whose names come first.

    Parameters
    ----------
    hits
        Rows of query, subject, score and more. The best of all volumes' best are those of the whole database.
    """
    by_query: dict[str, list[Sequence[str]]] = {}
    for hit in hits:
        by_query.setdefault(hit[0], []).append(hit)
    return [
        hit
        for query in sorted(by_query)
        for hit in sorted(by_query[query], key=lambda hit: (-int(hit[2]), hit[1]))[:most]
    ]


def padded(words: Sequence[object]) -> bytes:
    """A line; a longer one fills several."""
    text = " ".join(map(str, words)).encode()
    return text.ljust(-(-(len(text) + 1) // LINE) * LINE - 1) + b"\n"


def _say(lines: Iterable[Sequence[object]]) -> None:
    told = b"".join(map(padded, lines))
    for start in range(0, len(told), PIECE):
        os.write(1, told[start : start + PIECE])


def _output(words: Sequence[object]) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{words[0]} ended with status {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def _searched(
    program: Path, most: int, rest: Sequence[object], database: Path
) -> tuple[list[Sequence[str]], float, float]:
    """The best hits in a FASTA file, and the seconds that formatting and searching it took."""
    began = time.perf_counter()
    maker = program.with_name("makeblastdb")
    kind = "prot" if program.name == "blastp" else "nucl"
    _output([maker if maker.exists() else maker.name, "-in", database, "-dbtype", kind, "-out", database.stem])
    formatted = time.perf_counter()
    text = _output([program, "-db", database.stem, *rest])
    hits = best((line.split("\t") for line in text.splitlines()), most)
    return hits, formatted - began, time.perf_counter() - formatted


def main(words: Sequence[str], environment: Mapping[str, str]) -> None:
    """One rank's part."""
    program, ranks, most, evalue, whole = Path(words[0]), int(words[1]), int(words[2]), words[3], words[4] == "1"
    database, queries = Path(words[5]), Path(words[6])
    rank = next((int(environment[name]) for name in RANK if name in environment), 0)
    began = time.perf_counter()
    with database.open() as file:
        size = sum(map(letters, sequences(file)))
    volume = Path(f"volume{rank}.fa")
    with database.open() as file, volume.open("w") as own:
        own.writelines(islice(sequences(file), rank, None, ranks))
    with queries.open() as file:
        lengths = [letters(record) for record in sequences(file)]
    # -dbsize leaves out how many sequences there are, so that E-values of a volume would be others than the whole's
    space = size * max(1, sum(lengths) // max(1, len(lengths)))
    rest: list[object] = ["-query", queries, "-outfmt", COLUMNS, "-evalue", evalue, "-searchsp", space, "-max_hsps", 1]
    rest += ["-max_target_seqs", max(LEAST_DEPTH, DEEPER * most)]
    rest += ["-task", program.name] if program.name == "blastn" else []
    split = time.perf_counter() - began
    hits, formatting, searching = _searched(program, most, rest, volume)
    own_line = ["rank", rank, ranks, len(hits), f"{split + formatting:.6f}", f"{searching:.6f}"]
    _say([*(["hit", rank, *hit] for hit in hits), own_line])
    if rank == 0:
        _say([["version", *_output([program, "-version"]).split("\n")[0].split()[1:]]])
    if rank == 0 and whole:
        alone = Path("whole.fa")
        alone.symlink_to(database.absolute())
        hits, formatting, searching = _searched(program, most, rest, alone)
        _say(
            [*(["whole", *hit] for hit in hits), ["unsplit", most, len(hits), f"{formatting:.6f}", f"{searching:.6f}"]]
        )


if __name__ == "__main__":
    main(sys.argv[1:], os.environ)

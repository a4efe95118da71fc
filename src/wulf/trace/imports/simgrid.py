"""SimGrid's time-independent traces: what `smpirun -trace-ti` writes, and `smpirun -replay` takes.

    0 compute 1.2e+06      flops
    0 isend 1 7 5 0        to, tag, how many, of which type
    0 wait 0 1 7           from, to, tag of the request

A file names others, one a rank, or holds the actions itself, of one rank or of many. Computing is in flops, so that a
rate must be given to make time of it; calls of MPI take none. What a line does not tell (who sent to a receive from
anybody, which of several requests completed, on which communicator a collective is) is left open or guessed, aloud.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from wulf.trace.errors import FormatError
from wulf.trace.imports import Imported
from wulf.trace.imports.building import lines_of, notes_by_kind, write_rank
from wulf.trace.imports.simgrid_rank import Rank, Tested, is_known
from wulf.trace.manifest import RANKS
from wulf.trace.record import UNTIMED, Record
from wulf.trace.writer import RankWriter

HELP = "SimGrid's time-independent traces: the list of files that smpirun -replay takes, or the files."

FLOPS = 1e9
"""Operations a second, unless given: a nanosecond each, as our export writes them."""

MOST_NAMED, MOST_LETTERS = 3, 40
"""Files, or actions, that a message names, and letters of one."""

MOST_DIGITS = 10
"""Of a rank, less one."""

Line = tuple[int, int, list[str]]
"""Its number, its rank, and its words after that."""


def bring(paths: Sequence[Path], folder: Path, flops: float = FLOPS) -> Imported:
    """A list of files, files, or a folder of them.

    Parameters
    ----------
    flops
        What a host computes a second, in the unit of `compute`.
    """
    if not flops > 0:
        raise FormatError(f"a host of {flops:g} flops a second never ends computing", "give a rate above 0")
    files = [file for path in paths for file in _files(path)]
    tested = {file: _survey(file) for file in files}
    size = _whole(tested)
    notes: Counter[str] = Counter()
    for file, ranks in tested.items():
        made = {rank: Rank(rank, size, 1e9 / flops, known, notes) for rank, known in ranks.items()}
        _write(file, folder, size, made)
    return Imported(size, RANKS, notes_by_kind(notes))


def _files(path: Path) -> list[Path]:
    """The files of actions that a path stands for."""
    if path.is_dir():
        found = sorted(one for one in path.iterdir() if one.suffix in (".txt", ".ti") and not _listed(one))
        if not found:
            raise FormatError(f"{path}: no trace of SimGrid is there", "name the list that smpirun -replay takes")
        return found
    return _listed(path) or [path]


def _listed(path: Path) -> list[Path]:
    """The files that a list names, by its own folder or the current one; none where it is no list."""
    found = []
    for number, line in lines_of(path):
        words = line.split()
        if not words:
            continue
        if _is_rank(words[0]) or words[0].startswith("#"):
            return []
        place = next((one for one in (path.parent / words[0], Path(words[0])) if _is_file(one)), None)
        if place is None:
            raise FormatError(
                f"{path}:{number}: {line[:120]!r} is neither an action of SimGrid's nor a file that is there",
                "a list's names hold in its own folder, or where wulf is started",
            )
        found.append(place)
    return list(dict.fromkeys(found))


def _is_rank(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < MOST_DIGITS


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for one
        return False


def _lines(path: Path) -> Iterator[Line]:
    for number, line in lines_of(path):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if not _is_rank(words[0]) or len(words) == 1:
            raise FormatError(f"{path}:{number}: {line[:120]!r} is no action of SimGrid's", "was the file cut?")
        yield number, int(words[0]), words[1:]


def _survey(path: Path) -> dict[int, Tested]:
    """The ranks of a file, each with which of its tests found something."""
    found: dict[int, Tested] = {}
    unknown: list[str] = []
    some_known = False
    for number, rank, words in _lines(path):
        some_known = some_known or is_known(words[0])
        if not some_known and len(unknown) < MOST_NAMED:
            unknown.append(words[0])
        try:
            found.setdefault(rank, Tested()).take(number, words)
        except (ValueError, IndexError) as error:
            raise _bad(path, number, words, error) from error
    if unknown and not some_known:
        raise FormatError(
            f"{path}: none of its actions is known ({', '.join(word[:MOST_LETTERS] for word in unknown)})",
            "is it a trace that smpirun -trace-ti wrote?",
        )
    for known in found.values():
        known.end()
    return found


def _whole(tested: dict[Path, dict[int, Tested]]) -> int:
    """How many ranks there are: all from 0 on, each in one file. FormatError where that is not so."""
    places: dict[int, list[Path]] = {}
    for path, ranks in tested.items():
        for rank in ranks:
            places.setdefault(rank, []).append(path)
    twice = next(((rank, found) for rank, found in sorted(places.items()) if len(found) > 1), None)
    if twice is not None:
        raise FormatError(f"rank {twice[0]} stands in {twice[1][0]} and in {twice[1][1]}", "name the files of one run")
    absent = sorted(set(range(len(places))) - set(places))
    if absent or not places:
        where = ", ".join(str(path) for path in list(tested)[:MOST_NAMED])
        raise FormatError(f"{where}: the actions of ranks {absent[:5]} are missing: there are {len(places)} ranks",
                          "name the list of all files, or all files")  # fmt: skip
    return len(places)


def _write(path: Path, folder: Path, size: int, ranks: dict[int, Rank]) -> None:
    """The ranks of one file, side by side: their actions may stand in any order."""
    head = {"size": size, "host": "", "mpi": "SimGrid", "clock": UNTIMED}
    if len(ranks) == 1:
        ((rank, one),) = ranks.items()
        write_rank(folder, {**head, "rank": rank}, _records(path, {rank: one}))
        return
    with ExitStack() as stack:
        out = {rank: stack.enter_context(RankWriter(folder, {**head, "rank": rank})) for rank in ranks}
        for number, rank, words in _lines(path):
            out[rank].add_all(_taken(path, number, words, ranks[rank]))
        for rank, one in ranks.items():
            out[rank].add_all(_finished(path, one))


def _records(path: Path, ranks: dict[int, Rank]) -> Iterator[Record]:
    for number, rank, words in _lines(path):
        yield from _taken(path, number, words, ranks[rank])
    for one in ranks.values():
        yield from _finished(path, one)


def _taken(path: Path, number: int, words: list[str], rank: Rank) -> list[Record]:
    try:
        return list(rank.take(number, words))
    except (ValueError, IndexError, OverflowError) as error:
        raise _bad(path, number, words, error) from error


def _finished(path: Path, rank: Rank) -> list[Record]:
    try:
        return list(rank.end())
    except ValueError as error:
        raise FormatError(f"{path}: its end can't be read ({error})", "was it cut while it was written?") from error


def _bad(path: Path, number: int, words: list[str], error: Exception) -> FormatError:
    return FormatError(
        f"{path}:{number}: {' '.join(words)[:120]!r} is no action of SimGrid's ({error})",
        "was it cut while it was written? Remove the line if it is the last",
    )

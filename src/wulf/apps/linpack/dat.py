"""HPL.dat, the input of HPL: written, read back, and checked before any node is touched.

HPL's format is by line: each names its values first, one blank apart, then says what they are (HPL 2.3, HPL_pdinfo.c).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wulf.apps.linpack.size import Configuration, bytes_of_rank, grids_of, largest_n
from wulf.core.errors import UsageError
from wulf.core.units import show

MOST_VALUES = 20
"""HPL_MAX_PARAM: values that HPL takes of any kind."""

LONGEST_LINE = 250
"""Characters of a line that HPL reads (HPL_LINE_MAX less its end)."""

LINES = 31
"""Of a whole HPL.dat; HPCC's input goes on after them."""

_LISTS = (
    ("ns", "N", "problem sizes (N)", 1, None),
    ("nbs", "NB", "NBs", 1, None),
    ("pfacts", "PFACT", "panel fact", 0, 2),
    ("nbmins", "NBMIN", "recursive stopping criterium", 1, None),
    ("ndivs", "NDIV", "panels in recursion", 2, None),
    ("rfacts", "RFACT", "recursive panel fact.", 0, 2),
    ("bcasts", "BCAST", "broadcast", 0, 5),
    ("depths", "DEPTH", "lookahead depth", 0, None),
)
"""Field, HPL's name, what the line of its count says, and the least and the largest value that HPL takes as it is."""

_SWITCHES = (("pmap", "PMAP", 1), ("swap", "SWAP", 2), ("l1", "L1", 1), ("u", "U", 1), ("equil", "EQUIL", 1))
"""Field, name and largest value of what is one number from 0."""


@dataclass(frozen=True)
class HplDat:
    """The contents of an HPL.dat; the defaults are those of HPCC's example, but for NB.

    Parameters
    ----------
    ns, nbs
        Rows of the matrix, and of its blocks.
    grids
        (P, Q): rows and columns of the grid of ranks.
    pmap
        Ranks laid into the grid by rows (0) or by columns (1).
    threshold
        Residual from which on an answer is wrong.
    swap, swap_threshold
        Rows exchanged by binary exchange (0), spread and roll (1), or the first up to that many columns (2).
    l1, u
        Whether L1 and U are stored transposed (0) or not (1).
    equil
        Equilibration (1) or none (0).
    align
        Of the memory, in doubles.
    """

    ns: tuple[int, ...]
    nbs: tuple[int, ...] = (192,)
    grids: tuple[tuple[int, int], ...] = ((1, 1),)
    pfacts: tuple[int, ...] = (2,)
    nbmins: tuple[int, ...] = (4,)
    ndivs: tuple[int, ...] = (2,)
    rfacts: tuple[int, ...] = (1,)
    bcasts: tuple[int, ...] = (1,)
    depths: tuple[int, ...] = (1,)
    pmap: int = 0
    swap: int = 2
    swap_threshold: int = 64
    l1: int = 0
    u: int = 0
    equil: int = 1
    align: int = 8
    threshold: float = 16.0

    def __post_init__(self) -> None:
        for name, label, _, least, most in _LISTS:
            _check_list(label, getattr(self, name), least, most)
        _check_list("P", [p for p, _ in self.grids], 1, None)
        _check_list("Q", [q for _, q in self.grids], 1, None)
        for name, label, most in _SWITCHES:
            _check_value(label, getattr(self, name), 0, most)
        _check_value("the swapping threshold", self.swap_threshold, 0, None)
        _check_value("the memory alignment", self.align, 1, None)
        if not 0 < self.threshold < math.inf:
            raise UsageError(
                f"HPL.dat: the threshold is {self.threshold:g}, with which HPL checks no residual",
                "16.0 is usual: an answer that nobody checked is no result",
            )

    def text(self) -> str:
        """The file, with its results on standard output; 31 lines."""
        rows: list[tuple[str, str]] = [
            ("HPL.out", "output file name (if any)"),
            ("6", "device out (6=stdout,7=stderr,file)"),
            *self._list("ns", "Ns"),
            *self._list("nbs", "NBs"),
            (str(self.pmap), "PMAP process mapping (0=Row-,1=Column-major)"),
            (str(len(self.grids)), "# of process grids (P x Q)"),
            (_joined(p for p, _ in self.grids), "Ps"),
            (_joined(q for _, q in self.grids), "Qs"),
            (f"{self.threshold:.12g}", "threshold"),
            *self._list("pfacts", "PFACTs (0=left, 1=Crout, 2=Right)"),
            *self._list("nbmins", "NBMINs (>= 1)"),
            *self._list("ndivs", "NDIVs"),
            *self._list("rfacts", "RFACTs (0=left, 1=Crout, 2=Right)"),
            *self._list("bcasts", "BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)"),
            *self._list("depths", "DEPTHs (>=0)"),
            (str(self.swap), "SWAP (0=bin-exch,1=long,2=mix)"),
            (str(self.swap_threshold), "swapping threshold"),
            (str(self.l1), "L1 in (0=transposed,1=no-transposed) form"),
            (str(self.u), "U  in (0=transposed,1=no-transposed) form"),
            (str(self.equil), "Equilibration (0=no,1=yes)"),
            (str(self.align), "memory alignment in double (> 0)"),
        ]
        lines = ["HPLinpack benchmark input file", "Innovative Computing Laboratory, University of Tennessee"]
        return "\n".join([*lines, *(f"{values:<12} {what}" for values, what in rows)]) + "\n"

    def _list(self, name: str, what: str) -> list[tuple[str, str]]:
        values = getattr(self, name)
        counted = next(row[2] for row in _LISTS if row[0] == name)
        return [(str(len(values)), f"# of {counted}"), (_joined(values), what)]

    def configurations(self) -> list[Configuration]:
        """Every run that the file asks for, in HPL's own order: the last kind named in its loops changes fastest."""
        return [
            Configuration(n, nb, p, q, self.pmap, depth, bcast, rfact, ndiv, pfact, nbmin)
            for (p, q), n, nb, depth, bcast, rfact, pfact, nbmin, ndiv in itertools.product(
                self.grids, self.ns, self.nbs, self.depths, self.bcasts, self.rfacts, self.pfacts, self.nbmins,
                self.ndivs,
            )
        ]  # fmt: skip

    def single(self, one: Configuration) -> HplDat:
        """The same file for one configuration alone."""
        return replace(
            self, ns=(one.n,), nbs=(one.nb,), grids=((one.p, one.q),), depths=(one.depth,), bcasts=(one.bcast,),
            rfacts=(one.rfact,), ndivs=(one.ndiv,), pfacts=(one.pfact,), nbmins=(one.nbmin,), pmap=one.pmap,
        )  # fmt: skip

    def check(self, ranks: int, memory: Mapping[str, int] | None = None) -> None:
        """Whether so many ranks can run it, and it fits.

        Parameters
        ----------
        memory
            Bytes of each node that has ranks; None: it is not known, and not checked. Ranks lie evenly over nodes.

        Raises
        ------
        UsageError
            P x Q is not the number of ranks, a block is larger than the matrix, or the matrix does not fit.
        """
        for p, q in self.grids:
            if p * q != ranks:
                fits = ", ".join(f"{a} x {b}" for a, b in grids_of(ranks))
                raise UsageError(
                    f"P x Q = {p} x {q} is {p * q} ranks, and {ranks} are to be started", f"grids of {ranks}: {fits}"
                )
        if max(self.nbs) > min(self.ns):
            raise UsageError(
                f"NB = {max(self.nbs)} is larger than N = {min(self.ns)}: one rank would have all of the matrix",
                "NB from 32 to 512 is usual, and N many times as large",
            )
        if memory:
            self._check_memory(ranks, memory)

    def _check_memory(self, ranks: int, memory: Mapping[str, int]) -> None:
        share = math.ceil(ranks / len(memory))
        worst = max(self.configurations(), key=bytes_of_rank)
        need = share * bytes_of_rank(worst)
        short = {node: has for node, has in memory.items() if has < need}
        if short:
            node, has = min(short.items(), key=lambda item: item[1])
            each = f"{share} {'ranks' if share > 1 else 'rank'} of {show(bytes_of_rank(worst), 'B')}"
            raise UsageError(
                f"N = {worst.n} needs {need} B on each node ({each}); {node} has {has} B ({show(has, 'B')}) of memory",
                f"at most N = {largest_n(worst, ranks, memory)} fits with NB = {worst.nb} on "
                f"P x Q = {worst.p} x {worst.q}",
            )


def _check_list(label: str, values: Sequence[int], least: int, most: int | None) -> None:
    if not 1 <= len(values) <= MOST_VALUES:
        raise UsageError(f"HPL.dat: {len(values)} values of {label}", f"HPL takes from 1 to {MOST_VALUES}")
    for value in values:
        _check_value(label, value, least, most)
    if len(_joined(values)) > LONGEST_LINE:
        raise UsageError(f"HPL.dat: the line of {label} is too long", f"HPL reads {LONGEST_LINE} characters of a line")


def _check_value(label: str, value: int, least: int, most: int | None) -> None:
    if not isinstance(value, int) or value < least or (most is not None and value > most):
        limit = f"at least {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"HPL.dat: {label} = {value!r}", f"a whole number, {limit}")


def _joined(values: Iterable[int]) -> str:
    return " ".join(map(str, values))


def parse(text: str) -> HplDat:
    """An HPL.dat, as it is meant.

    Values may be several blanks apart, which HPL itself misreads; what `text` writes is one blank apart.

    Raises
    ------
    UsageError
        Names the line and what is wrong with it.
    """
    reader = _Reader(text)
    for _ in range(4):  # title, author, file, device: results are read from standard output
        reader.line("the head")
    given: dict[str, Any] = {}
    for name, label, read in _ORDER:
        given[name] = getattr(reader, read)(label)
    return HplDat(**given)


_ORDER = (
    ("ns", "N", "numbers"),
    ("nbs", "NB", "numbers"),
    ("pmap", "PMAP", "number"),
    ("grids", "P x Q", "pairs"),
    ("threshold", "threshold", "real"),
    ("pfacts", "PFACT", "numbers"),
    ("nbmins", "NBMIN", "numbers"),
    ("ndivs", "NDIV", "numbers"),
    ("rfacts", "RFACT", "numbers"),
    ("bcasts", "BCAST", "numbers"),
    ("depths", "DEPTH", "numbers"),
    ("swap", "SWAP", "number"),
    ("swap_threshold", "swapping threshold", "number"),
    ("l1", "L1", "number"),
    ("u", "U", "number"),
    ("equil", "equilibration", "number"),
    ("align", "memory alignment", "number"),
)
"""Field, HPL's name, and how it is read: the order of the lines."""


class _Reader:
    """The lines of a file, one after the other."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._at = 0

    def line(self, what: str) -> str:
        if self._at >= len(self._lines):
            raise UsageError(
                f"HPL.dat ends after {self._at} lines, where {what} should stand", f"a whole one has {LINES}"
            )
        self._at += 1
        return self._lines[self._at - 1]

    def _words(self, what: str, count: int) -> list[str]:
        words = self.line(what).split()[:count]
        if len(words) < count:
            raise UsageError(
                f"HPL.dat, line {self._at}: {len(words)} of {count} values of {what}",
                "the line before says how many there are" if count > 1 else "",
            )
        return words

    def number(self, what: str) -> int:
        return self._whole(what, self._words(what, 1))[0]

    def real(self, what: str) -> float:
        word = self._words(what, 1)[0]
        try:
            return float(word)
        except ValueError:
            raise UsageError(f"HPL.dat, line {self._at}: {what} = {word!r} is not a number") from None

    def numbers(self, what: str) -> tuple[int, ...]:
        count = self.count(what)
        return self._whole(what, self._words(what, count))

    def count(self, what: str) -> int:
        count = self.number(f"how many values of {what}")
        if not 1 <= count <= MOST_VALUES:
            raise UsageError(
                f"HPL.dat, line {self._at}: {count} values of {what}", f"HPL takes from 1 to {MOST_VALUES}"
            )
        return count

    def pairs(self, what: str) -> tuple[tuple[int, int], ...]:
        count = self.count(what)
        ps, qs = (self._whole(what, self._words(what, count)) for what in ("P", "Q"))
        return tuple(zip(ps, qs, strict=True))

    def _whole(self, what: str, words: Sequence[str]) -> tuple[int, ...]:
        try:
            return tuple(int(word) for word in words)
        except ValueError:
            raise UsageError(
                f"HPL.dat, line {self._at}: {what} = {' '.join(words)!r}", "whole numbers, a blank apart"
            ) from None

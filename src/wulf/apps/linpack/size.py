"""One configuration of HPL, what memory it takes, and the sizes and grids that fit a cluster."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

DOUBLE = 8

FACTORISATIONS = "LCR"
"""PFACT and RFACT 0, 1, 2 as HPL's output writes them: left-looking, Crout, right-looking."""


@dataclass(frozen=True)
class Configuration:
    """One run of HPL: one value of each kind. P x Q is the grid of ranks."""

    n: int
    nb: int
    p: int
    q: int
    pmap: int
    depth: int
    bcast: int
    rfact: int
    ndiv: int
    pfact: int
    nbmin: int

    @property
    def variant(self) -> str:
        """As HPL's output encodes it under T/V: WR11C2R4."""
        order, rfact, pfact = "RC"[self.pmap], FACTORISATIONS[self.rfact], FACTORISATIONS[self.pfact]
        return f"W{order}{self.depth}{self.bcast}{rfact}{self.ndiv}{pfact}{self.nbmin}"


def local_length(n: int, nb: int, index: int, parts: int) -> int:
    """Rows (or columns) of n that part `index` of `parts` has, dealt out in blocks of nb, the first to part 0.

    ScaLAPACK's NUMROC.
    """
    blocks, rest = divmod(n, nb)
    own = blocks // parts + (index < blocks % parts)
    return own * nb + (rest if blocks % parts == index else 0)


def bytes_of_rank(one: Configuration) -> int:
    """Memory of the rank that has most: its part of the matrix with the right-hand side, and the panels.

    A panel holds its part of L, the block on the diagonal, and its part of U; there is one more than the look-ahead is
    deep (HPL_pdpanel_init.c).
    """
    rows = max(local_length(one.n, one.nb, i, one.p) for i in range(min(one.p, 2)))
    columns = max(local_length(one.n, one.nb, i, one.q) for i in range(min(one.q, 2)))
    panel = one.nb * (rows + one.nb + columns)
    return DOUBLE * ((rows + 1) * (columns + 1) + (one.depth + 1) * panel)


def largest_n(like: Configuration, ranks: int, memory: Mapping[str, int]) -> int:
    """The largest N, a multiple of NB, that fits the node with the least memory; 0: none."""
    share = math.ceil(ranks / len(memory))
    room = min(memory.values()) / share

    def blocks_fit(blocks: int) -> bool:
        return bytes_of_rank(replace(like, n=blocks * like.nb)) <= room

    blocks = int(math.sqrt(room * like.p * like.q / DOUBLE)) // like.nb + 1
    while blocks > 0 and not blocks_fit(blocks):
        blocks -= 1
    return blocks * like.nb


def size_for(memory: Mapping[str, int], nb: int, share: float) -> int:
    """N whose matrix takes this share of the nodes' memory, a multiple of NB: sqrt(share · memory / 8).

    The node with the least memory counts for all, since ranks share the matrix evenly.
    """
    total = min(memory.values()) * len(memory)
    return max(1, int(math.sqrt(share * total / DOUBLE)) // nb) * nb


def grids_of(ranks: int) -> list[tuple[int, int]]:
    """Every P x Q of so many ranks, P <= Q first, the squarest first."""
    flat = [(p, ranks // p) for p in range(1, math.isqrt(ranks) + 1) if ranks % p == 0][::-1]
    return [*flat, *((q, p) for p, q in flat if p != q)]

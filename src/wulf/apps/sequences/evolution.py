"""Input that is real work for programs of biology: sequences that evolved along a random tree, the same for one seed.

The tree grows by splitting a tip drawn at random (Yule's process); along each branch sites change as Jukes and Cantor
have it (1969): all substitutions alike, with probability 3/4·(1 − e^(−4/3·t)) for a branch of t substitutions a site;
of k letters, as many as amino acids have, (k−1)/k takes the place of 3/4.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from math import expm1

from wulf.core.errors import UsageError

BASES = "ACGT"
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"

BRANCH = 0.04
"""Mean length of a branch, in substitutions a site: the tips still resemble each other, the tree is not obvious."""

LEAST_TAXA, LEAST_SITES = 4, 10
"""Three sequences have one tree only; ten sites say nothing yet, but are read by every program."""


def alignment(taxa: int, sites: int, seed: int, branch: float = BRANCH, letters: str = BASES) -> dict[str, str]:
    """Name → sequence, all of one length.

    Parameters
    ----------
    branch
        Mean length of a branch [substitutions a site].
    letters
        Of which the sequences are made, all alike.

    Raises
    ------
    UsageError
        So few that there is no tree to find.
    """
    for name, value, least in (("taxa", taxa, LEAST_TAXA), ("sites", sites, LEAST_SITES)):
        if value < least:
            raise UsageError(f"{name} = {value} leaves no tree to be found", f"give at least {least}")
    draws = random.Random(seed)  # noqa: S311 - the same data for the same seed, nothing secret
    tips = ["".join(draws.choices(letters, k=sites))]
    while len(tips) < taxa:
        parent = tips.pop(draws.randrange(len(tips)))
        tips += [_evolved(parent, draws.expovariate(1 / branch), draws, letters) for _ in range(2)]
    last = [_evolved(tip, draws.expovariate(1 / branch), draws, letters) for tip in tips]
    return {f"taxon{number:05d}": tip for number, tip in enumerate(last, 1)}


def _evolved(sequence: str, length: float, draws: random.Random, letters: str) -> str:
    """The sequence at the other end of a branch."""
    share = (len(letters) - 1) / len(letters)
    changed = -share * expm1(-length / share)
    sites = list(sequence)
    for place, letter in enumerate(sites):
        if draws.random() < changed:
            sites[place] = draws.choice(letters.replace(letter, ""))
    return "".join(sites)


def phylip(sequences: dict[str, str]) -> str:
    """As PhyML and IQ-TREE read it: names of ten characters, then the sequence, a line each."""
    length = len(next(iter(sequences.values())))
    rows = [f"{name:<10}  {sequence}" for name, sequence in sequences.items()]
    return "\n".join([f" {len(sequences)} {length}", *rows, ""])


def fasta(sequences: Mapping[str, str]) -> str:
    """As BLAST and most others read them: a line of name, a line of sequence."""
    return "".join(f">{name}\n{sequence}\n" for name, sequence in sequences.items())


def names_in(tree: str) -> int:
    """How many of our taxa a tree in Newick's notation has."""
    return tree.count("taxon")

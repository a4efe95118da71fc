"""Sequences that evolved: the same for one seed, of the wanted size, related as a tree has it."""

from math import exp

import pytest

from wulf.apps.sequences.evolution import BASES, alignment, names_in, phylip
from wulf.core.errors import UsageError


def differing(a, b):
    return sum(x != y for x, y in zip(a, b, strict=True)) / len(a)


def test_the_same_seed_gives_the_same_sequences_whatever_python_runs():
    first = alignment(5, 30, seed=1)
    assert first == alignment(5, 30, seed=1)
    assert first != alignment(5, 30, seed=2)
    assert list(first) == [f"taxon{number:05d}" for number in range(1, 6)]
    assert first["taxon00001"] == "ATTCCCGTAATCTACGAATAAGTCACAATC"


def test_sizes_and_letters():
    made = alignment(12, 100, seed=3)
    assert {len(sequence) for sequence in made.values()} == {100}
    assert set("".join(made.values())) <= set(BASES)
    lines = phylip(made).splitlines()
    assert lines[0].split() == ["12", "100"]
    assert lines[1] == f"taxon00001  {made['taxon00001']}"
    assert names_in("(taxon00001,(taxon00002,taxon00003));") == 3


def test_a_branch_changes_as_many_sites_as_jukes_and_cantor_have_it(monkeypatch):
    monkeypatch.setattr("random.Random.expovariate", lambda *_: 0.1)
    # of four taxa the closest are cherries: two branches from their last split, 0.1 each, and 0.1 more to the tips
    made = list(alignment(4, 40_000, seed=1).values())
    closest = min(differing(a, b) for i, a in enumerate(made) for b in made[:i])
    assert closest == pytest.approx(0.75 * (1 - exp(-4 / 3 * 0.4)), abs=0.01)


def test_relatives_differ_less_than_strangers():
    made = list(alignment(10, 2000, seed=5).values())
    distances = sorted(differing(a, b) for i, a in enumerate(made) for b in made[:i])
    assert 0 < distances[0] < 0.5 * distances[-1] < 0.4


@pytest.mark.parametrize(("taxa", "sites", "field"), [(3, 100, "taxa = 3"), (10, 5, "sites = 5")])
def test_too_few_are_refused(taxa, sites, field):
    with pytest.raises(UsageError, match=field):
        alignment(taxa, sites, seed=1)

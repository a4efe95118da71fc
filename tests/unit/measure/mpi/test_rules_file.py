"""Files of algorithms: written and read back, each rule fenced in."""

from __future__ import annotations

import pytest

from tests.rules_file import read_rules
from wulf.core.errors import UsageError
from wulf.measure.mpi.algorithms import Choice, choice_of
from wulf.measure.mpi.rules_file import Rule, ranges, read_variables, write_rules


def choice(kind: str) -> Choice:
    found = choice_of(kind)
    assert found is not None
    return found


RULES = [
    Rule("allreduce", 4, 90, 8192, "recursive_doubling"),
    Rule("alltoall", 4, 4, 16, "modified_bruck"),
    Rule("alltoall", 4, 16, 100, "pairwise"),
    Rule("bcast", 8, 1000, 2000, "chain"),
]


def numbers(text: str) -> list[int]:
    return [int(word) for line in text.splitlines() for word in line.partition("#")[0].split()]


def test_a_rule_is_fenced_in_by_ranks_and_sizes() -> None:
    text = write_rules([RULES[0]], choice("openmpi"), ["Open MPI 4.1.4, 4 ranks"])
    assert text.startswith("# Open MPI 4.1.4, 4 ranks\n")
    # one collective, number 2: below 4 ranks the MPI's own choice, on 4 ranks three sizes, from 5 ranks on its own
    assert numbers(text) == [
        1, 2, 3,
        0, 1, 0, 0, 0, 0,
        4, 3, 0, 0, 0, 0, 90, 3, 0, 0, 8192, 0, 0, 0,
        5, 1, 0, 0, 0, 0,
    ]  # fmt: skip


def test_sizes_are_those_that_open_mpi_counts() -> None:
    """Of an alltoall it counts what a rank sends to all, where wulf counts what it sends to each."""
    assert numbers(write_rules([RULES[1]], choice("openmpi")))[9:] == [
        4, 3, 0, 0, 0, 0, 16, 3, 0, 0, 64, 0, 0, 0, 5, 1, 0, 0, 0, 0
    ]  # fmt: skip


def test_what_an_algorithm_needs_goes_with_it() -> None:
    assert "1000 2 4 65536 # chain" in write_rules([RULES[3]], choice("openmpi"))


def test_what_is_written_is_read_back() -> None:
    assert read_rules(write_rules(RULES, choice("openmpi")), choice("openmpi")) == sorted(RULES)
    ours = [Rule("allreduce", 0, 0, None, "reduce_scatter_allgather"), Rule("bcast", 0, 0, None, "binomial")]
    text = write_rules(ours, choice("mpich"), ["MPICH 4.0.2"])
    assert read_rules(text, choice("mpich")) == sorted(ours)
    assert read_variables(text) == {
        "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "reduce_scatter_allgather",
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM": "binomial",
    }


@pytest.mark.parametrize("text", ["nonsense", "=value", "NAME="])
def test_variables_that_are_wrong(text: str) -> None:
    with pytest.raises(UsageError, match=f"line 2 is '{text}', not NAME=VALUE"):
        read_variables(f"# MPICH 4.0.2\n{text}")


def test_a_size_speaks_for_those_up_to_half_way() -> None:
    assert ranges({64: "a"}, [4, 64, 1024]) == [(17, 257, "a")]
    assert ranges({4: "a"}, [4, 64]) == [(1, 17, "a")]
    assert ranges({64: "a"}, [4, 64]) == [(17, 256, "a")]
    assert ranges({64: "a"}, [64]) == [(32, 128, "a")]
    assert ranges({4: "a", 64: "a", 1024: "b"}, [4, 64, 1024]) == [(1, 257, "a"), (257, 4096, "b")]


@pytest.mark.parametrize("kind", ["openmpi", "mpich"])
def test_every_algorithm_can_be_forced_and_kept(kind: str) -> None:
    known = choice(kind)
    for op, collective in known.collectives.items():
        names = [one.name for one in known.candidates(op, 2)]
        assert len(names) == len(set(names)) > 0
        for one in collective.algorithms:
            forced = known.forced(op, one.name)
            assert all("{" not in word for item in forced.items() for word in item)
            end = None if kind == "mpich" else 8
            rule = Rule(op, 0 if kind == "mpich" else 2, 0 if kind == "mpich" else 1, end, one.name)
            assert read_rules(write_rules([rule], known), known) == [rule]


def test_two_ranks_have_algorithms_of_their_own() -> None:
    known = choice("openmpi")
    assert "two_proc" in {one.name for one in known.candidates("alltoall", 2)}
    assert "two_proc" not in {one.name for one in known.candidates("alltoall", 4)}
    assert known.candidates("barrier", 4) == ()
    assert choice_of("intel") is None

"""Which tests run when: tests/running/shards.toml, and what CI takes in turn."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from tests.running import shards
from tests.running.shards import Shard, in_turn, lines, read, run, shard_of
from tests.running.tiers import LIMITS, over_limit, together

A = Shard("a", "lab tests", tests=("lab/*",), workers=1)
B = Shard("b", "the machine to themselves", alone=True)
C = Shard("c", "builds", commands=("make x", "make y"))


def test_as_many_landings_as_shards_run_them_all() -> None:
    known = read()
    assert {in_turn(known, commits).name for commits in range(540, 540 + len(known))} == {s.name for s in known}
    assert len(known) <= 10


def test_a_test_belongs_to_the_first_shard_that_has_its_file() -> None:
    known = [Shard("first", "", tests=("lab/test_x*",)), A, B]
    assert [shard_of(f"lab/{name}.py", alone=False, known=known) for name in ("test_xy", "test_y")] == ["first", "a"]
    assert shard_of("lab/test_x.py", alone=True, known=known) == "b"
    assert shard_of("unit/test_x.py", alone=False, known=known) is None


def test_every_target_of_a_shard_is_one_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (shards.ROOT / "Makefile").read_text(), re.M))
    used = {target for shard in read() for line in shard.commands for target in re.findall(r"make ([a-z-]+)", line)}
    assert used and used <= targets


def test_every_pattern_has_tests() -> None:
    tests = shards.ROOT / "tests"
    missing = [p for shard in read() for p in shard.tests if not any(f.suffix == ".py" for f in tests.rglob(p))]
    assert missing == []


def test_what_fails_is_told_and_the_others_run(capsys: pytest.CaptureFixture[str]) -> None:
    ran: list[Sequence[str]] = []

    def execute(command: Sequence[str]) -> int:
        ran.append(command)
        return {"make x": 2}.get(command[-1], 0)

    ticks = iter(range(0, 60, 10))
    assert run([C, A, B], [], execute, lambda: next(ticks)) == ["shard c: make x (2)"]
    assert [command[-1] for command in ran[:2]] == ["make x", "make y"]
    assert [command[command.index("-n") + 1] for command in ran[2:]] == ["1", "auto"]
    assert re.findall(r"shard (\w) took (\d+) s", capsys.readouterr().out) == [("c", "10"), ("a", "10"), ("b", "10")]


def test_words_are_for_pytest_and_may_leave_nothing() -> None:
    (plain,) = lines(A, "python", [])
    (told,) = lines(A, "python", ["-k", "x"])
    assert plain[1] == (0,) and told[1] == (0, shards.NOTHING_FOUND)
    assert told[0] == [*plain[0], "-k", "x"]


def test_an_unknown_shard_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert shards.main(["labs", "lobs"]) == 2
    told = capsys.readouterr().err
    assert "lobs" in told and "labs, " in told


@pytest.mark.parametrize("tier", LIMITS)
def test_what_takes_longer_than_its_tier_may_is_named(tier: str) -> None:
    limit = LIMITS[tier]
    taken = {f"tests/{tier}/test_a.py::test_b": limit + 0.1, f"tests/{tier}/test_a.py::test_c": limit, "other": 900.0}
    assert list(over_limit(taken)) == [(f"tests/{tier}/test_a.py::test_b", limit + 0.1, limit)]


def test_what_is_alone_runs_one_at_a_time() -> None:
    assert [shard.workers for shard in read() if shard.alone] == [0]


def test_a_file_stays_on_one_worker_but_for_lab_tests_that_share_nothing_of_it() -> None:
    shares, alone = "tests/lab/tune/test_audit.py", "tests/lab/test_commands.py"
    assert together(f"{shares}::test_a") == shares
    assert together(f"{alone}::test_a[b]") == f"{alone}::test_a[b]"
    assert together("tests/unit/stats/curves/test_edges.py::test_a") == "tests/unit/stats/curves/test_edges.py"

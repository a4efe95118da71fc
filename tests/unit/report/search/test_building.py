"""What a search built, and what is said of MPI, compiler and BLAS together."""

from __future__ import annotations

from typing import Any

import pytest

from wulf.report.search.building import building_sections, not_built

BUILDS: list[dict[str, Any]] = [
    {"values": {"mpi": "a", "compiler": "gcc"}, "path": "/c/1", "reason": "", "kept": True, "seconds": 0.0},
    {"values": {"mpi": "a", "compiler": "clang"}, "path": "/c/2", "reason": "", "kept": False, "seconds": 12.0},
    {"values": {"mpi": "b", "compiler": "gcc"}, "path": None, "reason": "no mpi.h", "kept": False, "seconds": 0.0},
]


def compared(ratio: float, *, judgement: str = "inconclusive", proven: bool = False) -> dict[str, Any]:
    ends = {"speedup": 1 / ratio, "speedup_low": 1 / ratio / 1.01, "speedup_high": 1.01 / ratio}
    return {"ratio": ratio, "judgement": judgement, "proven": proven, **ends}


def interaction(together: dict[str, Any] | None, names: tuple[str, str] = ("mpi", "compiler")) -> dict[str, Any]:
    alone = [None, None] if together is None else [compared(1.25), compared(0.8)]
    return {"names": list(names), "values": [["a", "b"], ["gcc", "clang"]], "alone": alone, "together": together}


def sections(*joint: dict[str, Any]) -> dict[str, Any]:
    found = building_sections({"builds": BUILDS, "joint": list(joint), "delta": 0.02})
    return {section.heading: section for section in found}


def test_every_build_is_there_with_how_long_it_took() -> None:
    built = sections()["Built"]
    assert built.lines == ["3 combinations; 1 kept from before; 1 can't be built: see what failed."]
    assert built.table.heads == ["mpi", "compiler", "build"]
    assert [row[2] for row in built.table.rows] == ["kept", "12 s", "can't be built"]
    assert not_built(BUILDS) == [["mpi=b compiler=gcc", "not built", "no mpi.h"]]


def test_a_program_that_was_there_has_no_sections() -> None:
    for section in building_sections({"delta": 0.01}):
        assert not section.lines and not section.table


@pytest.mark.parametrize(
    ("together", "said", "verdict"),
    [
        (compared(0.9, judgement="faster", proven=True), "mpi and compiler depend on each other: what", "depend"),
        (
            compared(0.9, judgement="faster"),
            "Whether mpi and compiler depend on each other can't be told",
            "not proven",
        ),
        (compared(1.0, judgement="equivalent"), "do not depend on each other, to within 2 %.", "independent"),
        (None, "Of mpi and compiler not all combinations can be had", "not tested"),
    ],
)
def test_only_what_is_proven_is_claimed(together: dict[str, Any] | None, said: str, verdict: str) -> None:
    found = sections(interaction(together))["What it is built with, together"]
    (line,) = found.lines
    assert said in line
    assert [row[3] for row in found.table.rows] == ["", "", verdict]
    assert found.table.rows[0][:2] == ["compiler clang for gcc", "mpi a"]
    assert found.table.rows[0][2] == ("–" if together is None else "-20.0 % (-20.8 … -19.2 %)")


def test_pairs_of_one_verdict_stand_in_one_sentence() -> None:
    same = compared(1.0, judgement="equivalent")
    found = sections(interaction(same), interaction(same, ("mpi", "blas")))["What it is built with, together"]
    assert found.lines == ["mpi and compiler; mpi and blas do not depend on each other, to within 2 %."]

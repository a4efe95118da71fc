"""Text of the kernel to JSON in SI units, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.agent.unknown import Unknown
from wulf.agent.values import from_text, mask, scaled, to_text

BOTH_WAYS: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    ("50", 50, {}),
    ("-1", -1, {}),
    ("bbr", "bbr", {}),
    ("4096 131072 6291456", "4096 131072 6291456", {}),
    ("50", 5e-05, {"scale": 1e-6}),
    ("200000", 0.0002, {"scale": 1e-9}),
    ("2400000", 2400000000, {"scale": 1000}),
    ("1", True, {"kind": "bool"}),
    ("0", False, {"kind": "bool"}),
    ("007", "007", {"kind": "text"}),
    ("0", "none", {"kind": "mask"}),
    ("f", "0-3", {"kind": "mask"}),
    ("1,00000000", "32", {"kind": "mask"}),
    ("80000000,00000001", "0,63", {"kind": "mask"}),
    ("0-2,7", "0-2,7", {"kind": "cpus"}),
    ("madvise", "madvise", {"kind": "choice"}),
)


@pytest.mark.parametrize(("text", "value", "target"), BOTH_WAYS)
def test_a_value_and_its_text(text: str, value: Any, target: dict[str, Any]) -> None:
    found = from_text(text, target)
    assert (found, type(found)) == (value, type(value))
    assert to_text(value, target) == text


@pytest.mark.parametrize(
    ("text", "value", "target"),
    [
        ("4096\t131072\t6291456\n", "4096 131072 6291456", {}),
        ("Y", True, {"kind": "bool"}),
        ("off", False, {"kind": "bool"}),
        ("0x10", 16, {"kind": "int"}),
        ("00000000,0000000f", "0-3", {"kind": "mask"}),
        ("0,1,2", "0-2", {"kind": "cpus"}),
        ("always [madvise] never", "madvise", {"kind": "choice"}),
    ],
)
def test_texts_that_the_kernel_writes_otherwise(text: str, value: Any, target: dict[str, Any]) -> None:
    assert from_text(text, target) == value


@pytest.mark.parametrize(
    ("text", "kind"), [("maybe", "bool"), ("2", "bool"), ("x", "mask"), ("a-b", "cpus"), ("ten", "int")]
)
def test_what_is_of_another_kind_has_no_value(text: str, kind: str) -> None:
    with pytest.raises(Unknown, match=f"'{text}' is no {kind}"):
        from_text(text, {"kind": kind})


@pytest.mark.parametrize("kind", ["mask", "cpus"])
def test_what_is_no_list_of_cpus_is_not_written(kind: str) -> None:
    with pytest.raises(Unknown, match="'all' is no list of CPUs"):
        to_text("all", {"kind": kind})


@given(st.sets(st.integers(0, 300)))
def test_a_mask_holds_its_cpus(cpus: set[int]) -> None:
    text = mask(",".join(map(str, cpus)))
    assert int(text.replace(",", ""), 16) == sum(1 << cpu for cpu in cpus)
    assert all(len(group) == 8 for group in text.split(",")[1:])


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 1e-9, 0.01, 1000]))
def test_scaling_is_undone_exactly(number: int, scale: float) -> None:
    assert to_text(scaled(number, scale), {"scale": scale}) == str(number)

"""A BLAS by its path or by the label that `wulf app blas` prints."""

from __future__ import annotations

from typing import Any

import pytest

from wulf.core.errors import UsageError
from wulf.measure.blas import common_path, path_of

REFERENCE = "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3"
WHEEL = "/v/numpy.libs/libscipy_openblas64_-32a4b2a6.so"


def answer(*libraries: tuple[str, str], also: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"libraries": [{"label": label, "path": path} for label, path in libraries], "also": list(also)}


def test_a_library_is_known_by_its_label_and_its_path() -> None:
    node = answer(("blas", REFERENCE), ("libscipy_openblas64_-32a4b2a6.so", WHEEL), also=("/opt/mine.so",))
    assert path_of("blas", node) == REFERENCE
    assert path_of(WHEEL, node) == WHEEL
    assert path_of("libscipy_openblas64_-32a4b2a6.so", node) == WHEEL
    assert path_of("/opt/mine.so", node) == "/opt/mine.so"
    assert path_of("mkl", node) is None


def test_a_label_counts_before_a_file_of_that_name_where_the_agent_stands() -> None:
    assert path_of("blas", answer(("blas", REFERENCE), also=("blas",))) == REFERENCE


def test_all_nodes_must_have_it_at_one_path() -> None:
    here = answer(("blas", REFERENCE))
    assert common_path("blas", {"n1": here, "n2": here}) == REFERENCE
    with pytest.raises(UsageError) as lacking:
        common_path("blas", {"n1": here, "n2": answer(("atlas", "/a"))})
    assert "n2" in lacking.value.what
    assert "atlas" in (lacking.value.next_step or "")
    with pytest.raises(UsageError) as elsewhere:
        common_path("blas", {"n1": here, "n2": answer(("blas", "/other"))})
    assert "/other on n2" in elsewhere.value.what

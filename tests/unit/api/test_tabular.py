"""Tables of other libraries. Those that are not installed here are stood in for by what they are asked."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from wulf.api.tabular import Column, Tabular, columns_of
from wulf.core.errors import UsageError

ROWS = [
    {"name": "a", "params": {"bytes": 1, "on": True, "name": "x", "mixed": 1}, "value": 1.5},
    {"name": "bc", "params": {"bytes": None, "on": False, "mixed": "two"}, "value": None},
]


class Made(Tabular):
    def _columns(self) -> list[Column]:
        return columns_of(ROWS, {"name": str, "params": str, "value": float}, within="params")


def test_a_structured_array_has_a_field_for_each_column() -> None:
    table = Made().table()
    assert table.dtype.names == ("name", "bytes", "on", "param_name", "mixed", "value")
    assert [table.dtype[name].kind for name in table.dtype.names] == ["U", "f", "b", "U", "U", "f"]
    assert table["name"].tolist() == ["a", "bc"] and table["mixed"].tolist() == ["1", "two"]
    assert table["value"][0] == 1.5 and np.isnan(table["value"][1]) and np.isnan(table["bytes"][1])
    assert table["param_name"].tolist() == ["x", ""]


def test_a_table_without_rows_has_its_columns() -> None:
    class Empty(Tabular):
        def _columns(self) -> list[Column]:
            return columns_of([], {"name": str, "params": str, "value": float, "n": int}, within="params")

    assert Empty().table().shape == (0,) and Empty().table().dtype.names == ("name", "value", "n")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_library_that_is_not_there_is_named_with_what_brings_it(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)  # as Python itself notes what can't be imported
    with pytest.raises(UsageError, match=f"{library} can't be imported") as told:
        getattr(Made(), library.removeprefix("py"))()
    assert f"pip install {library}" in told.value.next_step


def test_pandas_is_given_arrays_and_texts_with_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    frame: Any = Made().pandas()
    assert frame["param_name"] == ["x", None] and frame["value"].dtype == np.float64
    assert frame["on"].dtype == np.bool_


def test_polars_and_arrow_are_given_every_columns_type_and_null(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {name: name for name in ("String", "Float64", "Int64", "Boolean")}
    polars = SimpleNamespace(DataFrame=lambda data, schema: (data, schema), **kinds)
    monkeypatch.setitem(sys.modules, "polars", polars)
    data, schema = Made().polars()  # type: ignore[misc]
    assert schema == {
        "name": "String", "bytes": "Int64", "on": "Boolean", "param_name": "String", "mixed": "String",
        "value": "Float64",
    }  # fmt: skip
    assert data["bytes"] == [1, None]
    arrow = SimpleNamespace(
        table=dict, array=lambda values, kind: (kind, values),
        **{name: (lambda name=name: name) for name in ("string", "float64", "int64", "bool_")},
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "pyarrow", arrow)
    assert Made().arrow()["bytes"] == ("int64", [1, None])  # type: ignore[comparison-overlap]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_library_itself_takes_it(library: str) -> None:
    made = getattr(Made(), library.removeprefix("py"))()
    assert made.shape == (2, 6)

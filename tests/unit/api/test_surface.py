"""What is public: names, signatures and fields, which semantic versioning promises (docs/how-to/python.md).

A change here is a change of what users rely on: WULF_UPDATE=1 renews the text, and CHANGELOG.md says so.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
from pathlib import Path
from typing import Any

import pytest

import wulf
from tests.wording import Wording
from wulf.api.changes import FIELDS
from wulf.api.results import ENDS, KINDS
from wulf.store.export import COLUMNS

DOCUMENTED = Path(__file__).parents[3] / "docs" / "how-to" / "python.md"


MADE_BY_USERS = (wulf.Cluster,)
"""The classes that are public in how they are made, too; others come from functions and methods."""


def stub() -> list[str]:
    """The names of __init__.pyi."""
    nodes = ast.parse(Path(wulf.__file__).with_suffix(".pyi").read_text()).body
    return [name.name for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names]


def members(one: Any) -> list[str]:
    """A class's public attributes, each as a user calls or reads it."""
    found = [f"{one.__name__}{inspect.signature(one)}"] if one in MADE_BY_USERS else []
    for name, held in inspect.getmembers_static(one):
        if not name.startswith("_"):
            what = getattr(one, name) if isinstance(held, classmethod) else held
            called = inspect.isfunction(what) or inspect.ismethod(what)
            found.append(f"{name}{inspect.signature(what)}" if called else name)
    return found


def described(name: str) -> str:
    one = getattr(wulf, name)
    if inspect.isfunction(one):
        return f"{name}{inspect.signature(one)}"
    if issubclass(one, Exception):
        return f"{name}{inspect.signature(one.__init__)}, exit code {one.exit_code}"
    if hasattr(one, "model_fields"):
        return f"{name}: {', '.join(one.model_fields)}"
    if hasattr(one, "__members__"):
        return f"{name}: {', '.join(one)}"
    fields = [field.name for field in dataclasses.fields(one)] if dataclasses.is_dataclass(one) else []
    return "\n  ".join([f"{name}: {', '.join(fields)}" if fields else name, *members(one)])


@pytest.mark.parametrize("name", wulf.__all__)
def test_a_public_name_is_what_it_was(name: str, wording: Wording) -> None:
    wording(described(name))


def test_the_columns_of_tables_are_what_they_were(wording: Wording) -> None:
    own = [name for column in COLUMNS for name in (column, *(ENDS if column == "subject" else ()))]
    wording(f"records: {', '.join(own)}\nchanges: {', '.join(FIELDS)}")
    assert set(COLUMNS.values()) <= set(KINDS)


def test_editors_see_what_can_be_imported() -> None:
    assert sorted(stub()) == wulf.__all__
    assert all(getattr(wulf, name).__name__ == name for name in wulf.__all__)
    assert set(wulf.__all__) <= set(dir(wulf))
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        wulf.lode  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("name", wulf.__all__)
def test_a_public_name_has_words(name: str) -> None:
    one = getattr(wulf, name)
    assert inspect.getdoc(one)
    assert f"`{name}" in DOCUMENTED.read_text() or f"wulf.{name}" in DOCUMENTED.read_text()
    own = [what for key, what in vars(one).items() if not key.startswith("_")] if inspect.isclass(one) else []
    functions = [what.fget if isinstance(what, property) else what for what in own]
    assert [each.__name__ for each in functions if inspect.isfunction(each) and not inspect.getdoc(each)] == []


def test_a_public_name_is_imported_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(vars(wulf), "load", raising=False)
    assert wulf.load is sys.modules["wulf.api.results"].load and "load" in vars(wulf)

"""A notebook's cells, executed in order in one namespace: no kernel is needed for what they show."""

from __future__ import annotations

import ast
import io
import json
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

Output = dict[str, Any]
"""As nbformat 4 has it."""


class Notebook:
    """A notebook on disk.

    Attributes
    ----------
    names
        What its cells have defined so far.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        self.names: dict[str, Any] = {"__name__": "__main__"}

    @property
    def code(self) -> list[dict[str, Any]]:
        """The cells that are executed."""
        return [cell for cell in self.content["cells"] if cell["cell_type"] == "code"]

    def run(self) -> list[list[Output]]:
        """Execute every cell; what each shows."""
        return [_executed("".join(cell["source"]), number, self.names) for number, cell in enumerate(self.code, 1)]

    def keep(self, outputs: list[list[Output]]) -> None:
        """Store what the cells have shown."""
        for number, (cell, shown) in enumerate(zip(self.code, outputs, strict=True), 1):
            cell |= {"execution_count": number, "outputs": shown}
        text = json.dumps(self.content, ensure_ascii=False, indent=1)
        self.path.write_text(f"{text}\n", encoding="utf-8")


def kinds(outputs: list[list[Output]]) -> list[list[list[str]]]:
    """Of each cell what kinds of output there are: what stays the same when figures don't."""
    return [[[one["output_type"], *sorted(one.get("data", ()))] for one in shown] for shown in outputs]


def _executed(source: str, number: int, names: dict[str, Any]) -> list[Output]:
    """What a cell prints, then what its last expression is."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        value = eval(compile(last, f"cell {number}", "eval"), names) if last is not None else None
    shown: list[Output] = []
    if printed.getvalue():
        shown.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {mime: _lines(text) for mime, text in _bundle(value).items()}
        shown.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data})
    return shown


def _bundle(value: Any) -> Mapping[str, str]:
    html = {"text/html": value._repr_html_()} if hasattr(value, "_repr_html_") else {}
    return {**html, "text/plain": repr(value)}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)

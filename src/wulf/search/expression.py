"""Conditions that a configuration must meet, as a person writes them: `p * q == ranks`, `8 * n * n <= memory`.

Numbers, names, texts, + - * / // % **, comparisons, and, or, not; nothing else: a file of somebody else's is read.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from wulf.core.errors import UsageError
from wulf.core.records import Param

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
LONGEST = 500
"""Characters of a condition: what is longer is no condition, and could exhaust the parser."""


class Expression:
    """One condition, checked when it is made.

    Parameters
    ----------
    names
        What it may speak of.

    Raises
    ------
    UsageError
        It is not of the form above, or speaks of something unknown.
    """

    def __init__(self, text: str, names: frozenset[str]) -> None:
        self.text = text
        if len(text) > LONGEST:
            raise UsageError(f"a condition of {len(text)} characters is too long", f"at most {LONGEST}")
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            raise UsageError(f"{text!r} is no condition", "write one such as 'p * q == ranks'") from None
        for node in ast.walk(self._tree):
            self._check(node, names)

    def _check(self, node: ast.AST, names: frozenset[str]) -> None:
        if isinstance(node, ast.Name) and node.id not in names:
            raise UsageError(f"{self.text!r} speaks of {node.id!r}, which is no parameter", ", ".join(sorted(names)))
        known = (
            ast.Name, ast.Load, ast.BinOp, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.USub, ast.Not, ast.Compare,
            *_BINARY, *_COMPARED,
        )  # fmt: skip
        constant = isinstance(node, ast.Constant) and isinstance(node.value, int | float | str)
        if not constant and not isinstance(node, known):
            raise UsageError(
                f"{self.text!r} can't be read: {type(node).__name__} is not understood",
                "numbers, names, texts, + - * / // %, comparisons, and, or, not",
            )

    def holds(self, values: Mapping[str, Param]) -> bool:
        """Whether these values meet it. Raises UsageError where they can't be compared or divided."""
        try:
            return bool(self._value(self._tree, values))
        except (TypeError, ArithmeticError) as error:
            given = ", ".join(f"{name} = {value}" for name, value in values.items() if name in self.text)
            raise UsageError(f"{self.text!r} can't be told for {given}: {error}", "compare like with like") from error

    def _value(self, node: ast.AST, values: Mapping[str, Param]) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return values[node.id]
            case ast.BinOp():
                sides = self._value(node.left, values), self._value(node.right, values)
                for side in sides:
                    if not isinstance(side, int | float):  # 'a' * 10**10 would be a text of ten billion letters
                        raise TypeError(f"{side!r} is no number")
                return _BINARY[type(node.op)](*sides)
            case ast.UnaryOp():
                value = self._value(node.operand, values)
                return not value if isinstance(node.op, ast.Not) else -value
            case ast.BoolOp():
                parts = (bool(self._value(one, values)) for one in node.values)
                return all(parts) if isinstance(node.op, ast.And) else any(parts)
            case ast.Compare():
                return self._compared(node, values)
        raise AssertionError(f"{node!r} was let through by _check")

    def _compared(self, node: ast.Compare, values: Mapping[str, Param]) -> bool:
        """A chain of comparisons: 1 <= p <= q."""
        sides = [self._value(one, values) for one in (node.left, *node.comparators)]
        return all(_COMPARED[type(op)](a, b) for op, a, b in zip(node.ops, sides, sides[1:], strict=False))

"""What docstrings owe their readers, where a machine can tell."""

import ast
from collections.abc import Iterator
from pathlib import Path

import wulf

PACKAGE = Path(wulf.__file__).parent
ARRAYS = ("ArrayLike", "NDArray", "ndarray", "Floats", "Ints")


def public_functions(tree: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            if isinstance(node, ast.ClassDef):
                yield from public_functions(node)
            else:
                yield node


def takes_arrays(function: ast.FunctionDef) -> bool:
    arguments = [*function.args.args, *function.args.kwonlyargs]
    annotations = [function.returns, *(argument.annotation for argument in arguments)]
    words = " ".join(ast.unparse(one) for one in annotations if one is not None)
    return any(name in words for name in ARRAYS)


def test_functions_of_arrays_name_their_shapes() -> None:
    lacking = [
        f"{path.relative_to(PACKAGE)}:{function.lineno} {function.name}"
        for room in ("stats", "model", "search")
        for path in sorted((PACKAGE / room).rglob("*.py"))
        for function in public_functions(ast.parse(path.read_text(encoding="utf-8")))
        if takes_arrays(function) and "shape" not in (ast.get_docstring(function) or "").lower()
    ]
    assert lacking == []

"""Renews the tables of a trace's records that are made from native/trace/calls.txt."""

from __future__ import annotations

from pathlib import Path

from wulf.codegen.trace_calls import for_python, operations

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    text = (ROOT / "native/trace/calls.txt").read_text(encoding="utf-8")
    (ROOT / "native/trace/format/ops.hpp").write_text(operations(text), encoding="utf-8")
    (ROOT / "src/wulf/trace/ops.py").write_text(for_python(text), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Puts the tables into docs/explanation/benchmarks.md, between its two marks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.engine.errors import BenchError
from bench.engine.rows import BEST, MET, MISSED, NONE, OPEN, Row
from bench.report import reasons
from bench.report.machine import name_of
from bench.report.table import markdown

MAKER = "python -m bench"
BEGIN, END = (f"<!-- made by `{MAKER}`: {word} -->" for word in ("begin", "end"))


def section(rows: Sequence[Row], machine: dict[str, Any]) -> str:
    """One machine's table, the machine, when and with what each part was measured, and why goals are open or missed."""
    # a row of the best peer repeats another
    found = Counter(row.verdict for row in rows if not row.name.endswith(BEST))
    held_back = reasons.explained(rows, name_of(machine), reasons.read())
    return (
        f"{markdown(rows)}\n\n"
        f"Of {found.total() - found[NONE]} goals {found[MET]} are met, {found[MISSED]} missed, {found[OPEN]} open. "
        f"Measured on {machine['cpus']} CPUs of {machine['cpu']}{', a virtual machine' if machine['virtual'] else ''}, "
        f"Linux {machine['kernel']}, {machine['system']}. {runs(rows, machine['parts'])}."
        + (f"\n\nOpen or missed, and why:\n\n{reasons.markdown(held_back)}" if held_back else "")
    )


UNKNOWN = "when and with what was not kept"


def runs(rows: Sequence[Row], parts: Mapping[str, Mapping[str, Any]]) -> str:
    """Date, load and versions of the parts that the rows are of; parts with equal versions are told together."""
    told: dict[str, list[str]] = {}
    for part in dict.fromkeys(row.part for row in rows):
        run = parts.get(part)
        if run is None:
            told.setdefault(UNKNOWN, []).append(part)
            continue
        peers = ", ".join(f"{name} {version}" for name, version in run["peers"].items() if version)
        quick = "quick, " if run.get("quick") else ""
        when = f"{part} {run['date'][:10]} ({quick}load before {run['load before']})"
        versions = f"congestion control {run['congestion control']}, wulf {run['wulf']}, {peers or 'no peers'}"
        told.setdefault(versions, []).append(when)
    return "; ".join(f"{', '.join(which)}: {versions}" for versions, which in told.items())


def rewritten(page: str, made: str, maker: str = MAKER) -> str:
    """The page with the part that some command makes replaced. BenchError where the marks are missing."""
    begin, end = (one.replace(f"`{MAKER}`", f"`{maker}`") for one in (BEGIN, END))
    pattern = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(page):
        raise BenchError(f"the page lacks the marks {begin} and {end}")
    return pattern.sub(lambda _: f"{begin}\n{made}\n{end}", page)


def rewrite(page: Path, made: str, maker: str = MAKER) -> None:
    """Replace the part that some command makes. BenchError where its marks are missing."""
    page.write_text(rewritten(page.read_text(encoding="utf-8"), made, maker), encoding="utf-8")


def sections(machines: Sequence[tuple[dict[str, Any], Sequence[Row]]]) -> str:
    """The part of the page that is made: a table a machine."""
    return "\n\n".join(section(rows, machine) for machine, rows in machines)


def update(page: Path, machines: Sequence[tuple[dict[str, Any], Sequence[Row]]]) -> None:
    """Rewrite the page's tables."""
    rewrite(page, sections(machines))

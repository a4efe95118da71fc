"""Applications in the terminal and on the page."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from tests.unit.report.make_run import AT, record
from tests.wording import Wording, lacking
from wulf.core.records import Verdict
from wulf.report.app.runs import app_sections, applications
from wulf.report.kit.view import Columns, Fold, walk
from wulf.report.run.html import render
from wulf.report.run.terminal import print_report
from wulf.store.run import Run

PARAMS = {"pattern": "phyml", "taxa": 8, "ranks": 2, "mpi": "openmpi 4.1.4", "program": "/usr/bin/phyml-mpi"}


def cell(number: int, subject: str) -> dict:
    about = {key: PARAMS[key] for key in ("ranks", "mpi", "program")}
    return {
        "id": number,
        "client": subject,
        "program": "app",
        "pattern": "phyml",
        "params": {"taxa": 8},
        "about": about,
    }


def made() -> Run:
    info = {"checks": {"tree": "the tree has 8 taxa of 8"}, "log-likelihood": -796.0, "notes": ["it wrote 100 MB"],
            "usage": {"user": 1.0}}  # fmt: skip
    common = {"probe": "app", "phase": "app", "params": PARAMS, "unit": "s"}
    good = record("n1", "wall", 29.3, info=info, stopped="6 of 6", samples=[29.0, 29.3, 29.6], **common)
    lost = record("n2", "wall", None, verdict=Verdict.FAILED, reason="3 of 3 attempts: status 3", **common)
    errors = [{"code": "timeout", "message": "n1: it did not end"}, {"code": "failed", "message": "n2: status 3"}]
    replicates = [
        {"cell": 0, "ok": True, "metrics": {}},
        {"cell": 0, "ok": False, "error": errors[0]},
        *[{"cell": 1, "ok": False, "error": errors[1]}] * 3,
    ]
    meta = {"id": "r", "command": "app-phyml", "state": "complete", "started": AT, "ended": AT, "nodes": ["n1", "n2"]}
    return Run(Path("/r"), meta, {"cells": [cell(0, "n1"), cell(1, "n2")]}, {}, [good, lost], [], replicates)


def printed(run: Run) -> list[str]:
    out = io.StringIO()
    print_report(run, Console(file=out, width=80, highlight=False))
    return out.getvalue().splitlines()


def test_runs_without_a_figure_are_counted_by_what_they_had_instead(wording: Wording) -> None:
    first, second = applications(made())
    assert (first.runs, second.runs) == (11, 3)
    (one,) = (line for line in first.lines() if "no figure" in line)
    (other,) = second.lines()
    assert lacking(one, "11 runs, 1 had no figure", ": 1 × no end in time") == []
    assert lacking(other, "3 runs, 3 had no figure", ": 3 × a bad end") == []
    wording(f"{one}\n{other}")


def test_the_terminal_has_figure_interval_runs_and_what_was_checked() -> None:
    lines = printed(made())
    text = "\n".join(lines)
    assert max(map(len, lines)) <= 80
    assert "phyml: taxa 8" in lines
    assert "  2 ranks, openmpi 4.1.4, /usr/bin/phyml-mpi" in lines
    assert "29.3 s" in text
    assert "n1: checked: the tree has 8 taxa of 8" in text
    assert "n1: log-likelihood -796" in text
    assert "n1: note: it wrote 100 MB" in text
    assert "usage" not in text


def test_the_page_has_a_section_for_them() -> None:
    (section,) = app_sections(made())
    elements = list(walk([section]))
    (table,) = (one for one in elements if isinstance(one, Columns))
    assert [(row[0], row[2].text) for row in table.rows] == [("n1", "29.3 s"), ("n2", "–")]
    folds = {one.summary: one.body for one in elements if isinstance(one, Fold)}
    assert folds["Every run, in order"] == ["n1: 29 s, 29.3 s, 29.6 s"]
    assert "n2: status 3" in folds["Why runs had no figure"]
    page = render(made())
    assert '<section id="apps"' in page
    assert "the tree has 8 taxa of 8" in page


def test_a_campaigns_program_stands_elsewhere() -> None:
    run = made()
    run.records[0] = run.records[0].model_copy(update={"phase": "tune"})
    assert [one.main.subject for one in applications(run)] == ["n2"]

"""Every open or missed row of the published tables has its reason, and no reason is left over."""

from dataclasses import replace

import pytest
from bench.__main__ import RESULTS, machines
from bench.engine import rows
from bench.report import reasons
from bench.report.machine import name_of
from bench.report.reasons import Reason

OPEN = rows.Row("load, L1", 1.0, 2.0, "peer", "s", 1.0, 0.9, 1.1, "lower", 1.0)
MISSED = replace(OPEN, name="load, L2", low=1.1, high=1.2)
MET = replace(OPEN, name="load, L3", high=1.0)

PUBLISHED = [(name_of(machine), found) for machine, found in machines(RESULTS)]


@pytest.mark.parametrize(("machine", "found"), PUBLISHED, ids=[name for name, _ in PUBLISHED])
def test_every_row_that_is_published_as_open_or_missed_is_explained(machine, found):
    left = reasons.explained(found, machine, reasons.read()).get(reasons.UNEXPLAINED, [])
    assert [row.name for row in left] == [], "say why in bench/data/open.toml"


def test_no_reason_is_left_over():
    used = {why for machine, found in PUBLISHED for why in reasons.explained(found, machine, reasons.read())}
    assert [reason.rows for reason in reasons.read() if reason.why not in used] == []


def test_the_first_reason_that_holds_is_told_and_what_has_none_comes_last():
    found = [MET, MISSED, OPEN, replace(OPEN, name=f"load, {rows.BEST}"), replace(OPEN, name="write")]
    known = [Reason(("*L1",), "noise"), Reason(("load*",), "other code", peers=("pe*",), machines=("a*",))]
    told = reasons.explained(found, "amd", known)
    assert {why: [row.name for row in held] for why, held in told.items()} == {
        "other code": ["load, L2"],
        "noise": ["load, L1"],
        reasons.UNEXPLAINED: ["write"],
    }
    assert list(told)[-1] == reasons.UNEXPLAINED
    assert reasons.markdown({"noise.\n": [OPEN, MISSED]}) == "- *load, L1*; *load, L2* (missed): noise."
    many = reasons.markdown({"noise.": [OPEN] * 9 + [MISSED]})
    assert many == f"- {'*load, L1*; ' * 6}*load, L2* (missed); and 3 more that are open: noise."


@pytest.mark.parametrize("other", [{"peers": ("x",)}, {"machines": ("x",)}, {"rows": ("x",)}])
def test_a_reason_holds_for_its_rows_peers_and_machines_alone(other):
    assert Reason(("load*",), "why").holds(OPEN, "amd")
    assert not replace(Reason(("load*",), "why"), **other).holds(OPEN, "amd")

"""An audit in the terminal and as a page."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from tests.unit.report.make_audit import AUDIT_SHAPES, audit_run, odd_nodes
from tests.unit.tune.make_audit import CATALOGUE, read
from tests.wording import Wording, lacking
from wulf.core.names import fold_places
from wulf.report.run.html import render
from wulf.report.run.terminal import print_report
from wulf.report.tune import audit
from wulf.store.run import Run


@pytest.fixture(autouse=True)
def small_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "catalogue", lambda: CATALOGUE)


def printed(run: Run, width: int = 80) -> str:
    text = io.StringIO()
    print_report(run, Console(file=text, width=width, highlight=False))
    return text.getvalue()


@pytest.mark.parametrize("shape", AUDIT_SHAPES)
def test_80_columns_are_enough(shape: str) -> None:
    assert max(map(len, printed(AUDIT_SHAPES[shape]()).splitlines())) <= 80


def test_the_headline_counts_what_was_found(wording: Wording) -> None:
    said = audit.headline(odd_nodes())
    assert lacking(said, "4 nodes", " 3 settings deviate", " 2 would not", " 5 questions", " 3 not as advised") == []
    wording(said)


def test_the_checklist_stands_node_by_node_with_its_evidence() -> None:
    lines = printed(odd_nodes()).splitlines()
    rows = {line.split()[0]: line.split()[-4:] for line in lines if re.match(r"^  [12][a-e] \w.*\?", line)}
    assert rows["1a"] == ["?"] * 4
    assert rows["1c"] == ["NO"] * 4
    assert rows["2a"] == ["yes", "yes", "NO", "yes"]
    assert rows["2d"] == ["NO", "NO", "NO", "yes"]
    assert any(re.match("  2a +NO +n3 +rules filter or track packets", line) for line in lines)


def test_many_nodes_are_told_of_together() -> None:
    text = printed(AUDIT_SHAPES["audit-many"]())
    words = " ".join(text.split())
    assert "1c NO n[1-200] eth0" in words
    assert "nic.mtu 1400 B n7 eth0 most have 1500 B" in words
    assert len(text.splitlines()) < 70


def test_what_has_no_effect_and_what_was_not_read_is_said() -> None:
    text = printed(odd_nodes())
    lines = re.split(r"\n +(?=[\w.]+ on n)", text)
    inert, masked, unread = (
        next(line for line in lines if line.startswith(name))
        for name in ("tcp.low_latency on n[1-4]: ", "nic.rx_usecs on n[1-4]: ", "cpu.mitigations on n4: ")
    )
    assert lacking(inert, "inert", "since Linux 4.14") == []
    assert lacking(" ".join(masked.split()), "masked", "while nic.adaptive_rx = on") == []
    assert "needs root" in unread


def test_nodes_of_a_run_without_an_audit_have_no_such_part() -> None:
    run = audit_run()
    run.settings = {}
    assert "\nChecklist\n" not in printed(run)
    assert 'id="audit"' not in render(run)


def test_the_page_has_every_setting_and_every_answer() -> None:
    page = render(odd_nodes())
    for name in CATALOGUE:
        assert f">{name}<small>" in page
    for key in ("1a", "1b", "1c", "2a", "2b", "2c", "2d", "2e"):
        assert f">{key} " in page
        assert f">{key}<small>" in page
    assert "1400 B" in page
    assert "Records</h2>" not in page


def test_names_and_values_can_not_smuggle_markup_in() -> None:
    page = render(AUDIT_SHAPES["audit-markup"]())
    assert "<img" not in page
    assert "&lt;img src=x" in page


def test_a_thousand_cpus_are_one_row() -> None:
    cpus = {f"cpu{i}": read(1500, 1500) for i in range(1000)}
    run = audit_run(2, {"n1": {"nic.mtu": cpus}, "n2": {"nic.mtu": cpus}})
    found = audit.audit_of(run)
    assert found is not None
    (state,) = [state for state in found.states if state.setting.name == "nic.mtu"]
    assert len(state.places) == 1000
    ((_, _, nodes, _),) = audit.setting_rows([state], found)
    assert (nodes.text, nodes.brief) == ("n[1-2]", "cpu[0-999]")


def test_the_values_of_one_setting_for_a_person_who_asks(wording: Wording) -> None:
    found = audit.audit_of(odd_nodes())
    assert found is not None
    found.states[:] = [state for state in found.states if state.setting.name == "nic.mtu"]  # type: ignore[index]
    most, (where, odd) = audit.value_lines(found)
    assert most == ("on n[1,3-4] eth0", "1500 B")
    assert where == "on n2 eth0"
    assert lacking(odd, "1400 B, 1500 B at start-up", "most have 1500 B", "reboot makes it 1500 B") == []
    wording(odd)


def test_places_are_folded_by_whose_they_are() -> None:
    assert fold_places([f"cpu{i}" for i in range(64)]) == "cpu[0-63]"
    assert fold_places([*(f"rx-{i} of eth0" for i in range(8)), "rx-0 of eth1"]) == "rx-[0-7] of eth0, rx-0 of eth1"
    assert fold_places([""]) == ""

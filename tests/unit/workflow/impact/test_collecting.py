"""Runs of `wulf impact`, by whomever: what counts of them, what they are of, and those that are no good."""

from __future__ import annotations

import json
from math import exp
from pathlib import Path
from typing import Any

import pytest

from tests.unit.workflow.impact.impact_runs import many, write_impact
from wulf.model.impacts import RunImpact
from wulf.workflow.impact.collecting import ImpactCollection, collect, domain_of, known_programs


def read(folder: Path, *names: str, **domains: str) -> ImpactCollection:
    return collect(names, folder, domains)


def only(folder: Path) -> RunImpact:
    found = read(folder)
    assert not found.bad, found.bad
    (one,) = found.impacts
    return one


def test_a_gain_with_its_error_share_and_network(tmp_path: Path) -> None:
    write_impact(tmp_path, "r", "./solve in", -0.2, share=0.4, setting="nic.mtu")
    one = only(tmp_path)
    assert one.gain is not None and one.gain.low is not None and one.gain.high is not None and one.error is not None
    assert exp(-one.gain.value) == pytest.approx(0.82, abs=0.02)
    assert one.gain.high - one.gain.low == pytest.approx(2 * 2.3646 * one.error, rel=1e-3), "Student's t of 7"
    assert (one.change, one.network, one.share, one.why) == ("nic.mtu", "25 Gbit/s mlx5_core", 0.4, "")


def test_links_are_a_labs_and_a_rate_that_rises_is_a_gain(tmp_path: Path) -> None:
    path = write_impact(tmp_path, "r", "./solve", -0.2)
    falling = only(tmp_path)
    result = json.loads((path / "impact.json").read_text())
    result["rows"][0]["lower_is_better"] = False
    (path / "impact.json").write_text(json.dumps(result))
    rate = only(tmp_path)
    assert falling.network == rate.network == "a lab's" and falling.change == "links"
    assert rate.gain is not None and falling.gain is not None and falling.gain.low is not None
    assert rate.gain.value == pytest.approx(-falling.gain.value) and rate.gain.high == pytest.approx(-falling.gain.low)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"after": (("answer", "41"),)}, "answers differ"),
        ({"state": "interrupted"}, "interrupted"),
        ({"state": "failed"}, "stopped early"),
    ],
)
def test_what_does_not_count_says_why(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    write_impact(tmp_path, "r", "./solve", **change)
    assert why in only(tmp_path).why


def test_too_few_blocks_have_no_interval(tmp_path: Path) -> None:
    path = write_impact(tmp_path, "r", "./solve")
    result = json.loads((path / "impact.json").read_text())
    result["rows"][0]["compared"] |= {"low": None, "high": None, "n": 4}
    (path / "impact.json").write_text(json.dumps(result))
    one = only(tmp_path)
    assert "too few blocks" in one.why and one.error is None


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (("rows",), [], "rows"),
        (("rows", 0, "compared", "ratio"), 0, "ratio"),
        (("rows", 0, "compared", "high"), 1e300, "high"),
        (("rows", 0, "compared", "n"), "8", "n: "),
        (("changes",), "nic.mtu", "changes"),
        (("domain",), "a\nb", "domain"),
        (("profiles", "before", "share"), {"mpi": -1}, "mpi"),
    ],
)
def test_one_that_is_no_good_is_named_with_its_field_and_hides_no_other(
    tmp_path: Path, path: tuple[Any, ...], value: Any, why: str
) -> None:
    many(tmp_path)
    file = tmp_path / "r1" / "impact.json"
    result = json.loads(file.read_text())
    place = result
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    file.write_text(json.dumps(result))
    found = read(tmp_path)
    assert len(found.impacts) == 6 and list(found.bad) == ["r1"] and why in found.bad["r1"]


def test_torn_runs_and_runs_of_other_commands(tmp_path: Path) -> None:
    many(tmp_path)
    (tmp_path / "r1/impact.json").write_text('{"state"')
    (tmp_path / "r2/run.json").write_text("[]")
    (tmp_path / "r3/impact.json").unlink()
    found = read(tmp_path)
    assert len(found.impacts) == 4 and set(found.bad) == {"r1", "r2"}, "r3 is no impact, which is no matter"
    named = read(tmp_path, "r3", "r4", "r9")
    assert [one.application for one in named.impacts] == ["iqtree2-mpi -s b.phy"]
    assert "no impact.json" in named.bad["r3"] and "no run named" in named.bad["r9"]


def test_a_run_named_twice_counts_once(tmp_path: Path) -> None:
    write_impact(tmp_path, "r", "./solve")
    assert len(read(tmp_path, "r", "r", "last").impacts) == 1


def test_domains_are_the_runs_own_then_those_given_then_the_known_ones(tmp_path: Path) -> None:
    many(tmp_path)
    found = collect([], tmp_path, {"mine": "art", "wrf*": "weather", "gmx*": "proteins"})
    domains = {one.application: one.domain for one in found.impacts}
    assert domains == {
        "/opt/bin/phyml-mpi -i a.phy": "phylogenetics", "phyml-mpi -i b.phy": "phylogenetics",
        "iqtree2-mpi -s b.phy": "phylogenetics", "mpirun -n 8 ./wrf.exe": "climate", "gmx_mpi mdrun": "proteins",
        "./mine": "art",
    }  # fmt: skip


def test_programs_that_are_known() -> None:
    known = known_programs()
    assert known["hpl"] == known["xhpl"] == "dense linear algebra" and known["lmp"] == "molecular dynamics"
    assert not [name for name in known if name.startswith("python")]
    assert domain_of("srun xhpl", {}) == "dense linear algebra" and domain_of("un 'closed", {}) == "unknown"


def test_nodes_that_say_nothing_of_their_links(tmp_path: Path) -> None:
    path = write_impact(tmp_path, "r", "./solve", setting="nic.mtu")
    (path / "fingerprint.json").unlink()
    assert only(tmp_path).network == "unknown"

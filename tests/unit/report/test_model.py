"""Models in a terminal and on a page: 80 columns, escaped, nothing from the network."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import pytest
from rich.console import Console

from tests.wording import lacking
from wulf.model.design.frontier import Pair, choose, worth_of
from wulf.model.design.prices import Build, CostStep, Fabric, Node, Running, Site, Switch
from wulf.model.design.timing import of_study
from wulf.model.draws import known
from wulf.model.network.fitting import Calls, fit_loggp
from wulf.model.network.patterns import Patterns
from wulf.model.roofline import Ceiling, Roof
from wulf.model.speedup.parts import TracedParts, TracedTimes, parts_of
from wulf.model.speedup.study import Study, study
from wulf.report.kit.page import render_view
from wulf.report.kit.terminal import print_view
from wulf.report.kit.view import View
from wulf.report.model.brown import brown_object, brown_view
from wulf.report.model.design import Plan, design_object, design_view
from wulf.report.model.loggp import loggp_object, loggp_view
from wulf.report.model.parts import parts_object, parts_view
from wulf.report.model.roofline import roofline_object, roofline_view
from wulf.report.model.speedup import limit_of, speedup_object, speedup_view
from wulf.stats.estimates import Interval

EVIL = "<script>alert(1)</script>\x1b[31m"


def studied(*, runs: int = 5, most: int = 64) -> Study:
    random = np.random.default_rng(1)
    n = [float(2**i) for i in range(12) if 2**i <= most]
    return study({w: (100 / w + 5 + 0.05 * w) * np.exp(0.01 * random.normal(size=runs)) for w in n})


def shown(view: View) -> str:
    out = io.StringIO()
    print_view(view, Console(file=out, width=80))
    return out.getvalue()


LOGGP_SIZES = (1.0, 8.0, 64.0, 512.0, 4096.0, 32768.0)


def loggp(*, alone: bool = False) -> View:
    trips = {
        s: [(2e-6 + s * 1e-9) * f for f in (1, 1.01, 0.99, 1, 1.01, 0.99)]
        for s in (1.0, 8.0, 64.0, 512.0, 4096.0, 32768.0)
    }
    trains = None if alone else {s: [t + 15e-6 for t in times] for s, times in trips.items()}
    paused = [] if alone else [Calls(1, [0.4e-6, 0.41e-6] * 3, [0.6e-6] * 6)]
    hidden = {1.0: [0.9] * 6, 32768.0: [0.1, 0.05] * 3}
    patterns = Patterns() if alone else Patterns({64.0: [1.25e-6] * 6}, {1.0: [20e-6] * 6}, hidden)
    found = fit_loggp(trips, trains, paused, patterns, messages=16)
    json.dumps(loggp_object(found, "n1>n2"), allow_nan=False)
    return loggp_view(found, EVIL, {s: [t / 2 for t in times] for s, times in trips.items()})


def test_a_slope_that_is_none_is_no_figure() -> None:
    """It was shown as a negative time of a byte."""
    noise = (1.0, 1.02, 0.98, 1.01, 0.99, 1.0)
    found = fit_loggp({s: [(2e-6 - s * 1e-12) * f for f in noise] for s in LOGGP_SIZES}, messages=16)
    assert found.per_byte.value < 0
    text = " ".join(shown(loggp_view(found, "n1>n2", {s: [1e-6] for s in LOGGP_SIZES})).split())
    assert "G, time of a byte: none, larger messages took no longer than small ones" in text
    assert "1/G none" in text
    told = loggp_object(found, "n1>n2")["per_byte"]
    assert told["value"] is None and "larger messages" in told["reason"]


def test_the_eager_limit_is_told_with_its_interval_or_why_there_is_none() -> None:
    noise = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0)
    sizes = [float(1 << k) for k in range(0, 20, 2)]
    trips = {s: [2 * (5e-6 + s * 1e-9 + (1e-4 if s > 9000 else 0)) * f for f in noise] for s in sizes}
    found = fit_loggp(trips, messages=16)
    told = loggp_object(found, "n1>n2")["eager"]
    assert (told["low"], told["value"], told["high"]) == (4096, 4096, 16384)
    assert "eager limit" in " ".join(shown(loggp_view(found, "n1>n2", trips)).split())
    flat = fit_loggp({s: [2e-6 * f for f in noise] for s in sizes}, messages=16)
    assert "Eager limit: none, no size was found" in " ".join(shown(loggp_view(flat, "n1>n2", trips)).split())
    assert loggp_object(flat, "n1>n2")["eager"]["value"] is None


def test_messages_that_cross_are_told_apart_from_sizes() -> None:
    text = " ".join(shown(loggp()).split())
    assert "Messages that cross, against one alone: 1" in text and "both ways at 64 B" in text
    assert "Many messages at once:" in text and "16 each way at 1 B" in text
    assert "Large messages get on in calls of MPI alone, not while a rank computes." in text
    assert "32 KiB 8% 5% to 10%" in text
    alone = " ".join(shown(loggp(alone=True)).split())
    assert not any(words in alone for words in ("Messages that cross", "Many messages", "Large messages get on"))


def roofs() -> View:
    roof = Roof("one CPU", Interval(40e9, 39e9, 41e9), [Ceiling("memory", Interval(10e9, 9e9, 11e9))])
    json.dumps(roofline_object("n1", "double", [roof], [0.5]), allow_nan=False)
    return roofline_view(EVIL, "double", [roof], [0.5], ["mem.l1.read was not measured"])


def design() -> View:
    """A design with all that a page of it may show."""
    work = of_study(studied(runs=2, most=16))
    switches = (Switch(8, 100.0), Switch(48, 2000.0))
    nodes = [(Node(EVIL, 500.0, 200.0), 1.0), (Node("large", 1500.0, 300.0, 2), 0.9)]
    fabrics = [(Fabric("gbe", 20.0, 0.0, switches), 1.0), (Fabric("ib", 300.0, 5.0, switches), 0.1)]
    pairs = [
        Pair(node, fabric, work.scaled(known(time), known(message), node.workers))
        for node, time in nodes
        for fabric, message in fabrics
    ]
    builds = (Build("own labour", 100.0, 10.0), Build("turn-key", share=0.1))
    site = Site((CostStep("racks", 300.0, nodes=8),), builds, Running(3.0, joule=1e-7))
    choice = choose(pairs, site, 20_000.0)
    assert choice.best is not None
    plan = Plan(choice, choice.best, pairs, site, EVIL, worth=worth_of(choice.best, 0.1, site), notes=[EVIL])
    json.dumps(design_object(plan), allow_nan=False)
    return design_view(plan, whole=True)


def traced(*ranks: int) -> TracedParts:
    """Ts = 1, Tp = 10, Tip = .1 and Tis = .02 s, each number of ranks traced twice, 2 % apart."""
    runs = [
        TracedTimes(n, by * (1.1 + 0.02 * n + 10 / n), by * (1 + 10 / n), 11 * by) for n in ranks for by in (0.99, 1.01)
    ]
    return parts_of(runs)


VIEWS = {
    "design": design,
    "speedup": lambda: speedup_view(studied(), EVIL, (128, 4096), [EVIL]),
    "once": lambda: speedup_view(studied(runs=1), "times.csv"),
    "few": lambda: speedup_view(studied(most=4), "times.csv"),
    "brown": brown_view,
    "traces": lambda: parts_view(traced(1, 2, 4, 8), EVIL, (12, 64), [EVIL]),
    "loggp": loggp,
    "sweep": lambda: loggp(alone=True),
    "roofline": roofs,
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_terminal_of_80_columns_holds_it(name: str) -> None:
    text = shown(VIEWS[name]())
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    assert not re.search(r"\bnan\b|\binf\b", text)


@pytest.mark.parametrize("name", VIEWS)
def test_a_page_is_self_contained_and_escaped(name: str) -> None:
    page = render_view(VIEWS[name]())
    own = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert "<script>alert" not in page.replace("\\u003c", "")
    assert "\x1b" not in own
    assert "http://" not in own and "https://" not in own
    (charts,) = re.findall(r'id="chart-data">(.*?)</script>', page, flags=re.DOTALL)
    for chart in json.loads(charts):
        assert f'id="{chart["id"]}"' in page
        assert chart["series"]


def test_the_words_of_a_study() -> None:
    text = shown(speedup_view(studied(), "times.csv", (128, 4096)))
    assert "can't be told apart" in text
    assert "Brown's form with N and USL are the same" in text
    assert "Ts and Tip can't be told apart" in text
    assert lacking(" ".join(text.split()), "4096 workers: more than 2 times", "measured (64)") == []
    assert "! not supported by data" in text
    assert "Fastest at N* = " in text


def test_few_points_are_refused_in_words() -> None:
    text = " ".join(shown(speedup_view(studied(most=4), "times.csv")).split())
    assert lacking(text, "has 3 parameters and needs 4 ", "; there are 3") == []


def test_runs_that_were_not_repeated_have_karp_flatt_without_intervals() -> None:
    text = shown(speedup_view(studied(runs=1), "times.csv"))
    assert "Karp–Flatt fractions have no intervals" in text


def test_what_limits_is_what_costs_most_beside_the_work() -> None:
    found = studied()
    assert "Limited by serial part" in limit_of(found.fits["brown"])
    assert "The work itself still takes most" in limit_of(studied(most=8).fits["brown"])


def test_json_has_null_for_what_is_unbounded() -> None:
    found = speedup_object(studied(), "times.csv", (128,))
    assert found["forms"]["amdahl"]["peak"]["workers"] == {"value": None, "low": None, "high": None}
    assert found["predictions"][0]["supported"] is True
    json.dumps(found, allow_nan=False)
    assert json.dumps(brown_object(), allow_nan=False)


def test_what_traces_tell_and_why_they_do_not() -> None:
    text = shown(parts_view(traced(1, 2, 4, 8), "4 traces", (12,)))
    assert "Brown, N·Tis predicts best" in text
    assert re.search(r"^ +8 +2 +2\.51 s +2\.25 s +260 ms +11 s$", text, re.M)
    found = json.loads(json.dumps(parts_object(traced(1, 2, 4, 8), "4 traces", (12,)), allow_nan=False))
    assert found["parameters"]["tp"]["low"] < 10 < found["parameters"]["tp"]["high"]
    assert found["best"] == "brown"
    assert found["workers"] == [1, 2, 4, 8]
    one = parts_object(traced(4), "a trace")
    assert one["best"] is None
    reason = one["parameters"]["tis"].pop("reason")
    assert one["parameters"]["tis"] == {"value": None, "low": None, "high": None}
    assert reason.startswith("traces of 4 ranks tell")
    alone = parts_view(traced(4), EVIL, (12,))
    assert "Tip and Tis: traces of 4 ranks" in shown(alone)
    assert "nothing is predicted" in shown(alone)
    assert max(map(len, shown(alone).splitlines())) <= 80
    assert "<script>alert" not in render_view(alone)


def test_a_sweep_says_why_it_has_no_overhead() -> None:
    text = " ".join(shown(loggp(alone=True)).split())
    assert "o, overhead of sending: none, " in text

"""A real Prometheus, Debian's: it scrapes both formats, answers with our figures, its alerts fire, and panels show."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.lab.sentry.watching import COMMON, SYSCALL, WULF, rows
from tests.lab.tune.test_exports import trixie as trixie
from tests.process.operations.templates import FOLDER
from tests.process.operations.test_prometheus import queries
from tests.processes import wait_until
from tests.unit.sentry.making import DRIFT, GONE, STEP, made
from wulf.lab import Lab
from wulf.sentry.state import SentryState

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(1800)]

RULES = FOLDER / "prometheus"
PATIENCE_S = 60.0
CONFIG = """\
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: openmetrics
    static_configs: [{{targets: ["{target}"]}}]
  - job_name: text
    scrape_protocols: [PrometheusText0.0.4]
    static_configs: [{{targets: ["{target}"]}}]
"""


def promtool(trixie: Path, *words: str | Path, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Debian's promtool, run here: it reads files and writes none."""
    command = [trixie / "usr/bin/promtool", *words]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=120)


def test_the_rules_fire_where_they_should_and_nowhere_else(trixie: Path) -> None:
    for words in (["check", "rules", RULES / "wulf-alerts.yml"], ["test", "rules", RULES / "wulf-alerts.test.yml"]):
        done = promtool(trixie, *words)
        assert done.returncode == 0, done.stdout + done.stderr
    done = promtool(trixie, "check", "config", RULES / "wulf.yml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_rule_that_does_not_fire_is_found(trixie: Path, tmp_path: Path) -> None:
    shutil.copy(RULES / "wulf-alerts.test.yml", tmp_path)
    rules = (RULES / "wulf-alerts.yml").read_text().replace("> 14 * 86400", "> 15 * 86400")
    (tmp_path / "wulf-alerts.yml").write_text(rules)
    assert promtool(trixie, "test", "rules", tmp_path / "wulf-alerts.test.yml").returncode != 0


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Months that end now."""
    return made(tmp_path_factory.mktemp("state") / "sentry.db", nodes=160, days=61, every=5, end=time.time())


@contextmanager
def served(state: Path) -> Iterator[str]:
    """`wulf sentry metrics --serve`: its host and port."""
    command = [sys.executable, "-m", "wulf.cli.main", "sentry", "metrics", "--state", str(state), "--serve", ":0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stdin is not None
        found = re.fullmatch(r"http://(127\.0\.0\.1:\d+)/metrics\n", process.stderr.readline())
        assert found is not None
        yield found[1]
        process.stdin.close()
        assert process.wait(timeout=60) == 0


class Prometheus:
    """One that runs, by its HTTP API."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def ask(self, what: str, **given: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/api/v1/{what}?{urllib.parse.urlencode(given)}", timeout=60) as answer:
            return json.load(answer)["data"]

    def query(self, text: str) -> list[dict[str, Any]]:
        return list(self.ask("query", query=text)["result"])

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


@contextmanager
def scraping(trixie: Path, state: Path, folder: Path) -> Iterator[Prometheus]:
    """On loopback, with its data in a folder of the test's; rules wait for nothing, as their waits are promtool's."""
    rules = re.sub(r"for: \w+", "for: 0s", (RULES / "wulf-alerts.yml").read_text())
    (folder / "rules.yml").write_text(rules)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with ExitStack() as ends:
        target = ends.enter_context(served(state))
        (folder / "prometheus.yml").write_text(CONFIG.format(rules=folder / "rules.yml", target=target))
        command = [
            trixie / "usr/bin/prometheus", f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
        ]  # fmt: skip
        said = ends.enter_context((folder / "said").open("wb"))
        process = ends.enter_context(subprocess.Popen(command, stdout=said, stderr=said, cwd=folder))
        ends.callback(process.terminate)
        found = Prometheus(port)
        wait_until(found.is_ready, PATIENCE_S)
        wait_until(lambda: len(found.query("up == 1")) == 2, PATIENCE_S)
        assert process.poll() is None, (folder / "said").read_text()[-2000:]
        yield found


@pytest.fixture(scope="module")
def prometheus(trixie: Path, state: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    with scraping(trixie, state, tmp_path_factory.mktemp("prometheus")) as found:
        wait_until(lambda: bool(found.query("ALERTS")), PATIENCE_S)
        yield found


def test_both_formats_give_the_same_series_and_figures(prometheus: Prometheus, state: Path) -> None:
    assert prometheus.query("scrape_samples_scraped{job='text'} - on () scrape_samples_scraped{job='openmetrics'}")[0][
        "value"
    ][1] == ("0")
    with SentryState(state, read_only=True) as read:
        watched = [one.name for one in read.nodes()]
        figures = [one for metric in read.metrics() for one in read.figures(metric, 0.0, watched)]
        expected = {(one.node, one.metric): one.value for one in figures}  # the newest last
        chances = {one.name: one.chance for one in read.nodes()}
    for job in ("openmetrics", "text"):
        found = prometheus.query(f"wulf_figure{{job='{job}'}}")
        values = {(one["metric"]["node"], one["metric"]["metric"]): float(one["value"][1]) for one in found}
        assert values == expected
        told = prometheus.query(f"wulf_node_changed_chance{{job='{job}'}}")
        assert {one["metric"]["node"]: float(one["value"][1]) for one in told} == chances
    units = prometheus.ask("metadata", metric="wulf_node_measured_timestamp_seconds")
    assert {one["unit"] for of in units.values() for one in of} == {"seconds", ""}, "the older format has no units"


def test_alerts_fire_for_what_is_open_and_for_nothing_else(prometheus: Prometheus) -> None:
    expected = {("WulfNodeChanged", DRIFT), ("WulfNodeUnreachable", GONE), ("WulfClassChanged", "@epyc-9654")}

    def firing() -> set[tuple[str, str]]:
        alerts = prometheus.ask("alerts")["alerts"]
        return {
            (one["labels"]["alertname"], one["labels"].get("node", "")) for one in alerts if one["state"] == "firing"
        }

    wait_until(lambda: firing() == expected, PATIENCE_S)  # before the first scrape nothing is to be seen, which is one
    assert firing() == expected, f"{STEP} is acknowledged"


EMPTY = re.compile("wulf_link|deliveries_waiting|left_out|events_total")
"""What this state has nothing of."""


def test_each_panel_shows_something(prometheus: Prometheus) -> None:
    chosen = {"class": ".*", "metric": "mem.triad", "node": ".*"}
    for asked in queries():
        text = re.sub(r"\$(class|metric|node)", lambda found: chosen[found[1]], asked).replace("$__interval", "5m")
        if text.startswith("label_values("):
            text = text.removeprefix("label_values(").rpartition(",")[0]
        text = re.sub(r"(\bwulf_\w+)\{", r"\1{job='text',", re.sub(r"(\bwulf_[a-z_]+)(?!\{|[a-z_])", r"\1{}", text))
        assert bool(prometheus.query(text.replace(",}", "}"))) or EMPTY.search(text), text


def test_promtool_takes_what_is_printed(trixie: Path, state: Path, tmp_path: Path) -> None:
    target = tmp_path / "wulf.prom"
    words = ["--state", str(state), "--textfile", str(target)]
    subprocess.run([sys.executable, "-m", "wulf.cli.main", "sentry", "metrics", *words], check=True, timeout=120)
    done = promtool(trixie, "check", "metrics", given=target.read_bytes())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout + done.stderr == b"", "promtool lints names, units and kinds, too"


ROUNDS = 3
"""Measurements of each node that the scraper has to have seen."""


def test_a_sentry_that_measures_is_scraped_meanwhile(trixie: Path, three_nodes: Lab, tmp_path: Path) -> None:
    plan, state = tmp_path / "plan.toml", tmp_path / "sentry.db"
    plan.write_text(SYSCALL + COMMON)
    nodes = {node.name for node in three_nodes.nodes}
    words = [*WULF, "sentry", "run", str(plan), "--lab", three_nodes.name, "--state", str(state)]
    with (tmp_path / "said").open("wb") as said, subprocess.Popen(words, stderr=said) as watching:
        assert wait_until(lambda: state.exists() and bool(rows(state, "SELECT 1 FROM sqlite_master")), PATIENCE_S)
        with scraping(trixie, state, tmp_path) as prometheus:
            rounds = "changes(wulf_node_measured_timestamp_seconds{job='openmetrics'}[10m])"
            assert wait_until(
                lambda: {
                    one["metric"]["node"] for one in prometheus.query(rounds) if int(one["value"][1]) >= ROUNDS
                } == nodes,
                4 * PATIENCE_S,
            ), (tmp_path / "said").read_text()[-2000:]  # fmt: skip
            watching.send_signal(signal.SIGTERM)
            watching.wait(timeout=PATIENCE_S)
            with SentryState(state, read_only=True) as read:
                newest = {
                    (node, metric): value for metric in read.metrics()
                    for node, value in read.newest(metric, 0.0, nodes).items()
                }  # fmt: skip
            assert {node for node, _ in newest} == nodes

            def scraped() -> dict[tuple[str, str], float]:
                found = prometheus.query("wulf_figure{job='openmetrics'}")
                return {(one["metric"]["node"], one["metric"]["metric"]): float(one["value"][1]) for one in found}

            assert wait_until(lambda: scraped() == newest, PATIENCE_S)

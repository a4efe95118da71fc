"""The command as it is typed: served in both formats, and written for node_exporter."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.sentry.making import made
from wulf.scrape.openmetrics import Form

WULF = [sys.executable, "-m", "wulf.cli.main", "sentry", "metrics"]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("state") / "sentry.db", nodes=40, days=61, every=5)


def test_it_is_served_in_the_format_that_is_asked_for_until_stdin_closes(state: Path) -> None:
    command = [*WULF, "--state", str(state), "--serve", ":0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/metrics\n", process.stderr.readline())
        assert found is not None
        for accept, form in (("application/openmetrics-text", Form.OPENMETRICS), ("text/plain", Form.TEXT)):
            connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
            connection.request("GET", "/metrics", headers={"Accept": accept})
            answer = connection.getresponse()
            text = answer.read().decode()
            assert (answer.status, answer.headers["Content-Type"]) == (200, form.content_type)
            assert 'wulf_nodes{class="epyc-7763"} 20.0' in text
            assert text.endswith("# EOF\n") is (form is Form.OPENMETRICS)
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_it_is_written_for_node_exporter(state: Path, tmp_path: Path) -> None:
    target = tmp_path / "wulf.prom"
    words = [*WULF, "--state", str(state), "--textfile", str(target)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert 'wulf_nodes{class="epyc-7763"} 20.0' in target.read_text()
    assert "# EOF" not in target.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["wulf.prom"]

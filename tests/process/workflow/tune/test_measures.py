"""A program's own figure in a campaign: really run, on this machine."""

import os
from pathlib import Path

import pytest

from wulf.core.errors import UsageError
from wulf.store.run import RunWriter, read_run
from wulf.tune.campaign.deciding import CampaignMetric
from wulf.workflow.tune.measures import AppMeasure

PATIENCE = 60.0


def measure(tmp_path, script, *, figure=None, timeout=PATIENCE, unit="s"):
    with RunWriter(tmp_path / "run", "tune") as writer:
        value = AppMeasure(
            ["sh", "-c", script], CampaignMetric("figure", unit), writer, figure=figure, timeout=timeout
        )({"a": 1})
        writer.finish("complete")
    (record,) = read_run(tmp_path / "run").records
    assert record.value == value
    return record


def test_a_figure_in_its_output(tmp_path):
    record = measure(tmp_path, "echo rate: 12.5", figure=r"rate: (\S+)", unit="1")
    assert (record.value, record.verdict, record.params["a"]) == (12.5, "ok", 1)


def test_the_time_that_it_takes_where_it_has_none(tmp_path):
    assert 0 < measure(tmp_path, "true").value < PATIENCE


def test_it_runs_where_the_user_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rate").write_text("rate: 3\n")
    assert measure(tmp_path, "cat rate", figure=r"rate: (\d)").value == 3
    assert Path.cwd() == Path(os.path.realpath(tmp_path))


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 4", "status 4"),
        ("sleep 1000", "did not end in time"),
        ("echo rate: 0", "above 0"),
        ("echo none", "nothing that"),
    ],
)
def test_a_run_without_a_figure_says_why(tmp_path, script, words):
    record = measure(tmp_path, script, figure=r"rate: (\d)", timeout=2.0 if "sleep" in script else PATIENCE)
    assert (record.value, record.verdict) == (None, "failed")
    assert words in record.reason


def test_what_is_not_there_ends_the_campaign_at_once(tmp_path):
    with RunWriter(tmp_path / "run", "tune") as writer, pytest.raises(UsageError, match="can't be started"):
        AppMeasure(["/no/such"], CampaignMetric("seconds", "s"), writer, figure=None, timeout=PATIENCE)({})

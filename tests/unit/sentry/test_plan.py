"""The sentry's plan: what it holds unless asked otherwise, and errors that name file and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.core.durations import DAY
from wulf.core.errors import UsageError
from wulf.sentry.plan import read_plan

LEAST = '[[measure]]\nname = "nodes"\ncommand = ["node", "--quick"]\nevery = "1d"\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "sentry.toml"
    path.write_text(text)
    return path


def test_what_a_plan_does_not_say_is_modest_and_tells_nobody(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path, LEAST))
    (measure,) = plan.measure
    assert (measure.every, measure.nodes_at_once, measure.on) == (DAY, 1, "idle")
    assert (plan.tell.webhook, plan.tell.syslog, plan.tell.drain, plan.tell.drain_at_most) == ("", False, False, 2)
    assert (plan.idle.by, plan.budget.at_once) == ("load", 4)
    assert plan.measure_named("nodes") is measure
    assert plan.measure_named("links") is None


def test_durations_are_seconds_or_said_with_a_unit(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path, f'keep = "30d"\n{LEAST}seconds = 90\n[budget]\nrest = "10m"\n'))
    assert (plan.keep, plan.measure[0].seconds, plan.budget.rest) == (30 * DAY, 90.0, 600.0)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["measure"]),
        (LEAST.replace("1d", "soon"), ["measure.0.every", "soon"]),
        (LEAST.replace('"nodes"', '"No Name"'), ["measure.0.name"]),
        (LEAST.replace("name", "nam"), ["measure.0.nam"]),
        (LEAST + LEAST, ["two measures are called nodes"]),
        (LEAST + "[budget]\nat_once = 0\n", ["budget.at_once"]),
        (LEAST + '[idle]\nby = "guess"\n', ["idle.by"]),
        (LEAST + '[tell]\nwebhook = "ftp://x"\n', ["tell.webhook"]),
        (LEAST + "[tell]\ndrain_at_most = 0\n", ["tell.drain_at_most"]),
        (LEAST + "[alarm]\nleast = 2\n", ["alarm.least"]),
        ("a = ", ["no plan can be read"]),
    ],
)
def test_an_error_names_the_file_and_the_field(tmp_path: Path, text: str, names: list[str]) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        read_plan(path)
    assert str(path) in caught.value.what
    for name in names:
        assert name in caught.value.what


def test_a_plan_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        read_plan(tmp_path / "nowhere.toml")


def test_what_is_kept_of_a_plan_has_no_secret_and_asks_for_the_same_channels(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path, LEAST + '[tell]\nwebhook = "https://chat.example.org/s3cr3t"\n'))
    kept = plan.without_secrets()
    assert "s3cr3t" not in kept.model_dump_json()
    assert bool(kept.tell.webhook) is True
    assert kept.measure == plan.measure
    assert read_plan(written(tmp_path, LEAST)).without_secrets().tell.webhook == ""

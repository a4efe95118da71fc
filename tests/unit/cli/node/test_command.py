"""`wulf node` on the command line: settings checked against the probe's own words, refusals before any node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from wulf.cli.node import command
from wulf.cluster.simulated.node import WULF_NODE
from wulf.core.errors import UsageError
from wulf.measure.engine.probes import Probe
from wulf.workflow.engine.study import Conditions

PROBE = Probe.from_describe(WULF_NODE)


@pytest.fixture(autouse=True)
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "node_probe", lambda: PROBE)


def refused(*arguments: str) -> UsageError:
    result = CliRunner().invoke(command.command, list(arguments))
    assert isinstance(result.exception, UsageError)
    return result.exception


def test_settings_become_parameters_of_their_type() -> None:
    texts = ("bytes=1048576", "pages=huge", "stride=128", "seconds=0.5")
    assert command.parse_settings(PROBE, "chase", texts) == {
        "bytes": 1048576, "pages": "huge", "stride": 128, "seconds": 0.5,
    }  # fmt: skip
    assert command.parse_settings(PROBE, "numa", ("memory-node=1",)) == {"memory_node": 1}


@pytest.mark.parametrize(
    ("texts", "what", "step"),
    [
        (("bytes",), "'bytes' is not a parameter and its value", "names: bytes, pages"),
        (("bytes=many",), "'bytes=many'", ""),
        (("pages=giant",), "pages = 'giant' is none of its choices", "choices: default, small, huge"),
        (("stride=-1",), "stride = -1 is too small", "at least 0"),
        (("byte=1",), "chase has no parameter 'byte'", "did you mean 'bytes'?"),
    ],
)
def test_what_is_wrong_is_named_with_choices_and_limits(texts: tuple[str, ...], what: str, step: str) -> None:
    with pytest.raises(UsageError) as caught:
        command.parse_settings(PROBE, "chase", texts)
    assert what in caught.value.what
    assert step in caught.value.next_step


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["n1", "--nodes", "n2"], "both name the nodes"),
        (["--set", "bytes=1"], "--set is of one probe"),
        (["--only", "cpu", "--probe", "chase"], "give one"),
        (["--only", "gpu"], "'gpu' is no group"),
        (["--probe", "chasse"], "wulf-node has no probe 'chasse'"),
    ],
)
def test_refusals_come_before_any_node_is_touched(arguments: list[str], what: str) -> None:
    error = refused(*arguments)
    assert what in f"{error.what} {error.next_step}"
    assert error.exit_code == 2


def test_the_list_names_probes_with_their_choices_and_rows_with_lmbenchs_label() -> None:
    result = CliRunner().invoke(command.command, ["--list"])
    assert result.exit_code == 0
    assert "pages=default|small|huge" in result.output
    assert "gives latency [s]" in result.output
    assert "os.syscall.null" in result.output
    assert "lmbench: null call" in result.output


def test_completion_offers_probes_and_groups() -> None:
    unused: Any = None
    assert "chase" in command._probe_names(unused, unused, "ch")
    assert command._group_names(unused, unused, "cpu,m") == ["cpu,memory"]


def test_the_margin_is_handed_on_and_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    margins = []

    def survey(given: Conditions, **_: Any) -> None:
        margins.append(given.effort.margin)
        raise UsageError("enough", "")

    monkeypatch.setattr("wulf.workflow.node.survey.NodeSurvey", survey)
    assert refused("n1", "--margin", "5%", "--out", str(tmp_path / "run")).what == "enough"
    assert margins == [0.05]
    assert json.loads((tmp_path / "run" / "run.json").read_text())["margin"] == 0.05

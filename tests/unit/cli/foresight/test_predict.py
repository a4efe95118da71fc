"""`wulf predict` and `wulf networks`: what is asked of the replay, what is printed, and what does not go together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.workflow.predict_fakes import FakeReplay, make_trace
from tests.wording import lacking
from wulf.cli.foresight import networks
from wulf.cli.foresight.predict import command
from wulf.core.errors import UsageError
from wulf.model.network.file import network_schema, network_text, parse_network, shipped_network


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return make_trace(tmp_path / "trace")


def run(*words: str | Path) -> int:
    return int(command.main([str(word) for word in words], standalone_mode=False))


def test_a_candidate_and_its_verdict(fake: FakeReplay, trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(trace, "--network", "this*latency=0.5") == 0
    out, err = capsys.readouterr()
    text = " ".join(out.split())
    assert text.startswith("mpirun ./app, 4 ranks: buy this*latency=0.5")
    assert lacking(text, "saves 7.9 % to 7.9 %", "covers 100.0 %") == []
    assert "replaying 40,000 operations" in err
    assert max(map(len, out.splitlines())) <= 80


def test_json(fake: FakeReplay, trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(trace, "--network", "gbe", "--price", "gbe=100", "--machine-price", "900", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["candidates"][0]["price"] == 100
    assert found["candidates"][0]["required_gain"] == pytest.approx(0.1)
    assert found["baseline"]["from"].endswith("network.toml")


def test_options_reach_the_replay(fake: FakeReplay, trace: Path, tmp_path: Path) -> None:
    (tmp_path / "star.json").write_text('{"kind": "star"}')
    star = tmp_path / "star.json"
    run(trace, "--engine", "b", "--topology", star, "--collectives", "allreduce=ring", "--draws", "39")
    load = next(fields for op, fields in fake.asked if op == "load")
    assert load.pop("copy").keys() == {"send_ps", "receive_ps", "byte_fp"}
    assert load == {"trace": str(trace), "compute": 1.0, "collectives": {"eager": 4096, "allreduce": "ring"}}
    replays = [fields for op, fields in fake.asked if op == "replay"]
    assert {fields["engine"] for fields in replays} == {"b"}
    assert len(replays[1]["networks"]) == 39
    assert all(network["topology"] == {"kind": "star"} for fields in replays for network in fields["networks"])


def test_a_topology_takes_engine_b_by_itself(fake: FakeReplay, trace: Path, tmp_path: Path) -> None:
    (tmp_path / "star.json").write_text('{"kind": "star"}')
    run(trace, "--topology", tmp_path / "star.json", "--draws", "39")
    assert {fields["engine"] for op, fields in fake.asked if op == "replay"} == {"b"}


def test_the_replay_is_told_the_smallest_eager_limit(fake: FakeReplay, trace: Path) -> None:
    run(trace, "--network", "this*eager=0.5")
    loads = [fields["collectives"] for op, fields in fake.asked if op == "load"]
    assert loads == [{"eager": 2048}]


def test_the_page_is_written_with_its_timeline(
    fake: FakeReplay, trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(trace, "--html", tmp_path / "page.html")
    assert 'id="predict-timeline"' in (tmp_path / "page.html").read_text()
    assert "page: " in capsys.readouterr().out
    assert [op for op, _ in fake.asked].count("timeline") == 2


def test_arrays_go_where_they_are_to_before_anything_is_loaded(fake: FakeReplay, trace: Path, tmp_path: Path) -> None:
    run(trace, "--spill", tmp_path)
    assert fake.asked[0] == ("spill", {"folder": str(tmp_path)})
    assert fake.asked[1][0] == "load"


def test_without_a_page_no_timeline_is_asked_for(fake: FakeReplay, trace: Path) -> None:
    run(trace)
    assert "timeline" not in [op for op, _ in fake.asked]


def test_several_traces_say_how_it_scales(fake: FakeReplay, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traces = [make_trace(tmp_path / str(ranks), ranks) for ranks in (2, 4, 8, 16)]
    run(*traces, "--ranks", "32")
    assert "Other numbers of ranks on this" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ranks", "64"], "says nothing of 64"),
        (["--network", "gbe", "--network", "gbe"], "given twice"),
        (["--price", "gbe=5"], "no candidate has that name"),
        (["--network", "gbe", "--price", "gbe=much"], "not a price above 0"),
        (["--engine", "a", "--topology", "x.json"], "engine a knows no topology"),
        (["--engine", "b", "--topology", "no.json"], "can't be read"),
        (["--network", "gbee"], "is no network"),
        (["--baseline", "gbee"], "is no network"),
    ],
)
def test_what_does_not_go_together(fake: FakeReplay, trace: Path, words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        run(trace, *words)
    assert fake.asked == []


def test_no_trace(fake: FakeReplay, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run named"):
        run("nowhere", "--in", tmp_path)


def listed(*words: str) -> int:
    return int(networks.command.main(list(words), standalone_mode=False))


def test_networks_are_listed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    listed("list")
    out = capsys.readouterr().out
    assert "ib-hdr" in out and max(map(len, out.splitlines())) <= 80
    listed("show", "ib-hdr*latency=0.5", "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["name"], found["replay"]["inter"]["latency_ps"]) == ("ib-hdr*latency=0.5", 300_000)


def test_a_network_is_shown_as_its_toml(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    listed("show", "gbe", "--toml")
    assert capsys.readouterr().out == network_text("gbe")
    (tmp_path / "own.toml").write_text(network_text("gbe").replace('"gbe"', '"own"'))
    listed("show", str(tmp_path / "own.toml"), "--toml")
    own = parse_network(capsys.readouterr().out, "own")
    assert own.inter == shipped_network("gbe").inter
    listed("schema")
    assert json.loads(capsys.readouterr().out) == network_schema()

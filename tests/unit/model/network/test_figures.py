"""Networks: what a file may hold, what the replay gets of it, and draws of what is not known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wulf.core.errors import UsageError
from wulf.model.network.figures import (
    FOREVER,
    LARGEST_PACKET,
    LONGEST,
    MOST_BY_BYTE,
    PARTS,
    BadExpressionError,
    Edit,
    Network,
    class_object,
    draws,
    edited,
    host_numbers,
    network_object,
    nominal,
    scaled,
    split_expression,
    values_of,
)
from wulf.model.network.file import network_names, network_schema, network_text, parse_network, shipped_network
from wulf.report.foresight.networks import written

ROOT = Path(__file__).resolve().parents[4]

TOML = """
name = "own"
title = "a network"
[inter]
half_round_trip = { value = 10e-6, low = 8e-6, high = 15e-6, source = "measured" }
send = { value = 2e-6, source = "measured" }
receive = { value = 3e-6, source = "measured" }
message_rate = { value = 1e6, source = "measured" }
bandwidth = { value = 1e9, source = "measured" }
eager = { value = 4096, source = "measured" }
"""


def own(**changes: str) -> str:
    text = TOML
    for old, new in changes.items():
        assert f"{old} = " in text
        text = "\n".join(new if line.startswith(f"{old} = ") else line for line in text.splitlines())
    return text


def test_what_sources_print_becomes_what_the_model_takes() -> None:
    network = Network(parse_network(TOML, "own.toml"))
    assert class_object(nominal(network)[0]) == {
        "latency_ps": 5_000_000, "send_ps": 2_000_000, "receive_ps": 3_000_000, "gap_ps": 1_000_000,
        "byte_fp": 1000 << 20, "send_byte_fp": 0, "receive_byte_fp": 0,
        "packet_byte_fp": 0, "packet_bytes": 0, "eager_bytes": 4096,
    }  # fmt: skip


@pytest.mark.parametrize("name", network_names())
def test_every_network_that_wulf_brings_along_is_whole(name: str) -> None:
    found = shipped_network(name)
    assert found.name == name
    values = values_of(found.inter)
    trip = found.inter.half_round_trip
    if trip is not None:  # what is left for the wire is not cut off at 0
        assert values["latency"] == pytest.approx(trip.value - values["send"] - values["receive"])
        assert values["latency"] > 0
    for figure in found.inter.figures.values():
        assert figure.source
        assert figure.low is None or not figure.estimate or figure.low < figure.high  # type: ignore[operator]


def test_all_that_the_issue_names_are_there() -> None:
    wanted = (
        "fast-ethernet gbe 10gbe 25gbe 40gbe 100gbe 200gbe 400gbe roce-100 ib-sdr ib-ddr ib-qdr ib-fdr ib-edr ib-hdr"
    )
    assert set(wanted.split()) | {"ib-ndr", "slingshot-11", "myrinet-2000", "qsnet-2", "ideal"} <= set(network_names())


@pytest.mark.parametrize("name", ["gbe", "10gbe"])
def test_ethernet_with_interrupts_moderated_is_slower_and_both_are_published(name: str) -> None:
    off, moderated = (shipped_network(each).inter for each in (name, f"{name}-moderated"))
    trips = [one.half_round_trip for one in (off, moderated)]
    assert not any(trip is None or trip.estimate for trip in trips)
    assert values_of(moderated)["latency"] > values_of(off)["latency"]
    assert values_of(moderated)["byte"] == values_of(off)["byte"]


def test_bandwidth_grows_over_the_generations() -> None:
    for family in (["fast-ethernet", "gbe", "10gbe", "25gbe", "40gbe", "100gbe", "200gbe", "400gbe"],
                   ["ib-sdr", "ib-ddr", "ib-qdr", "ib-fdr", "ib-edr", "ib-hdr", "ib-ndr"]):  # fmt: skip
        bytes_times = [values_of(shipped_network(name).inter)["byte"] for name in family]
        assert bytes_times == sorted(bytes_times, reverse=True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"eager": ""}, "inter.eager"),
        ({"send": "send = { value = -1, source = 'x' }"}, "inter.send.value"),
        ({"send": "send = { value = 1 }"}, "inter.send.source"),
        ({"send": "send = { value = 1, low = 2, high = 3, source = 'x' }"}, "between low and high"),
        ({"send": "send = { value = 1, low = 0, source = 'x' }"}, "come together"),
        ({"send": "send = { value = 1, source = 'x', estimate = true }"}, "needs a reason"),
        ({"bandwidth": "bandwidth = { value = 0, source = 'x' }"}, "bandwidth must be above 0"),
        ({"message_rate": ""}, "gap or message_rate"),
        ({"name": "name = 'a*b'"}, "name"),
        ({"title": "titel = 'a'"}, "title: Field required"),
        ({"title": "title = "}, "no TOML"),
    ],
)
def test_a_wrong_file_names_its_field(changes: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=r"own\.toml") as error:
        parse_network(own(**changes), "own.toml")
    assert said in str(error.value)


def test_published_schema_is_the_code() -> None:
    published = json.loads((ROOT / "docs" / "reference" / "network.schema.json").read_text())
    assert published == network_schema(), "run `wulf networks schema > docs/reference/network.schema.json`"


def test_an_expression_changes_its_part_alone() -> None:
    network = Network(parse_network(TOML, "own.toml"), alias="this")
    faster = scaled(network, latency=0.5, bandwidth=4, overhead=0)
    assert faster.name == "this*latency=0.5*bandwidth=4*overhead=0"
    before, after = nominal(network)[0], nominal(faster)[0]
    assert after == before | {"latency": before["latency"] / 2, "byte": before["byte"] / 4, "send": 0, "receive": 0}


def test_expressions_are_read() -> None:
    halved = Edit("latency", 0.5)
    assert split_expression("this*latency=0.5 * bandwidth=2") == ("this", [halved, Edit("bandwidth", 2.0)])
    assert split_expression("this*latency=0.5+latency=4ms") == ("this", [halved, Edit("latency", 4e-3, adds=True)])
    assert split_expression("ib-hdr") == ("ib-hdr", [])
    assert split_expression("a+b.toml*latency=1e+3") == ("a+b.toml", [Edit("latency", 1e3)]), "no plus of ours"


def test_time_is_added_after_what_stands_before_it() -> None:
    network = Network(parse_network(TOML, "own.toml"), alias="this")
    later = edited(network, split_expression("this*latency=0.5+latency=4ms+overhead=250ns")[1])
    assert later.name == "this*latency=0.5+latency=4ms+overhead=250ns"
    before, after = nominal(network)[0], nominal(later)[0]
    assert after["latency"] == pytest.approx(before["latency"] / 2 + 4e-3)
    assert (after["send"], after["receive"]) == pytest.approx((before["send"] + 250e-9, before["receive"] + 250e-9))
    assert {part for part in before if after[part] != before[part]} == {"latency", "send", "receive"}


@pytest.mark.parametrize("text", ["this*latency", "this*latency=fast", "this*", "this+latency=4", "this+latency=-4ms"])
def test_no_expression(text: str) -> None:
    with pytest.raises(BadExpressionError):
        split_expression(text)


@pytest.mark.parametrize("factors", [{"speed": 2.0}, {"latency": -1.0}, {"bandwidth": 0.0}, {"latency": float("nan")}])
def test_no_factor(factors: dict[str, float]) -> None:
    with pytest.raises(BadExpressionError):
        scaled(Network(shipped_network("gbe")), **factors)


@pytest.mark.parametrize("text", ["this+bandwidth=4ms", "this+eager=1s", "this+speed=1s"])
def test_nothing_to_add_to(text: str) -> None:
    with pytest.raises(BadExpressionError):
        edited(Network(shipped_network("gbe")), split_expression(text)[1])


def test_draws_have_the_interval_of_the_file() -> None:
    text = own(send="send = { value = 0, source = 'x' }", receive="receive = { value = 0, source = 'x' }")
    drawn = [inter["latency"] for inter, _ in draws(Network(parse_network(text, "x")), 400, seed=1)]
    low, middle, high = np.quantile(drawn, [0.025, 0.5, 0.975])
    assert (low, middle, high) == pytest.approx((8e-6, 10e-6, 15e-6), rel=0.01)
    assert min(drawn) > 0


def test_expressions_of_one_network_share_its_draws() -> None:
    network = Network(shipped_network("10gbe"))
    pairs = zip(draws(network, 20, seed=3), draws(scaled(network, latency=0.5), 20, seed=3), strict=True)
    for (one, _), (other, _) in pairs:
        assert other == one | {"latency": one["latency"] * 0.5}
    assert draws(network, 2, seed=3) != draws(network, 2, seed=4)


def test_a_figure_without_interval_is_drawn_as_it_is() -> None:
    assert {inter["eager"] for inter, _ in draws(Network(shipped_network("10gbe")), 5, seed=0)} == {65536.0}


def test_hosts_are_told_only_where_it_matters() -> None:
    inter = nominal(Network(shipped_network("gbe")))[0]
    alone = network_object("x", inter, inter, ["a", "b"])
    assert "hosts" not in alone and "intra" not in alone
    assert "hosts" not in network_object("x", inter, None, ["a", "a"])
    own = network_object("x", inter, inter, ["a", "b"], own_messages=True)
    assert "hosts" not in own and own["intra"] == own["inter"]
    assert "intra" not in network_object("x", inter, None, ["a", "a"], own_messages=True), "they would all be copies"
    shared = network_object("x", inter, inter, ["a", "a"], receiver_gap=False)
    assert shared["hosts"] == 2
    assert shared["intra"] == shared["inter"]
    assert shared["receiver_gap"] is False


def test_tcp_has_large_messages_share_an_adapter_and_a_files_toml_says_so() -> None:
    found = {name: shipped_network(name) for name in network_names()}
    assert {name for name, one in found.items() if one.shared_nic} == {
        name for name, one in found.items() if one.stack == "TCP"
    }
    assert parse_network(written(found["gbe"]), "gbe").shared_nic
    values = nominal(Network(found["gbe"]))[0]
    assert network_object("x", values, shared_nic=True)["shared_nic"] is True
    assert "shared_nic" not in network_object("x", values)


@pytest.mark.parametrize("said", [None, True, False])
@pytest.mark.parametrize("key", ["progress", "in_order"])
def test_how_large_messages_get_on_is_in_a_files_toml(key: str, said: bool | None) -> None:
    own = shipped_network("gbe").model_copy(update={key: said})
    assert getattr(parse_network(written(own), "gbe"), key) is said


def test_what_has_no_tcp_has_no_answers_behind_data() -> None:
    stacks = {name: shipped_network(name) for name in network_names()}
    assert {file.in_order for file in stacks.values() if file.stack == "TCP"} == {None}, "as where the trace was made"
    assert {file.in_order for file in stacks.values() if file.stack != "TCP"} == {False}


def test_messages_that_are_sent_at_once_may_have_a_time_of_a_byte_of_their_own() -> None:
    text = TOML + 'eager_byte = { value = 4e-9, low = 3e-9, high = 5e-9, source = "measured" }'
    network = Network(parse_network(text, "own.toml"))
    assert parse_network(written(network.base), "own.toml") == network.base

    def both(one: Network) -> tuple[float, float]:
        found = class_object(nominal(one)[0])
        return found["byte_fp"] / 2**20, found["eager_byte_fp"] / 2**20

    assert both(network) == pytest.approx((1000, 4000))
    assert both(scaled(network, bandwidth=2.0)) == pytest.approx((500, 2000))
    assert both(scaled(network, byte=3.0)) == pytest.approx((3000, 12000))
    drawn = [class_object(inter)["eager_byte_fp"] / 2**20 for inter, _ in draws(network, 39, 1)]
    assert 2500 < min(drawn) < 3500 and 4500 < max(drawn) < 5500
    assert "eager_byte_fp" not in class_object(nominal(Network(parse_network(TOML, "own.toml")))[0])


def test_figures_too_large_for_the_replay_are_cut() -> None:
    values = dict.fromkeys(PARTS, 1e30)
    assert set(class_object(values).values()) == {LONGEST, MOST_BY_BYTE, LARGEST_PACKET, FOREVER}


@pytest.mark.parametrize(
    ("hosts", "numbers"),
    [("aabb", 2), ("aabbc", 2), ("abab", [0, 1, 0, 1]), ("aab", 2), ("abb", [0, 1, 1]), ("abc", 1)],
)
def test_hosts_as_numbers(hosts: str, numbers: object) -> None:
    assert host_numbers(list(hosts)) == numbers


def test_packets_come_with_their_size() -> None:
    with pytest.raises(UsageError, match="packet_byte and packet come together"):
        parse_network(TOML + 'packet = { value = 1500, source = "measured" }\n', "own.toml")


def test_texts_of_unknown_networks() -> None:
    with pytest.raises(KeyError):
        network_text("../pelikan")

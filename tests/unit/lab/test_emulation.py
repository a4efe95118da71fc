from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.core.durations import parse_duration
from wulf.core.errors import LabError
from wulf.lab import emulation


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("50us", 50e-6),
        ("1.5ms", 1.5e-3),
        ("0.01s", 0.01),
        (".5ms", 0.5e-3),
        (" 20 µs ", 20e-6),
        ("100usec", 100e-6),
        ("10msecs", 0.01),
        ("800NS", 800e-9),
        ("10s", 10.0),
        ("0", 0.0),
        ("0.0", 0.0),
        ("none", 0.0),
    ],
)
def test_durations_as_tc_writes_them(text: str, seconds: float) -> None:
    assert emulation.parse({"delay": text}, "n1") == {"delay": pytest.approx(seconds, rel=1e-12)}


@given(st.integers(1, 10_000_000))
def test_any_whole_microseconds(number: int) -> None:
    assert parse_duration(f"{number}us", 10.0) == pytest.approx(number * 1e-6, abs=1e-12)


@pytest.mark.parametrize(
    "option, text, say",
    [
        ("delay", "50", "with its unit"),  # tc would take it for microseconds, most people for milliseconds
        ("delay", "-1ms", "with its unit"),
        ("delay", "1min", "with its unit"),
        ("delay", "nan", "with its unit"),
        ("delay", "11s", "The most is 10 s"),
        ("moderate", "2s", "The most is 1 s"),
        ("loss", "0.1", "in per cent"),
        ("loss", "101%", "0% to 100%"),
        ("queue", "-1", "from 0 to"),
        ("queue", "1.5", "from 0 to"),
        ("mtu", "575", "from 576 to 65521"),
        ("mtu", "65522", "from 576 to 65521"),
    ],
)
def test_what_is_refused_names_node_option_and_what_would_do(option: str, text: str, say: str) -> None:
    with pytest.raises(LabError, match=rf"^n7: '{text}' is no {option} ") as caught:
        emulation.parse({option: text}, "n7")
    assert say in caught.value.next_step


def test_an_unknown_option() -> None:
    with pytest.raises(LabError, match="n1: a link has no 'speed'"):
        emulation.parse({"speed": "1"}, "n1")


def parsed(**options: str) -> dict[str, float | None]:
    return emulation.parse(options, "n1")


def changed(link: emulation.Link | None, how: dict[str, str] | None = None, **options: str) -> emulation.Link | None:
    return emulation.change(link, parsed(**options), node="n1", **(how or {}))


def test_a_rate_alone_needs_no_emulator() -> None:
    assert changed(None, rate="1gbit") is None
    assert changed(None) is None


def test_a_plain_link_takes_its_rate_along() -> None:
    link = emulation.change(None, parsed(delay="50us"), node="n1", rate=10**9)
    assert link == {"emulator": "link", "out": {"rate": 10**9, "delay": 5e-5}, "in": {"rate": 10**9, "delay": 5e-5}}
    assert emulation.common_rate(link) == "1gbit"


def test_what_is_not_named_stays_and_none_takes_back() -> None:
    link = changed(changed(None, delay="50us", loss="1%"), loss="none", queue="0")
    assert link == {"emulator": "link", "out": {"delay": 5e-5, "queue": 0}, "in": {"delay": 5e-5, "queue": 0}}
    assert changed(link, delay="none", queue="none") == {"emulator": "link", "out": {}, "in": {}}


def test_one_direction_alone() -> None:
    link = changed(changed(None, delay="50us"), {"direction": "in"}, delay="1ms", rate="1mbit")
    assert link == {"emulator": "link", "out": {"delay": 5e-5}, "in": {"delay": 1e-3, "rate": 1e6}}
    assert emulation.common_rate(link) is None
    assert emulation.show_link(link) == "out: delay 50 µs; in: rate 1mbit, delay 1 ms"
    alone = changed(None, {"direction": "out"}, rate="1mbit")
    assert alone == {"emulator": "link", "out": {"rate": 1e6}, "in": {}}


def test_a_change_leaves_the_old_description_alone() -> None:
    link = changed(None, delay="50us")
    changed(link, delay="1ms")
    assert link == changed(None, delay="50us")


@pytest.mark.parametrize(
    "how, options, say",
    [
        ({}, {"delay": "1us", "jitter": "2us"}, "before they left"),
        ({}, {"delay": "none", "reorder": "1%"}, "needs a delay"),
        ({"emulator": "netem"}, {"moderate": "10us"}, "netem has no interrupt moderation"),
        ({"emulator": "none"}, {"delay": "1us"}, "delay needs an emulator"),
        ({"emulator": "none", "direction": "in"}, {"rate": "1gbit"}, "a single direction needs an emulator"),
        ({"emulator": "dummynet"}, {"delay": "1us"}, "no emulator 'dummynet'"),
        ({"direction": "up"}, {"delay": "1us"}, "no direction 'up'"),
    ],
)
def test_contradictions(how: dict[str, str], options: dict[str, str], say: str) -> None:
    with pytest.raises(LabError, match=rf"^n1: .*{say}"):
        changed(None, how, **options)


def test_shown() -> None:
    link = changed(None, delay="1.5ms", jitter="100us", loss="0.1%", mtu="9000", moderate="20us")
    shown = emulation.show_link(link).split(", ")
    assert shown == ["delay 1.5 ms", "jitter 100 µs", "loss 0.1 %", "mtu 9000", "moderate 20 µs"]
    assert emulation.show_link(changed(None, {"emulator": "netem"}, delay="1ms")) == "netem: delay 1 ms"
    assert emulation.show_link(changed(None, delay="0")) == "zero setting"
    assert emulation.show_link(None) == ""

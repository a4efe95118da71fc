"""Quiet hours of traffic, from polls that were recorded in a lab under load."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from wulf.core.findings import Severity
from wulf.findings.net.traffic import NOISE, traffic_findings
from wulf.measure.engine.plan import Plan
from wulf.measure.net.traffic import Polls, traffic_losses, traffic_records

PARTNERS = 3
"""To whom a node sends."""

POLLS, EVERY = 60, 60.0
"""An hour, as `wulf links --for 1h --every 60s` polls it; seconds."""

FIELDS = (
    "sockets", "acked", "segments", "again", "dups", "busy", "rwnd", "sndbuf", "rtt", "least", "rate"
)  # fmt: skip

AT = "2026-11-29T03:00:00Z"


@cache
def recorded(load: str) -> list[dict[str, Any]]:
    """Windows without a fault: of each pair what six polls said, 2 s apart, and how late the hosts were."""
    text = files("wulf.selftest.simulated").joinpath("recorded_traffic.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)[load]
    return found


def hour(random: np.random.Generator, nodes: int, load: str) -> bool:
    """Whether anyone is accused within an hour of polls, through what `wulf links` makes of them.

    Blocks of polls that followed each other, of all pairs at the same time, are drawn anew, so that the polls depend on
    each other as they did (block bootstrap; Künsch, Annals of Statistics 17, 1989).
    """
    names = [f"n{number}" for number in range(1, nodes + 1)]
    polls, windows = Polls({name: name for name in names}), recorded(load)
    steps = random.choice(np.arange(1, nodes), size=PARTNERS, replace=False)
    block: list[tuple[dict[str, Any], int]] = []
    for poll in range(POLLS):
        if not block:
            window = windows[int(random.integers(len(windows)))]
            block = [(window, number) for number in range(len(window["pressure"]))]
        window, number = block.pop(0)
        answers = {}
        for place, name in enumerate(names):
            peers = [names[(place + int(step)) % nodes] for step in steps]
            series = [window["pairs"][(place * PARTNERS + k) % len(window["pairs"])] for k in range(PARTNERS)]
            answers[name] = _answer(window, number, peers, series)
        polls.take(answers, poll, AT)
    records = traffic_records(Plan(tuple(polls.cells), 0, looks=(POLLS,)), polls, "selftest", AT, {})
    losses = traffic_losses(polls)
    found = traffic_findings(records, {}, losses, {}, EVERY)
    return any(one.severity is Severity.BAD or one.kind == NOISE for one in found)


def _answer(window: dict[str, Any], number: int, peers: list[str], series: list[Any]) -> dict[str, Any]:
    """One node's poll: as much in each second as was recorded."""
    longer = EVERY / window["seconds"]
    groups: dict[str, list[Any]] = {name: [own[number][place] for own in series] for place, name in enumerate(FIELDS)}
    for name in ("acked", "segments", "again", "dups"):
        groups[name] = [round(longer * count) for count in groups[name]]
    for name in ("busy", "rwnd", "sndbuf"):
        groups[name] = [longer * seconds for seconds in groups[name]]
    many = len(peers)
    return {
        "seconds": EVERY, "sockets": many, "new": 0, "ended": 0, "left_out": 0, "cpu_seconds": 0.004,
        "host": {"pressure": window["pressure"][number] * EVERY},
        "groups": {
            "peer": peers, "port": [5001] * many, "serving": [False] * many, "program": [""] * many,
            "received": [0] * many, "window": [1 << 20] * many, "delivered": groups["segments"], **groups,
        },
    }  # fmt: skip

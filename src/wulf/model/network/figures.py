"""Networks as the replay takes them: integer picoseconds and fixed point, with draws of what is not known exactly.

The figures are those of LogGOPS (Hoefler, Schneider and Lumsdaine, LogGOPSim, HPDC 2010): L, o of sender and receiver,
g, G, O a byte, and S, the eager limit. What a network would be with one of them changed is an expression:
`this*latency=0.5*bandwidth=2`, or with time added to one: `this+latency=4ms`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any
from zlib import crc32

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from wulf.core.durations import parse_duration
from wulf.model.network.file import Costs, Figure, NetworkFile
from wulf.stats.samples import Floats

PICO = 1e12
"""Picoseconds of a second."""

FRACTION_BITS = 20
"""Of the fixed point in which the time of a byte is given to the replay."""

LONGEST, MOST_BY_BYTE, FOREVER = 10**15, 1 << 50, 1 << 62
"""The largest figures that the replay takes: ps a message, fixed point a byte, and bytes that stand for no limit."""

CONFIDENCE = 0.95
"""Of the intervals in a network's file."""

PARTS = (
    *("latency", "send", "receive", "gap", "byte", "send_byte", "receive_byte", "packet_byte", "packet"),
    *("eager", "eager_more"),
)
"""What the model needs of a class: [s] but for the four by byte [s/B], `packet` and `eager` [B], and `eager_more`
[s/B]: by how much more, or less, than others a byte takes of messages that are sent at once."""

LARGEST_PACKET = 1 << 20
"""Bytes that the replay takes a packet to have at most."""

TIMES = ("latency", "send", "receive", "gap", "overhead")
"""What an expression can add to: the parts that are times."""

FACTORS: dict[str, tuple[tuple[str, ...], int]] = {
    **{part: ((part,), 1) for part in PARTS},
    "overhead": (("send", "receive", "send_byte", "receive_byte"), 1),
    "byte": (("byte", "eager_more"), 1),
    "bandwidth": (("byte", "packet_byte", "eager_more"), -1),
}
"""What an expression can change: the parts, and the power of the factor that each is multiplied by."""

_OPERATOR = re.compile(r"(\*|\+(?=\s*[a-z_]+\s*=))")
"""A plus in a file's name is none."""

COPY_MESSAGE, COPY_BYTE = 0.2e-6, 1 / 8e9
"""What a rank's message to itself is taken to cost where nothing was measured within a host [s, s/B]: a call at either
end, and a copy at 8 GB/s."""

Values = dict[str, float]
"""Part → figure, SI."""

COPY: Values = {
    **dict.fromkeys(PARTS, 0.0), "send": COPY_MESSAGE, "receive": COPY_MESSAGE, "receive_byte": COPY_BYTE,
    "eager": float(FOREVER),
}  # fmt: skip
"""The same as a class of messages."""


class BadExpressionError(ValueError):
    """An expression changes what can't be changed, or by what is no factor."""


@dataclass(frozen=True)
class Edit:
    """A part that is multiplied by an amount, or that so many seconds are added to."""

    part: str
    amount: float
    adds: bool = False

    def __str__(self) -> str:
        return f"+{self.part}={_written(self.amount)}" if self.adds else f"*{self.part}={self.amount:g}"

    def applied(self, values: Values) -> Values:
        """The figures with it; negative and endless ones are refused when it is made."""
        names, power = FACTORS[self.part]
        if self.adds:
            return values | {name: values[name] + self.amount for name in names if name in TIMES}
        return values | {name: values[name] * self.amount**power for name in names}


def _written(seconds: float) -> str:
    unit, scale = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e3), ("us", 1e6)) if seconds * s >= 1), ("ns", 1e9))
    return f"{seconds * scale:g}{unit}"


@dataclass(frozen=True)
class Network:
    """A network, perhaps with parts of it changed.

    Attributes
    ----------
    edits
        What is changed, in the order given: of `inter` alone, as no network changes memory.
    notes
        What to beware of.
    """

    base: NetworkFile
    edits: tuple[Edit, ...] = ()
    alias: str = ""
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """`ib-hdr`, `this*latency=0.5+gap=2us`."""
        return "".join([self.alias or self.base.name, *map(str, self.edits)])

    @property
    def estimated(self) -> list[str]:
        """The figures that are estimates."""
        return [name for name, figure in self.base.inter.figures.items() if figure.estimate]


def scaled(network: Network, **factors: float) -> Network:
    """The network with parts of it multiplied: `scaled(this, latency=0.5)`. Raises as `edited`."""
    return edited(network, [Edit(part, factor) for part, factor in factors.items()])


def edited(network: Network, edits: Sequence[Edit]) -> Network:
    """The network with parts of it changed.

    Raises
    ------
    BadExpressionError
        No such part, a factor that is negative or not finite, a bandwidth of 0, or a time added to what is none.
    """
    for one in edits:
        if one.part not in FACTORS:
            raise BadExpressionError(f"{one.part!r} is no part of a network: there are {', '.join(FACTORS)}")
        if one.adds and one.part not in TIMES:
            raise BadExpressionError(f"{one.part!r} is no time to add to: {', '.join(TIMES)} are")
        if not isfinite(one.amount) or one.amount < 0 or (one.amount == 0 and FACTORS[one.part][1] < 0):
            raise BadExpressionError(f"{one.part}={one.amount:g}: a factor is 0 or more, and for bandwidth above 0")
    return replace(network, edits=(*network.edits, *edits))


def split_expression(text: str) -> tuple[str, list[Edit]]:
    """`this*latency=0.5+gap=2us` as what it begins with, and what is changed.

    Raises
    ------
    BadExpressionError
        It is not of that form.
    """
    base, *rest = _OPERATOR.split(text)
    return base.strip(), [_edit(operator, words) for operator, words in zip(rest[::2], rest[1::2], strict=True)]


def _edit(operator: str, words: str) -> Edit:
    name, equals, amount = words.partition("=")
    try:
        if operator == "+":
            return Edit(name.strip(), parse_duration(amount), adds=True)
        if equals:
            return Edit(name.strip(), float(amount))
    except ValueError as error:
        if operator == "+":
            raise BadExpressionError(f"+{words}: {error}") from error
    raise BadExpressionError(f"{words!r} is not PART=FACTOR, as in this*latency=0.5")


def values_of(costs: Costs, given: Mapping[str, float] | None = None) -> Values:
    """What the model needs, of what the file holds; L of half a round trip is what both overheads leave of it.

    Parameters
    ----------
    given
        In place of the file's own figures: one draw of them.
    """
    own = given or {name: figure.value for name, figure in costs.figures.items()}
    send, receive = own["send"], own["receive"]
    latency = own["latency"] if "latency" in own else max(0.0, own["half_round_trip"] - send - receive)
    gap = own["gap"] if "gap" in own else 1 / own["message_rate"]
    byte = own["byte"] if "byte" in own else 1 / own["bandwidth"]
    return {
        "latency": latency, "send": send, "receive": receive, "gap": gap, "byte": byte,
        "send_byte": own.get("send_byte", 0.0), "receive_byte": own.get("receive_byte", 0.0),
        "packet_byte": own.get("packet_byte", 0.0), "packet": own.get("packet", 0.0), "eager": own["eager"],
        "eager_more": own.get("eager_byte", byte) - byte,
    }  # fmt: skip


def changed(values: Values, edits: Sequence[Edit]) -> Values:
    """The figures with all edits, in their order."""
    for one in edits:
        values = one.applied(values)
    return dict(values)


def nominal(network: Network) -> tuple[Values, Values | None]:
    """`inter` and `intra` by their values."""
    intra = network.base.intra
    return changed(values_of(network.base.inter), network.edits), None if intra is None else values_of(intra)


def draws(network: Network, count: int, seed: int) -> list[tuple[Values, Values | None]]:
    """So many draws of a network within its intervals, by Latin hypercube.

    Expressions of one network share its draws: what is not known of it is the same in both, and cancels.
    """
    random = np.random.default_rng([seed, crc32(network.base.name.encode())])
    inter = _drawn(network.base.inter, count, random)
    intra = network.base.intra
    within: Sequence[Values | None] = [None] * count if intra is None else _drawn(intra, count, random)
    return [(changed(one, network.edits), other) for one, other in zip(inter, within, strict=True)]


def _drawn(costs: Costs, count: int, random: np.random.Generator) -> list[Values]:
    figures = costs.figures
    places = qmc.LatinHypercube(len(figures), seed=random).random(count)
    normal = ndtri(np.clip(places, 1e-9, 1 - 1e-9)) / float(ndtri((1 + CONFIDENCE) / 2))
    columns = [_two_piece(figure, normal[:, i]) for i, figure in enumerate(figures.values())]
    return [values_of(costs, dict(zip(figures, map(float, row), strict=True))) for row in zip(*columns, strict=True)]


def _two_piece(figure: Figure, normal: Floats) -> Floats:
    """Two halves of normal distributions that meet in the value, of the logarithm where that is possible.

    Their 95 % interval is the figure's (Wallis, Statistical Science 29(1), 2014); none is below 0.
    """
    low, value, high = figure.low, figure.value, figure.high
    if low is None or high is None:
        return np.full(normal.size, value)
    if low > 0:
        down, up = np.log(value / low), np.log(high / value)
        return np.asarray(value * np.exp(np.where(normal < 0, normal * down, normal * up)))
    return np.asarray(np.maximum(0.0, value + np.where(normal < 0, normal * (value - low), normal * (high - value))))


def _ps(seconds: float) -> int:
    return min(LONGEST, round(seconds * PICO))


def _ps_a_byte(seconds: float) -> int:
    return min(MOST_BY_BYTE, round(seconds * PICO * (1 << FRACTION_BITS)))


def class_object(values: Values) -> dict[str, int]:
    """A class as the replay takes it: ps, ps a byte with 20 fractional bits, bytes."""

    def time(part: str) -> int:
        return _ps(values[part])

    def by_byte(part: str) -> int:
        return _ps_a_byte(values[part])

    more = values["eager_more"]
    return {
        "latency_ps": time("latency"), "send_ps": time("send"), "receive_ps": time("receive"), "gap_ps": time("gap"),
        "byte_fp": by_byte("byte"), "send_byte_fp": by_byte("send_byte"), "receive_byte_fp": by_byte("receive_byte"),
        "packet_byte_fp": by_byte("packet_byte"), "packet_bytes": min(LARGEST_PACKET, round(values["packet"])),
        "eager_bytes": min(FOREVER, round(values["eager"])),
        **({"eager_byte_fp": _ps_a_byte(max(0.0, values["byte"] + more))} if more else {}),
    }  # fmt: skip


def copy_object(intra: Values | None) -> dict[str, int]:
    """What a rank's message to itself costs, as the replay takes it: a copy, with which no network has to do.

    Parameters
    ----------
    intra
        What messages within a host cost, which holds for one to itself, too; None: it is not known.
    """
    costs = COPY if intra is None else intra
    byte = sum(costs[part] for part in ("byte", "send_byte", "receive_byte"))
    return {"send_ps": _ps(costs["send"]), "receive_ps": _ps(costs["receive"]), "byte_fp": _ps_a_byte(byte)}


def network_object(
    name: str,
    inter: Values,
    intra: Values | None = None,
    hosts: Sequence[str] = (),
    *,
    receiver_gap: bool = True,
    shared_nic: bool = False,
    own_messages: bool = False,
) -> dict[str, Any]:
    """A network as the replay takes it.

    Parameters
    ----------
    hosts
        Of each rank, by name; told only where messages within a host cost something else, and some stay within one.
    shared_nic
        With a topology: large messages of a rank share its adapter, unless the topology says else.
    own_messages
        Whether ranks may send to themselves what is no copy yet (see `copy_object`): it never costs the wire.
    """
    content: dict[str, Any] = {"name": name, "inter": class_object(inter), "receiver_gap": receiver_gap}
    if shared_nic:
        content["shared_nic"] = True
    if intra is not None and len(set(hosts)) < len(hosts):
        content |= {"intra": class_object(intra), "hosts": host_numbers(hosts)}
    elif own_messages and len(set(hosts)) == len(hosts):
        content["intra"] = class_object(COPY if intra is None else intra)
    return content


def host_numbers(hosts: Sequence[str]) -> int | list[int]:
    """Each rank's host as a number; where ranks fill one host after the other, how many a host has: it is shorter."""
    numbers: dict[str, int] = {}
    listed = [numbers.setdefault(host, len(numbers)) for host in hosts]
    together = listed.count(0)
    return together if listed == [rank // together for rank in range(len(listed))] else listed

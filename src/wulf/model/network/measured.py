"""A network's figures from what `wulf model loggp` measured of a pair."""

from __future__ import annotations

from math import isfinite

from wulf.model.network.figures import FOREVER
from wulf.model.network.file import Costs, Figure, NetworkFile
from wulf.model.network.loggp import LogGP
from wulf.model.network.patterns import BOTH_WAYS, TOGETHER, WINDOW
from wulf.stats.estimates import Interval


def from_loggp(found: LogGP, name: str, source: str) -> tuple[NetworkFile, tuple[str, ...]]:
    """A network of what `wulf model loggp` measured of a pair, and what to beware of.

    Without overheads (a sweep of round trips) all of half a round trip is latency; then an application that overlaps
    its messages is predicted too slow by little.
    """
    notes = []
    first = found.times.lines[0].alpha
    latency, send, receive = found.latency, found.send, found.receive
    if latency is None or send is None or receive is None:
        notes.append(f"{source}: {found.reasons.get('send') or found.reasons.get('latency')}; all of it is latency")
        latency, send, receive = first, Interval(0.0, 0.0, 0.0), Interval(0.0, 0.0, 0.0)
    gap = found.gap
    if gap is None:
        notes.append(f"{source}: {found.reasons.get('gap', 'no gap was measured')}; messages follow each other at once")
        gap = Interval(0.0, 0.0, 0.0)
    eager = found.eager
    if eager is None:
        notes.append(f"{source}: no change of protocol was found: every message is taken to be eager")
    crossed, by_byte, many = found.missed(BOTH_WAYS), found.missed(BOTH_WAYS, by_byte=True), found.missed(TOGETHER)
    if crossed > 0:
        notes.append(_off(source, "messages that cross", crossed, "L's and o's intervals allow"))
    if by_byte > 0:
        notes.append(_off(source, "large messages that cross", by_byte, "G's interval allows"))
    if many > 0:
        notes.append(_off(source, f"{WINDOW} messages each way at once", many, "o's and g's intervals allow"))
    if found.progress is False:
        share = found.hidden[max(found.hidden)].value
        notes.append(
            f"{source}: large messages get on in calls of MPI alone, as {share:.0%} of an exchange hides behind "
            "computing as long"
        )
    if found.in_order:
        notes.append(
            f"{source}: requests and answers of large messages wait behind data, so that those that cross take turns "
            "unless both ends begin within a latency"
        )
    latency = _allowing(latency, crossed)
    send, receive = (_allowing(one, max(crossed, many)) for one in (send, receive))
    costs = Costs(
        latency=_figure(latency, source), send=_figure(send, source), receive=_figure(receive, source),
        gap=_figure(_allowing(gap, many), source), byte=_figure(_allowing(found.per_byte, by_byte), source),
        eager=Figure(value=FOREVER, source=source) if eager is None else _figure(eager, source),
        eager_byte=None if found.eager_byte is None else _figure(found.eager_byte, source),
        **_stored(found, eager.value if eager else None, source),
    )  # fmt: skip
    file = NetworkFile(
        name=name, title=source, stack="measured", progress=found.progress, in_order=found.in_order, inter=costs
    )
    return file, tuple(notes)


def _off(source: str, what: str, share: float, allowed: str) -> str:
    return f"{source}: {what} take up to {share:.0%} more or less than the figures say: {allowed} for it"


def _stored(found: LogGP, eager: float | None, source: str) -> dict[str, Figure]:
    """What storing packets costs a single message: its time grows faster than G over the first sizes, and then stays
    behind by as much as a packet took. Nothing where that is not told from G.
    """
    first, *later = [line for line in found.times.lines if eager is None or line.last <= eager] or found.times.lines[:1]
    per_byte = found.eager_byte or found.per_byte
    by_byte = first.beta.value - per_byte.value
    if first.beta.low <= per_byte.high or by_byte <= 0:
        return {}
    packet = first.last
    if later:
        middle = (later[0].first + later[0].last) / 2
        behind = later[0].at(middle) - first.alpha.value - per_byte.value * middle
        packet = min(later[0].first, max(0.0, behind / by_byte))
    return {
        "packet_byte": Figure(value=by_byte, source=source),
        "packet": Figure(value=packet, source=f"{source}: by how much longer messages come later"),
    }


def _allowing(one: Interval, share: float) -> Interval:
    """The interval, so wide that the value may be off by that share of it."""
    return Interval(one.value, min(one.low, one.value * (1 - share)), max(one.high, one.value * (1 + share)))


def _figure(one: Interval, source: str) -> Figure:
    """A figure of an interval; what fell below 0 by noise is 0."""
    value = max(0.0, one.value)
    if not (isfinite(one.low) and isfinite(one.high)) or one.low == one.high:
        return Figure(value=value, source=source)
    return Figure(value=value, low=min(value, max(0.0, one.low)), high=max(value, one.high), source=source)

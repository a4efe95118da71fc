"""netperf: streams, requests and answers, and connections for one request each (netperf 2.7, `netperf -H SERVER`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from wulf.measure.tool import MIDDLE, Loop, Measurement, mean, nodelay, steady, throughput, value

if TYPE_CHECKING:
    from wulf.core.records import Param
    from wulf.measure.engine.collect import Replicate

SECONDS = 10.0
"""-l, unless told otherwise."""

SEND = {"tcp": 16384, "udp": 65507}
"""What a stream sends with one call, as netperf takes it from Linux's buffers: SO_SNDBUF of a new TCP socket, and the
longest datagram."""

SHORTEST = 16
"""Bytes that the probe of connections asks with at least."""

_STREAM = """\
Recv   Send    Send                          
Socket Socket  Message  Elapsed              
Size   Size    Size     Time     Throughput  
bytes  bytes   bytes    secs.    10^6bits/sec  
"""  # noqa: W291 - netperf's own blanks
_DATAGRAMS = """\
Socket  Message  Elapsed      Messages                
Size    Size     Time         Okay Errors   Throughput
bytes   bytes    secs            #      #   10^6bits/sec
"""  # noqa: W291
_TRANSACTIONS = """\
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate         
bytes  Bytes  bytes    bytes   secs.    per sec   
"""  # noqa: W291


def _head(measured: Measurement, test: str) -> str:
    return f"MIGRATED {test} TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to {measured.cell.server} () port 0 AF_INET"


def _mbits(rate: float) -> float:
    return rate * 8e-6


def _buffers(loop: Replicate) -> list[Any]:
    """SO_SNDBUF and SO_RCVBUF of the client, then of the server; `-` where they are not told."""
    info = loop["info"]
    server = info.get("server", {})
    return [end.get(name, "-") for end in (info, server) for name in ("sndbuf", "rcvbuf")]


def _stream_text(measured: Measurement) -> str:
    loop = measured.middle(throughput)
    sndbuf, _, _, rcvbuf = _buffers(loop)
    size, rate = measured.cell.params["bytes"], _mbits(throughput(loop))
    row = f"{rcvbuf:>6} {sndbuf:>6} {size:6}    {loop['seconds']:<6.2f}   {rate:.2f}   "
    return "\n".join([_head(measured, "TCP STREAM"), _STREAM, row])


def _datagram_text(measured: Measurement) -> str:
    loop = measured.middle(throughput)
    sndbuf, _, _, rcvbuf = _buffers(loop)
    size, loss = measured.cell.params["bytes"], loop["metrics"]["loss"]
    sent = float(value(loop, "sent") or 0.0)
    rows = [
        f"{sndbuf:>6} {size:7}   {loop['seconds']:<7.2f} {loss['sent']:10} {'-':>6}    {_mbits(sent):.2f}",
        f"{rcvbuf:>6}           {loop['seconds']:<7.2f} {loss['received']:10}           {_mbits(throughput(loop)):.2f}",
    ]
    return "\n".join([_head(measured, "UDP STREAM"), _DATAGRAMS, *rows])


def _transactions(rate: Callable[[Replicate], float], test: str) -> Callable[[Measurement], str]:
    """Of requests and answers: how many a second."""

    def text(measured: Measurement) -> str:
        loop = measured.middle(rate)
        sndbuf, rcvbuf, *server = _buffers(loop)
        size = measured.cell.params["bytes"]
        row = f"{sndbuf:<6} {rcvbuf:<6} {size:<8} {size:<6}  {loop['seconds']:<6.2f}   {rate(loop):.2f}   "
        return "\n".join([_head(measured, test), _TRANSACTIONS, row, f"{server[0]:<6} {server[1]:<6}"])

    return text


def round_trips(loop: Replicate) -> float:
    """Requests and answers a second, one at a time: what netperf calls a transaction."""
    return 1 / mean(loop)


def connections(loop: Replicate) -> float:
    """Connections a second, each with its request, answer and end."""
    return float(value(loop, "connections"))


def _command(test: str, size: str) -> Callable[[Measurement], str]:
    def command(measured: Measurement) -> str:
        cell = measured.cell
        length = size.format(cell.params["bytes"])
        return f"netperf -H {cell.server} -t {test} -l {float(cell.params['seconds'] or 0):.3g} -- {length}"

    return command


def _loop(
    test: str, pattern: str, transport: str, text: Callable[[Measurement], str], differs: Sequence[str], **more: Param
) -> Loop:  # fmt: skip
    streams = pattern == "stream"
    return Loop(
        tool="netperf", pattern=pattern, transport=transport, seconds=SECONDS, timing=steady, text=text,
        command=_command(test, "-m {}" if streams else "-r {0},{0}"),
        options={"bytes": SEND[transport] if streams else 1, **nodelay(transport, on=False), **more},
        figure=mean if pattern == "pingpong" else None, differs="; ".join([*differs, MIDDLE]),
    )  # fmt: skip


_CLOCK = "every transaction reads the clock, where netperf lets a timer end the loop"
_SIZES = "buffers are those at the test's end, grown, where netperf shows a new socket's"

LOOPS = (
    _loop("TCP_STREAM", "stream", "tcp", _stream_text, ["the receiver's clock times it", _SIZES], gather=False),
    _loop("UDP_STREAM", "stream", "udp", _datagram_text, ["errors of sending are not told"]),
    _loop("TCP_RR", "pingpong", "tcp", _transactions(round_trips, "TCP REQUEST/RESPONSE"), [_CLOCK, _SIZES]),
    _loop("UDP_RR", "pingpong", "udp", _transactions(round_trips, "UDP REQUEST/RESPONSE"), [_CLOCK]),
    _loop("TCP_CRR", "connect", "tcp", _transactions(connections, "TCP Connect/Request/Response"),
          [_CLOCK, _SIZES, f"requests and answers are of {SHORTEST} B, where netperf's are of 1 B"], bytes=SHORTEST),
)  # fmt: skip

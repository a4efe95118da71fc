"""A cluster that exists in memory alone: what wulf-net and wulf-agent would answer, with seeded values and no I/O.

The null launcher puts it behind sessions. Tests of all that stands above sessions choose its values and its faults.
"""

from __future__ import annotations

import itertools
import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any, Literal

from wulf.agent.blas import dgemm
from wulf.cluster.simulated.node import WULF_NODE, usual_value

Answer = dict[str, Any]

Value = Callable[[str, str, Mapping[str, Any]], float | None]
"""From client, server, and the run's parameters with "pattern" and "transport": round-trip time in seconds for
pingpong, bytes per second for stream. None: nothing came back. It may raise `Refusal`: a connection that fails."""

NodeValue = Callable[[str, str, str, Mapping[str, Any]], float | str | None]
"""From node, probe, metric and the run's parameters to the figure, or the reason why there is none; None: as usual."""

NETWORK = IPv4Address("10.0.0.0")
"""The simulated node number i has the i-th address from here on, in a /8."""


class Refusal(Exception):  # noqa: N818 - an answer whose "ok" is false, not a fault of this program
    """The simulated program refuses a request."""

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({"field": field} if field else {})


@dataclass(frozen=True)
class Fault:
    """What goes wrong on a node, and when.

    Parameters
    ----------
    node
        Its name.
    op
        The operation at which it happens.
    call
        Which call of that operation on that node, counted from 1.
    program
        Calls of this program alone count; None: of whichever.
    kind
        ``error`` answers with ``code`` and ``message``; ``die`` ends the program; ``silence`` never answers;
        ``nonsense`` answers with the fields of ``answer`` alone.
    """

    node: str
    op: str
    call: int = 1
    kind: Literal["error", "die", "silence", "nonsense"] = "error"
    code: str = "internal"
    message: str = "a simulated fault"
    program: str | None = None
    answer: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class SimulatedCluster:
    """The nodes' state and behaviour. Thread-safe.

    Parameters
    ----------
    names
        The nodes.
    seed
        Of the values' noise.
    value
        What a run measures; None: 50 µs and 1 ns per byte there and back, 117 MB/s, with 2 % noise.
    node_value
        What a probe of a node measures; None: what is usual, with 1 % noise.
    facts
        The facts of a node, by its name.
    settings
        The settings of a node, by its name: setting → place → reading; those it has not are absent.
    faults
        What goes wrong.
    unreachable
        Nodes that can't be opened, with the reason.
    clocks
        How many seconds a node's monotonic clock is ahead of this machine's.
    traffic
        What a poll of a node's sockets says, by its name.
    """

    names: Sequence[str]
    seed: int = 0
    value: Value | None = None
    node_value: NodeValue | None = None
    facts: Callable[[str], Mapping[str, Answer]] = lambda name: {
        "cpu.model": {"value": "Simulated CPU", "provenance": "reported"},
        "host.name": {"value": name, "provenance": "reported"},
    }
    settings: Callable[[str], Mapping[str, Mapping[str, Answer]]] = lambda _name: {}
    faults: Sequence[Fault] = ()
    unreachable: Mapping[str, str] = field(default_factory=dict)
    clocks: Mapping[str, float] = field(default_factory=dict)
    traffic: Callable[[str], Answer] = lambda _name: {}

    def __post_init__(self) -> None:
        self._address = {name: str(NETWORK + i) for i, name in enumerate(self.names, start=1)}
        self._random = random.Random(self.seed)  # noqa: S311 - noise, not a secret
        self._servers: dict[tuple[str, int], tuple[str, str, str]] = {}  # address, port → node, transport, key
        self._numbers = itertools.count(1)
        self._calls: Counter[tuple[str, str, str | None]] = Counter()
        self._lock = threading.Lock()

    def fault(self, node: str, op: str, program: str | None = None) -> Fault | None:
        """Count one call of ``op`` of a program on ``node``; what goes wrong at it, if anything."""
        with self._lock:
            keys = {(node, op, None), (node, op, program)}
            self._calls.update(keys)
            now = {(*key, self._calls[key]) for key in keys}
        return next((f for f in self.faults if (f.node, f.op, f.program, f.call) in now), None)

    def answer(self, node: str, program: str, request: Mapping[str, Any]) -> Answer:
        """What the program on the node answers.

        Raises
        ------
        Refusal
            It answers with an error.
        """
        operation = _OPERATIONS.get(program, {}).get(request.get("op", ""))
        if operation is None:
            raise Refusal("unknown-op", f"{program} has no op {request.get('op')!r}", "op")
        with self._lock:
            return operation(self, node, request)

    def _describe_net(self, _node: str, _request: Mapping[str, Any]) -> Answer:
        return {"describe": WULF_NET}

    def _describe_agent(self, node: str, _request: Mapping[str, Any]) -> Answer:
        facts = [{"name": name, "uniform": name != "host.name", "help": ""} for name in sorted(self.facts(node))]
        described = {"program": "wulf-agent", "version": "0.1.0", "protocol": 1, "ops": sorted(_AGENT), "facts": facts}
        described["probes"] = [dgemm.PROBE]
        return {"describe": described}

    def _facts(self, node: str, _request: Mapping[str, Any]) -> Answer:
        return {"facts": dict(self.facts(node))}

    def _settings(self, node: str, request: Mapping[str, Any]) -> Answer:
        own, nothing = self.settings(node), {"": {"value": None, "reason": "not simulated", "absent": True}}
        return {"settings": {asked["name"]: own.get(asked["name"], nothing) for asked in request.get("read", [])}}

    def _addresses(self, node: str, _request: Mapping[str, Any]) -> Answer:
        entry = {"interface": "eth0", "address": self._address[node], "prefix": 8, "family": "inet"}
        return {"addresses": [entry]}

    def _occupancy(self, _node: str, _request: Mapping[str, Any]) -> Answer:
        return {"load": 0.0, "cpus": 1, "users": []}

    def _sockets(self, node: str, _request: Mapping[str, Any]) -> Answer:
        return self.traffic(node)

    def _ping(self, _node: str, _request: Mapping[str, Any]) -> Answer:
        return {}

    def _counters(self, _node: str, _request: Mapping[str, Any]) -> Answer:
        return {"at": time.time(), "counters": {}}

    def _clock(self, node: str, _request: Mapping[str, Any]) -> Answer:
        return {
            "overhead": 2e-8, "resolution": 1e-9,
            "monotonic": time.monotonic() + self.clocks.get(node, 0.0), "realtime": time.time(),
        }  # fmt: skip

    def _serve(self, node: str, request: Mapping[str, Any]) -> Answer:
        address = request.get("address")
        if address != self._address[node]:
            raise Refusal("address", f"{address} is not an address of this node", "address")
        _known("transport", request.get("transport"), WULF_NET["transports"])
        if not request.get("key"):
            raise Refusal("bad-parameter", "a server needs a key", "key")
        number = next(self._numbers)
        port = 40000 + number
        self._servers[str(address), port] = (node, str(request["transport"]), str(request["key"]))
        return {"server": number, "address": address, "port": port}

    def _stop(self, node: str, request: Mapping[str, Any]) -> Answer:
        where = next((at for at, s in self._servers.items() if s[0] == node and at[1] == _port_of(request)), None)
        if where is None:
            raise Refusal("bad-parameter", f"there is no server {request.get('server')}", "server")
        del self._servers[where]
        return {"accepted": 0, "wrong_key": 0, "replayed": 0, "malformed": 0, "turned_away": 0}

    def _run(self, node: str, request: Mapping[str, Any]) -> Answer:
        pattern = _known("pattern", request.get("pattern"), WULF_NET["patterns"])
        params = _resolve(pattern["params"], request.get("params", {}))
        where = (str(request.get("address")), int(request.get("port", 0)))
        server, transport, key = self._servers.get(where, ("", "", ""))
        if not server or transport != request.get("transport"):
            raise Refusal("connect", f"nobody serves {request.get('address')} port {request.get('port')}")
        if not secrets.compare_digest(key, str(request.get("key"))):
            raise Refusal("refused", "the server refused the key", "key")
        value = self._value(node, server, {**params, "pattern": pattern["name"], "transport": transport})
        main, loss = pattern["metrics"]
        streams = {"streams": [(value or 0.0) / params["streams"]] * params["streams"]} if "streams" in params else {}
        return {
            "metrics": {main["name"]: _metric(main["unit"], value), loss["name"]: {"unit": "1", "value": 0}},
            "seconds": params["seconds"],
            "counters": {"client": {}, "server": {}},
            "info": {"simulated": True, **streams, **self._started(node, params.get("start_at"))},
        }

    def _describe_node(self, _node: str, _request: Mapping[str, Any]) -> Answer:
        return {"describe": WULF_NODE}

    def _run_node(self, node: str, request: Mapping[str, Any]) -> Answer:
        return self._run_probe(node, request, WULF_NODE["probes"])

    def _run_agent(self, node: str, request: Mapping[str, Any]) -> Answer:
        return self._run_probe(node, request, [dgemm.PROBE])

    def _run_probe(self, node: str, request: Mapping[str, Any], probes: Sequence[Answer]) -> Answer:
        probe = _known("probe", request.get("probe"), probes)
        params = _resolve(probe["params"], request.get("params", {}))
        return {
            "metrics": {one["name"]: self._node_metric(node, probe["name"], one, params) for one in probe["metrics"]},
            "seconds": params["seconds"],
            "counters": {"client": {}},
            "info": {"simulated": True, "cpu": 0, "clock_rate": {"unit": "Hz", "before": 3e9, "after": 3e9}},
        }

    def _node_metric(self, node: str, probe: str, metric: Answer, params: Mapping[str, Any]) -> Answer:
        value = self.node_value(node, probe, metric["name"], params) if self.node_value else None
        if value is None:
            value = usual_value(probe, metric["unit"], params) * self._random.lognormvariate(0.0, 0.01)
        if isinstance(value, str):
            return {"unit": metric["unit"], "value": None, "reason": value}
        return _metric(metric["unit"], value)

    def _started(self, node: str, start_at: float | None) -> Answer:
        """What is said of an agreed start: it is waited for in thought alone."""
        if start_at is None:
            return {}
        late = max(0.0, time.monotonic() + self.clocks.get(node, 0.0) - start_at)
        return {"started_at": start_at + late, "late_seconds": late}

    def _value(self, client: str, server: str, params: Mapping[str, Any]) -> float | None:
        if self.value is not None:
            return self.value(client, server, params)
        noise = self._random.lognormvariate(0.0, 0.02)
        return (50e-6 + 2e-9 * params["bytes"]) * noise if params["pattern"] == "pingpong" else 117e6 * noise


def _port_of(request: Mapping[str, Any]) -> int:
    return 40000 + int(request.get("server", 0))


def _metric(unit: str, value: float | None) -> Answer:
    if value is None:
        return {"unit": unit, "value": None, "reason": "nothing came back"}
    spread = {"0.5": 1.0, "0.9": 1.1, "0.99": 1.3, "0.999": 1.8}
    return {
        "unit": unit, "value": value, "n": 1000, "mean": value * 1.02, "deviation": value * 0.1,
        "min": value * 0.9, "max": value * 2,
        "quantiles": {quantile: value * factor for quantile, factor in spread.items()},
    }  # fmt: skip


def _known(what: str, name: Any, entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    for entry in entries:
        if entry["name"] == name:
            return entry
    raise Refusal("bad-parameter", f"there is no {what} {name!r}", what)


def _resolve(specs: Sequence[Mapping[str, Any]], given: Mapping[str, Any]) -> Answer:
    unknown = set(given) - {spec["name"] for spec in specs}
    if unknown:
        raise Refusal("bad-parameter", f"there is no parameter {min(unknown)!r}", min(unknown))
    resolved = {}
    for spec in specs:
        name, value = spec["name"], given.get(spec["name"], spec["default"])
        low, high = spec.get("min"), spec.get("max")
        if value is not None and ((low is not None and value < low) or (high is not None and value > high)):
            raise Refusal("bad-parameter", f"{name} = {value} is not within {low} and {high}", name)
        resolved[name] = value
    return resolved


def _param(name: str, kind: str, unit: str, default: Any, limits: tuple[float, float | None] | None = None) -> Answer:
    if limits is None:
        return {"name": name, "type": kind, "unit": unit, "default": default, "help": ""}
    low, high = limits
    return {"name": name, "type": kind, "unit": unit, "default": default, "min": low, "max": high, "help": ""}


def _params(bytes_default: int | None, seconds: float, least: float, warmup: float, nodelay: bool) -> list[Answer]:
    return [
        _param("bytes", "int", "B", bytes_default, (1, 16777216)),
        _param("seconds", "float", "s", seconds, (least, 3600.0)),
        _param("warmup_seconds", "float", "s", warmup, (0, 3600.0)),
        _param("timeout", "float", "s", 2.0, (0.01, 600.0)),
        _param("cpu", "int", "", None, (0, 8191)),
        _param("server_cpu", "int", "", None, (0, 8191)),
        _param("start_at", "float", "s", None, (0, None)),
        _param("nodelay", "bool", "", nodelay),
    ]


def _metric_spec(name: str, unit: str, better: str) -> Answer:
    return {"name": name, "unit": unit, "better": better, "help": ""}


WULF_NET: Answer = {
    "program": "wulf-net", "version": "0.1.0", "protocol": 1,
    "ops": ["ping", "describe", "counters", "clock", "serve", "stop", "run"],
    "transports": [
        {"name": "tcp", "help": "simulated", "max_bytes": 16777216},
        {"name": "udp", "help": "simulated", "max_bytes": 65507},
    ],
    "patterns": [
        {"name": "pingpong", "help": "simulated", "transports": ["tcp", "udp"],
         "params": [*_params(1, 0.1, 0, 0.01, True), _param("count", "int", "1", None, (1, 1_000_000_000))],
         "metrics": [_metric_spec("rtt", "s", "lower"), _metric_spec("lost", "1", "lower")]},
        {"name": "stream", "help": "simulated", "transports": ["tcp", "udp"],
         "params": [*_params(None, 0.2, 0.001, 0.1, False), _param("cooldown_seconds", "float", "s", 0, (0, 3600)),
                    _param("streams", "int", "1", 1, (1, 128)), _param("gather", "bool", "", True)],
         "metrics": [_metric_spec("throughput", "B/s", "higher"), _metric_spec("loss", "1", "lower")]},
    ],
}  # fmt: skip
"""What the simulated wulf-net's `--describe` would print: a part of the real one's, as tests/contract compares."""

_Operation = Callable[[SimulatedCluster, str, Mapping[str, Any]], Answer]

_NET: dict[str, _Operation] = {
    "ping": SimulatedCluster._ping,
    "describe": SimulatedCluster._describe_net,
    "counters": SimulatedCluster._counters,
    "clock": SimulatedCluster._clock,
    "serve": SimulatedCluster._serve,
    "stop": SimulatedCluster._stop,
    "run": SimulatedCluster._run,
}
_NODE: dict[str, _Operation] = {
    "ping": SimulatedCluster._ping,
    "describe": SimulatedCluster._describe_node,
    "counters": SimulatedCluster._counters,
    "clock": SimulatedCluster._clock,
    "run": SimulatedCluster._run_node,
}
_AGENT: dict[str, _Operation] = {
    "ping": SimulatedCluster._ping,
    "describe": SimulatedCluster._describe_agent,
    "facts": SimulatedCluster._facts,
    "settings": SimulatedCluster._settings,
    "addresses": SimulatedCluster._addresses,
    "occupancy": SimulatedCluster._occupancy,
    "run": SimulatedCluster._run_agent,
    "sockets": SimulatedCluster._sockets,
}
_OPERATIONS = {"wulf-net": _NET, "wulf-node": _NODE, "wulf-agent": _AGENT}

"""A replay that answers by a formula, a trace on disk, and networks to replay it on."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

from wulf.cluster.session import RequestError
from wulf.model.network.figures import Network
from wulf.model.network.file import parse_network

COMPUTE, LATENCIES, MESSAGES, BYTES = 1_000_000_000_000, 10_000, 10_000, 10_000_000
"""Of the program: 1 s, and how many of each lie on its critical path."""

THIS = """
name = "own"
title = "the cluster's own"
[inter]
latency = { value = 20e-6, source = "measured" }
send = { value = 2e-6, source = "measured" }
receive = { value = 3e-6, source = "measured" }
gap = { value = 0, source = "measured" }
bandwidth = { value = 1e9, source = "measured" }
eager = { value = 4096, source = "measured" }
"""
"""On it the program takes 1 + .2 + .05 + .01 s."""

SECONDS = 1.26

OWN = {"latency_ps": 20_000_000, "send_ps": 2_000_000, "receive_ps": 3_000_000, "byte_fp": 1000 << 20}
"""Its costs as the replay takes them."""


def this() -> Network:
    return Network(parse_network(THIS, "own.toml"), alias="this")


class FakeReplay:
    """wulf-replay for a program whose run time is a sum; it keeps what it was asked."""

    def __init__(
        self,
        share: float = 1.0,
        refuse: tuple[str, ...] | None = None,
        factor: float = 1.0,
        inversions: int = 3,
        copies: int = 0,
        live: int = 0,
        graph: bool = False,
        first: int = 0,
        real: dict[str, int] | None = None,
        held: int = 0,
        turns: int = 0,
    ) -> None:
        """`first`: picoseconds that a rank's first call took longer than its message; `real`: the network's costs as
        the trace has them, where they are others than those that were measured; `held`: for how long large messages
        wait for calls, where they get on in these alone; `turns`: and for each other's data, where all leaves in order
        and they do not.
        """
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self._share, self._refuse, self._factor, self._inversions = share, refuse, factor, inversions
        self._loaded: list[float] = []
        self._copies, self._live, self._graph = copies, live, graph
        self._first, self._real, self._connect = first, real, 0
        self._held, self._turns = held, turns

    def request(self, op: str, timeout: float | None = 30.0, **fields: Any) -> dict[str, Any]:
        assert timeout is None  # a replay takes as long as it takes
        fields = json.loads(json.dumps(fields, allow_nan=False))
        self.asked.append((op, fields))
        if self._refuse is not None and self._refuse[0] == op:
            raise RequestError("here", op, *self._refuse[1:])
        return dict(getattr(self, f"_{op}")(**fields))

    def _spill(self, folder: str) -> dict[str, Any]:
        return {}

    def _load(self, compute: float = 1.0, **source: Any) -> dict[str, Any]:
        self._loaded.append(compute * self._factor)
        self._connect = source.get("connect_ps", 0)
        left = [{"what": "MPI_Put", "calls": 7, "seconds": 0.1, "why": "one-sided"}] if self._share < 1 else []
        return {
            "program": len(self._loaded), "ranks": 4, "ops": 40_000, "messages": MESSAGES, "live": self._live,
            "graph": self._graph, "connecting": 2 if self._connect else 0, "bytes": BYTES, "compute": compute,
            "coverage": {"share": self._share, "left_out": left},
            "notes": ["as it was traced"], "copies": {"messages": self._copies, "bytes": 8 * self._copies},
        }  # fmt: skip

    def parts(self, program: int, network: dict[str, Any]) -> dict[str, int]:
        own = network["inter"]
        return {
            "compute": round(COMPUTE * self._loaded[program - 1]), "latency": LATENCIES * own["latency_ps"],
            "bytes": (BYTES * own["byte_fp"]) >> 20, "overhead": MESSAGES * (own["send_ps"] + own["receive_ps"]),
            "waiting": 0,
        }  # fmt: skip

    def _replay(self, program: int, networks: list[dict[str, Any]], engine: str, parts: bool) -> dict[str, Any]:
        runs = []
        for network in networks:
            own = self.parts(program, network)
            if engine == "b":
                own["waiting"] = self._turns * network.get("in_order", False)
                own["waiting"] = own["waiting"] if network.get("progress", True) else self._held
            run: dict[str, Any] = {
                "ps": sum(own.values()),
                "seconds": sum(own.values()) / 1e12,
                "inversions": self._inversions,
            }
            runs.append(run | ({"parts": own} if parts else {}))
        return {"runs": runs}

    def _tolerance(self, program: int, network: dict[str, Any], shares: list[float]) -> dict[str, Any]:
        total = sum(self.parts(program, network).values())
        return {
            "tolerances": [
                {"share": share, "latency_ps": total * share / LATENCIES, "byte_fp": None} for share in shares
            ]
        }

    def _breakpoints(self, program: int, network: dict[str, Any], over: str, **ends: int) -> dict[str, Any]:
        slope = LATENCIES if over == "latency" else BYTES
        field = "latency_ps" if over == "latency" else "byte_fp"
        bits = 0 if over == "latency" else 20
        points = []
        for x in (ends["from"], ends["to"]):
            changed = network | {"inter": network["inter"] | {field: 0}}
            points.append([x, sum(self.parts(program, changed).values()) + ((slope * x) >> bits)])
        return {"points": points, "slopes": [slope]}

    def _path(self, program: int, network: dict[str, Any], most: int) -> dict[str, Any]:
        parts = self.parts(program, network)
        steps = [
            {"rank": 0, "begin": 0, "end": parts["compute"], "kind": "compute", "mark": 1},
            {"rank": 1, "begin": parts["compute"], "end": parts["compute"] + parts["latency"], "kind": "latency",
             "mark": 2, "from": 0, "to": 1, "bytes": 8},
        ]  # fmt: skip
        ranks = [{"rank": 0, "ps": sum(parts.values()), "parts": parts}]
        return {"ps": sum(parts.values()), "count": 2, "steps": steps, "ranks": ranks}

    def _calls(
        self, program: int, network: dict[str, Any], trace: str, most: int, half: int | None = None
    ) -> dict[str, Any]:
        """Four first calls, each of which connects, and the messages' own time, of which half are in either half."""
        worst = {"rank": 1, "mark": 7, "traced_ps": 10**11, "replayed_ps": 10**9}
        share = 1 if half is None else 2
        own = self.parts(program, network)
        real = self.parts(program, {"inter": self._real or network["inter"]})
        kinds = [
            {"call": "MPI_Send", "up_to": 64, "with": "first", "calls": 4, "traced_ps": 4 * 10**9 + self._first * 4,
             "replayed_ps": 4 * 10**9 + 2 * self._connect, "worst": worst},
            {"call": "MPI_Allreduce", "up_to": 8, "with": "", "calls": 900, "traced_ps": real["latency"] // share,
             "replayed_ps": own["latency"] // share, "worst": worst},
            {"call": "MPI_Recv", "up_to": 8192, "with": "", "calls": 90, "traced_ps": real["bytes"] // share,
             "replayed_ps": own["bytes"] // share, "worst": worst},
        ]  # fmt: skip
        kinds.sort(key=lambda one: -abs(one["traced_ps"] - one["replayed_ps"]))
        totals = {name: sum(one[name] for one in kinds) for name in ("traced_ps", "replayed_ps")}
        return {"calls": kinds[:most], "kinds": 3, **totals}

    def _timeline(self, program: int, network: dict[str, Any], buckets: int, rows: int) -> dict[str, Any]:
        width = 1000
        row = {"compute": [width * 2] * buckets, "overhead": [0] * buckets, "waiting": [width] * buckets}
        return {"ps": width * buckets, "bucket_ps": width, "rows": [{"rank": 0, "ranks": 4, **row}]}


def rank_file(rank: int, size: int, seconds: float = SECONDS, ended: int = 0, host: str = "") -> bytes:
    """A rank's file without records."""
    header = json.dumps({"rank": rank, "size": size, "host": host or f"n{rank}", "mpi": "Open MPI 4.1.4"}).encode()
    totals = struct.pack("<12Q", 0, 0, 0, round(seconds * 1e9), 0, ended, *[0] * 6)
    done = struct.pack("<4sIII", b"DONE", len(totals), 0, zlib.crc32(totals)) + totals
    return struct.pack("<8sHI", b"wulftrc\0", 1, len(header)) + header + done


def make_trace(folder: Path, ranks: int = 4, seconds: float = SECONDS) -> Path:
    """A trace whose ranks have hosts of their own."""
    folder.mkdir(parents=True)
    manifest = {
        "version": 1, "command": ["mpirun", "./app"], "mpi": "Open MPI 4.1.4", "ranks": ranks, "wall_seconds": 9.0,
        "hosts": {str(rank): f"n{rank}" for rank in range(ranks)}, "missing": [], "faults": [],
    }  # fmt: skip
    (folder / "trace.json").write_text(json.dumps(manifest))
    for rank in range(ranks):
        (folder / f"rank-{rank:06}.wtr").write_bytes(rank_file(rank, ranks, seconds))
    (folder / "network.toml").write_text(THIS)
    return folder

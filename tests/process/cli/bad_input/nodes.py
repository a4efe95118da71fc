"""Nodes that answer, sound but for one thing, and the commands that ask them: whoever took a node over says that.

A stand-in for ssh plays the node from a file in the command's folder. What a sound node says is what this machine's own
programs say, and to every request to measure the network the same figures: nothing is measured or changed.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from tests.contract.test_answers import ASKED
from tests.contract.test_given_files import MALFORMED
from tests.process.cli.bad_input.changes import changed
from tests.process.cli.bad_input.options import NODES
from tests.process.cli.bad_input.trial import Input
from wulf.agent.operations import OPERATIONS
from wulf.apps import drivers
from wulf.cluster.programs import agent_program, find_program

PLAYED = "node.json"
"""Program → its greeting, and its answer to each operation; what is none is said as it stands."""

SSH = f"""#!{sys.executable} -IS
import json, sys
try:
    with open({PLAYED!r}, "rb") as file:
        text = file.read()
except OSError:
    sys.stderr.write("ssh: Could not resolve hostname a.invalid: Name or service not known\\n")
    sys.exit(255)
out = sys.stdout.buffer
def say(line):
    out.write(line + b"\\n")
    out.flush()
try:
    played = next(one for program, one in json.loads(text).items() if program in sys.argv[-1])
    greeting, answers = json.dumps(played["greeting"]).encode(), dict(played["answers"])
except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
    say(text)
    sys.stdin.buffer.read()
    sys.exit()
say(greeting)
for line in sys.stdin.buffer:
    asked = json.loads(line)
    answer = answers.get(asked["op"], {{"ok": False, "error": {{"code": "unknown-op", "message": "not played"}}}})
    say(json.dumps({{"id": asked["id"], "ok": True, **answer}} if isinstance(answer, dict) else answer).encode())
"""
"""In the place of ssh: reaches nobody where no node is played."""

PATIENCE = 90.0
"""Of a node that says nothing, each program is given up after 30 s."""

COMMANDS = (
    ("survey", *NODES, "--quick"), ("node", *NODES, "--quick"), ("audit", *NODES), ("tune", "status", *NODES),
    ("tune", "revert", *NODES), ("mpi", "list", *NODES), ("net", "pingpong", "a.invalid", "b.invalid", "--quick"),
)  # fmt: skip

ALIKE = (
    ("tune", *NODES, "--aim", "latency"), ("app", "list", *NODES), ("app", "stream", *NODES, "--quick"),
    ("app", "run", *NODES, "--quick", "--", "true"), ("net", "pairs", *NODES, "--quick"),
    ("net", "layers", "a.invalid", "--quick"), ("mpi", "pingpong", *NODES, "--quick"),
)  # fmt: skip
"""Commands that open their sessions as those do: they need not meet nodes that say what is no answer at all, each of
which is given up after 30 s."""

READ_ONLY = ("ping", "describe", "facts", "settings", "addresses", "blas_find", "mpi_find", "app_find", "change_status")


def sound() -> dict[str, Any]:
    """What this machine would say."""
    asked = {**ASKED, "app_find": {"names": ["true", *{name for one in drivers().values() for name in one.PROGRAMS}]}}
    answers = {op: json.loads(json.dumps(OPERATIONS[op](**asked[op]))) for op in READ_ONLY}
    played = {"wulf-agent": {"greeting": _greeting([sys.executable, str(agent_program().path)]), "answers": answers}}
    for program in ("wulf-net", "wulf-node"):
        path = str(find_program(program).path)
        described = json.loads(_said([path, "--describe"]))
        greeting, *answers = map(json.loads, _said([path], b"".join(map(_asked, NATIVE))).splitlines())
        told = {op: {name: value for name, value in answer.items() if name not in ("id", "ok")}
                for op, answer in zip(NATIVE, answers, strict=True)}  # fmt: skip
        told["describe"] = {"describe": described}
        if program == "wulf-net":
            server = {"server": 1, "address": "192.0.2.1", "port": 4000}
            told |= {"run": _run(described["patterns"]), "serve": server, "stop": STOPPED}
        played[program] = {"greeting": greeting, "answers": told}
    return played


NATIVE = ("ping", "counters", "clock")
STOPPED = dict.fromkeys(("accepted", "wrong_key", "replayed", "malformed", "turned_away"), 0)


def _asked(op: str) -> bytes:
    return json.dumps({"id": 1, "op": op}).encode() + b"\n"


def _run(probes: list[dict[str, Any]]) -> dict[str, Any]:
    """One answer for every pattern: each of their metrics, of 10 µs, 1 GB/s, or as many of what else there is."""
    values = {"s": 1e-5, "B/s": 1e9}
    metrics = {
        metric["name"]: {"value": values.get(metric["unit"], 1e6), "unit": metric["unit"], "n": 1000,
                         "quantiles": {"0.5": values.get(metric["unit"], 1e6)}}
        for probe in probes for metric in probe["metrics"]
    }  # fmt: skip
    info = {"started_at": 12.5, "late_seconds": 0.0, "cpu": 0, "clock_rate": {"before": 3e9, "after": 3e9}}
    both = ("client", "server")
    return {"metrics": metrics, "seconds": 0.02, "counters": dict.fromkeys(both, COUNTED), "info": info,
            "during": dict.fromkeys(both, SEEN)}  # fmt: skip


_TIMES = {"user": 0.01, "system": 0.005, "softirq": 0.003, "idle": 0.001, "steal": 0.0}
COUNTED = {
    "cpu": {"all": _TIMES, "0": _TIMES}, "ctxt": 40, "interrupts": {"34:virtio4-input": {"0": 30}},
    "nic": {"eth0": {"rx_bytes": 1 << 20, "tx_bytes": 1 << 20, "rx_dropped": 1}}, "softnet": {"0": {"squeezed": 2}},
    "snmp": {"Tcp": {"RetransSegs": 3, "OutSegs": 900}, "Udp": {"RcvbufErrors": 1}},
    "netstat": {"TcpExt": {"TCPLostRetransmit": 1}}, "missing": ["/proc/softirqs"],
}  # fmt: skip
"""What an end's host counted while it measured."""

SEEN = {
    "samples": 4, "busy": {"all": 0.9, "0": 0.9}, "frequency": {"unit": "Hz", "value": {"0": 3e9}, "source": "tsc"},
    "tcp": {
        "channels": 1,
        "counts": {"data_segs_out": 900, "total_retrans": 3, "busy_time": 0.02, "rwnd_limited": 0.01},
        "gauges": {"pmtu": {"min": 1500, "median": 1500}, "snd_wnd": {"max": 65536}, "rtt": {"median": 2e-5}},
    },
}  # fmt: skip
"""What was seen there meanwhile."""


def _greeting(command: list[str]) -> Any:
    return json.loads(_said(command).splitlines()[0])


def _said(command: list[str], asked: bytes = b"") -> bytes:
    return subprocess.run(command, input=asked, stdout=subprocess.PIPE, check=True, timeout=30).stdout


def inputs(seed: int) -> Iterator[Input]:
    """Every command with a sound node, with nodes that say what is no answer at all, and with changed ones."""
    played = sound()
    for words in (*COMMANDS, *ALIKE):
        chance = random.Random(f"{seed} {words}")
        yield _input(words, "sound", json.dumps(played).encode())
        for name, content in MALFORMED.items() if words in COMMANDS else ():
            yield _input(words, name, content)
        for program, said in played.items():
            for op, answer in [("greeting", said["greeting"]), *said["answers"].items()]:
                for name, content in changed("json", json.dumps(answer).encode(), chance):
                    now = json.loads(content)
                    held = {"greeting": now} if op == "greeting" else {"answers": {**said["answers"], op: now}}
                    what = f"{program}'s {op}: {name}"
                    yield _input(words, what, json.dumps({**played, program: {**said, **held}}).encode())


def _input(words: tuple[str, ...], name: str, content: bytes) -> Input:
    what = f"{' '.join(words)}: {name}"
    return Input("a node's answer", what, words, files={PLAYED: content}, patience=PATIENCE)

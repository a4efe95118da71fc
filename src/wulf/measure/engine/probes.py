"""What a probe can do, read from its --describe: the one source of options, validation and documentation."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wulf.core.errors import UsageError
from wulf.core.params import ParamSpec, check_params

if TYPE_CHECKING:
    from wulf.core.records import Param

NET, NODE, AGENT, MPI, APP = "net", "node", "agent", "mpi", "app"
"""Programs, as records name them."""


@dataclass(frozen=True)
class Metric:
    """What a probe's --describe says of one quantity it measures."""

    name: str
    unit: str
    better: str = "lower"


@dataclass(frozen=True)
class Pattern:
    """One pattern of a probe: its parameters and what it measures, the primary metric first.

    `transports` is empty, and `group` is not, where a program measures one node, or between ranks of MPI: then it needs
    `least_ranks` of them.
    """

    name: str
    help: str
    transports: tuple[str, ...]
    params: tuple[ParamSpec, ...]
    metrics: tuple[Metric, ...]
    group: str = ""
    least_ranks: int = 0

    @property
    def usual_transport(self) -> str:
        """TCP where the pattern goes over it, else the first that it names."""
        return "tcp" if "tcp" in self.transports else self.transports[0]


@dataclass(frozen=True)
class Probe:
    """A session program as it describes itself; `local` are the transports that never leave a node."""

    program: str
    version: str
    max_bytes: Mapping[str, int]
    patterns: Mapping[str, Pattern]
    local: frozenset[str] = frozenset()

    @staticmethod
    def from_describe(described: Mapping[str, Any]) -> Probe:
        """Read a --describe object (ARCHITECTURE.md, The session)."""
        patterns = {}
        for entry in described.get("patterns") or described.get("probes", ()):
            params = tuple(
                ParamSpec(**{k: v for k, v in param.items() if k in ParamSpec.__dataclass_fields__})
                for param in (_defaults(given) for given in entry["params"])
            )
            metrics = tuple(Metric(m["name"], m["unit"], m.get("better", "lower")) for m in entry["metrics"])
            patterns[entry["name"]] = Pattern(
                entry["name"], entry.get("help", ""), tuple(entry.get("transports", ())), params, metrics,
                entry.get("group", ""), entry.get("least_ranks", 0),
            )  # fmt: skip
        transports = described.get("transports", ())
        limits = {transport["name"]: int(transport["max_bytes"]) for transport in transports}
        local = frozenset(transport["name"] for transport in transports if transport.get("local"))
        return Probe(described["program"], described.get("version", ""), limits, patterns, local)

    @staticmethod
    def of_program(path: Path) -> Probe:
        """Ask a program on this machine what it can do."""
        try:
            answer = subprocess.run([path, "--describe"], capture_output=True, text=True, check=True, timeout=10)
            return Probe.from_describe(json.loads(answer.stdout))
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            raise UsageError(f"{path} does not describe itself: {error}", "run `make build`") from error

    def pattern(self, name: str) -> Pattern:
        """The pattern, or a UsageError that names those there are."""
        if name not in self.patterns:
            noun = "pattern" if self.max_bytes else "probe"
            raise UsageError(f"{self.program} has no {noun} {name!r}", f"it has: {', '.join(self.patterns)}")
        return self.patterns[name]

    def check_ends(self, transport: str, client: str, server: str) -> None:
        """UsageError where a transport that never leaves a node is to reach another; over `null` nothing travels."""
        if transport in self.local - {"null"} and client != server:
            raise UsageError(
                f"{transport} stays within one node, but {client} and {server} are two",
                f"name one node twice: {client} {client}",
            )

    def check(self, pattern: str, transport: str, params: Mapping[str, Param]) -> dict[str, Param]:
        """The parameters that were given, validated before any node is touched.

        Raises
        ------
        UsageError
            Names the field, the value and the limit.
        """
        spec = self.pattern(pattern)
        if spec.transports and transport not in spec.transports:
            raise UsageError(
                f"{pattern} can't use transport {transport!r}", f"transports: {', '.join(spec.transports)}"
            )
        check_params(pattern, spec.params, params)
        size = params.get("bytes")
        limit = self.max_bytes.get(transport)
        if isinstance(size, int) and limit is not None and size > limit:
            raise UsageError(f"bytes = {size} is more than {transport} carries in one message", f"at most {limit} B")
        return dict(params)


def _defaults(param: Mapping[str, Any]) -> dict[str, Any]:
    """A parameter's description with what may be left out of it."""
    return {"unit": "", "help": "", **param, "choices": tuple(param.get("choices", ()))}


def net_probe() -> Probe:
    """What wulf-net can do, as it says on this machine."""
    from wulf.cluster.programs import find_program  # many import this module who ask no program

    return Probe.of_program(find_program("wulf-net").path)

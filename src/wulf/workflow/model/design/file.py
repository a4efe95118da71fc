"""A TOML of what could be bought: nodes, networks with their switches, what else a cluster needs, and the work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, first_fault, toml_of
from wulf.model.cost import KWH
from wulf.model.design.prices import Build, CostStep, Running, Site

EXAMPLE = "examples/design/ has some, docs/how-to/design.md says what they hold"

Money = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
Watts = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Above = Annotated[float, Field(gt=0, le=1e15, allow_inf_nan=False)]
Time = Annotated[float, Field(gt=0, le=1e12, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=80)]
Times = Annotated[list[Time], Field(min_length=1, max_length=10_000)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Parts(_Row):
    """Brown's parts of a program's time, in seconds: T(N) = Ts + Tp/N + Tip + N·Tis, or N²·Tis with `growth` 2."""

    parallel: Time
    serial: Annotated[float, Field(ge=0, le=1e12)] = 0.0
    overhead: Annotated[float, Field(ge=0, le=1e12)] = 0.0
    communication: Annotated[float, Field(ge=0, le=1e12)] = 0.0
    growth: Literal[1, 2] = 1


class Work(_Row):
    """How long the program takes, and on what: where no `--for` says it.

    Attributes
    ----------
    node, network
        Names of those that it was measured on; absent: the first ones.
    bytes
        Of the messages by which workers talk: a network is held against another by what one takes.
    parts
        Instead of times that were measured.
    """

    node: Name | None = None
    network: Name | None = None
    bytes: Annotated[float, Field(ge=0, le=1e15)] | None = None
    parts: Parts | None = None


class NodeRow(_Row):
    """A node: how fast it is by one of `seconds` (the program on one worker), `gflops`, or a `run` of `wulf node`."""

    name: Name
    price: Above
    watts: Watts | None = None
    workers: Annotated[int, Field(ge=1, le=100_000)] = 1
    seconds: Time | Times | None = None
    gflops: Above | None = None
    run: Name | None = None
    node: Name | None = None
    source: str = ""

    @model_validator(mode="after")
    def _one_speed(self) -> Self:
        if sum(one is not None for one in (self.seconds, self.gflops, self.run)) > 1:
            raise ValueError(f"{self.name}: give one of seconds, gflops and run")
        if self.node is not None and self.run is None:
            raise ValueError(f"{self.name}: node is one of a run's")
        return self

    @property
    def speed(self) -> str:
        """Which of the three it has; empty for none."""
        return next((name for name in ("seconds", "gflops", "run") if getattr(self, name) is not None), "")


class SwitchRow(_Row):
    """A switch."""

    ports: Annotated[int, Field(ge=4, le=100_000)]
    price: Money
    watts: Watts = 0.0


class NetworkRow(_Row):
    """A network: what a port costs, its switches, and how fast it is.

    Attributes
    ----------
    price
        Of a port: adapter and cable. Absent: what `figures` says of it.
    figures
        A name of `wulf networks list`, a TOML, or a run of `wulf model loggp`.
    communication
        Instead: how many times as long messages take as on the network that was measured on.
    parts
        Instead: the program's own time with this network.
    """

    name: Name
    price: Money | None = None
    watts: Watts = 0.0
    switches: Annotated[list[SwitchRow], Field(max_length=1000)] = []
    figures: Name | None = None
    communication: Above | None = None
    parts: Parts | None = None
    source: str = ""

    @model_validator(mode="after")
    def _one_speed(self) -> Self:
        if sum(one is not None for one in (self.figures, self.communication, self.parts)) > 1:
            raise ValueError(f"{self.name}: give one of figures, communication and parts")
        return self


class StepRow(_Row):
    """What is bought once, for every so many nodes begun, or for every so many watts."""

    name: Name
    price: Money
    nodes: Annotated[int, Field(ge=1, le=100_000)] | None = None
    watts: Annotated[float, Field(gt=0, le=1e9)] | None = None
    source: str = ""

    @model_validator(mode="after")
    def _one_measure(self) -> Self:
        if self.nodes is not None and self.watts is not None:
            raise ValueError(f"{self.name}: give nodes or watts, or neither for what is bought once")
        return self


class BuildRow(_Row):
    """Who builds it: own labour by hours, a turn-key system by its surcharge."""

    name: Name
    price: Money = 0.0
    node_price: Money = 0.0
    share: Annotated[float, Field(ge=0, le=100)] = 0.0
    hours: Money = 0.0
    node_hours: Money = 0.0
    hour: Money = 0.0
    source: str = ""

    @model_validator(mode="after")
    def _paid(self) -> Self:
        if (self.hours or self.node_hours) and not self.hour:
            raise ValueError(f"{self.name}: hour is missing, the price of one")
        return self


class RunningRow(_Row):
    """What the years cost; see `wulf.model.design.prices.Running`."""

    years: Annotated[float, Field(gt=0, le=100)]
    energy_price: Money = 0.0
    use: Share = 1.0
    cooling: Annotated[float, Field(ge=1, le=10)] = 1.0
    yearly: Money = 0.0
    node_yearly: Money = 0.0


class Candidates(_Row):
    """The whole file."""

    currency: Annotated[str, Field(min_length=1, max_length=8)] = "$"
    node: Annotated[list[NodeRow], Field(min_length=1, max_length=100)]
    network: Annotated[list[NetworkRow], Field(min_length=1, max_length=100)]
    step: Annotated[list[StepRow], Field(max_length=100)] = []
    build: Annotated[list[BuildRow], Field(max_length=100)] = []
    running: RunningRow | None = None
    work: Work = Work()
    share: dict[str, Share] = {}

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for kind, rows in (("node", self.node), ("network", self.network), ("step", self.step), ("build", self.build)):
            names = [one.name for one in rows]
            doubled = next((name for name in names if names.count(name) > 1), None)
            if doubled is not None:
                raise ValueError(f"there are two of the name {doubled!r} under [[{kind}]]")
        if self.running is not None and self.running.energy_price:
            dark = next((one.name for one in self.node if one.watts is None), None)
            if dark is not None:
                raise ValueError(f"[running] has an energy_price, and node {dark!r} no watts")
        return self

    @property
    def base_node(self) -> NodeRow:
        """The one that the program was measured on."""
        return next(one for one in self.node if one.name == (self.work.node or self.node[0].name))

    @property
    def base_network(self) -> NetworkRow:
        """The same of networks."""
        return next(one for one in self.network if one.name == (self.work.network or self.network[0].name))

    @property
    def site(self) -> Site:
        """What all designs have in common."""
        builds = [
            Build(one.name, one.price + one.hours * one.hour, one.node_price + one.node_hours * one.hour, one.share)
            for one in self.build
        ]
        steps = [CostStep(one.name, one.price, one.nodes, one.watts) for one in self.step]
        return Site(tuple(steps), tuple(builds), None if self.running is None else _running(self.running))


def _running(row: RunningRow) -> Running:
    return Running(row.years, row.use, row.energy_price / KWH, row.cooling, row.yearly, row.node_yearly)


def read_candidates(path: Path) -> Candidates:
    """A file of candidates.

    Raises
    ------
    UsageError
        Names file, field, and what to do.
    """
    try:
        found = Candidates.model_validate(toml_of(path))
    except Unreadable as error:
        raise UsageError(f"can't read {path}: {error}", f"name a TOML of what could be bought: {EXAMPLE}") from error
    except ValidationError as error:
        raise UsageError(f"{path}: {first_fault(error, 'the file')}", EXAMPLE) from error
    for kind, name, rows in (("node", found.work.node, found.node), ("network", found.work.network, found.network)):
        names = [one.name for one in rows]
        if name is not None and name not in names:
            raise UsageError(f"{path}: [work] names the {kind} {name!r}, and there is none", f"there are {names}")
    return found

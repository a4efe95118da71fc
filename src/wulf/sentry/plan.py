"""The sentry's plan: what is measured how often and at what cost, on which nodes, and who is told. One TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from wulf.core.durations import DAY, parse_long_duration
from wulf.core.errors import UsageError
from wulf.core.given import first_fault, toml_of

HIDDEN = "https://…"
"""In the place of a webhook's address."""


def _seconds(given: Any) -> Any:
    return parse_long_duration(given) if isinstance(given, str) else given


Duration = Annotated[float, BeforeValidator(_seconds), Field(gt=0)]
"""Seconds: `30`, `"10m"`, `"7d"`."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Measure(_Table):
    """One thing that is measured.

    Attributes
    ----------
    name
        What state and reports call it.
    command
        A command of wulf's with its options, without nodes and `--out`: `["node", "--quick"]`, `["check"]`,
        `["links", "--for", "2m"]`, `["survey", "--quick"]`.
    every
        Each node at least so often.
    seconds
        What it takes, for each node, until that is known.
    nodes_at_once
        So many nodes in one run: 1, or more for what is measured between them; 0: all.
    on
        `idle`: only nodes that no job has; `any`: for what disturbs nobody.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=40)]
    command: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    every: Duration
    seconds: Duration = 60.0
    nodes_at_once: Annotated[int, Field(ge=0)] = 1
    on: Literal["idle", "any"] = "idle"

    def day(self, nodes: int, seconds: Mapping[str, float]) -> float:
        """Node-seconds that it takes a day over so many nodes; `seconds`: measure → what a node takes, where known."""
        return nodes * seconds.get(self.name, self.seconds) * DAY / self.every


class Idleness(_Table):
    """How it is known that a node is idle, and how it is taken.

    Attributes
    ----------
    by
        `load`: over ssh, by load and by who runs what; `slurm`: by Slurm's word, and each measurement is a job.
    load
        Load per CPU up to which a node is idle.
    users
        Whether a node that somebody is logged in to may be idle all the same.
    options
        Of the job, as salloc takes them: {partition = "idle", qos = "preemptible", nice = "10000"}.
    """

    by: Literal["load", "slurm"] = "load"
    load: Annotated[float, Field(ge=0, strict=False)] = 0.1
    users: bool = False
    options: dict[str, str] = {}


class Budget(_Table):
    """What the watch may cost.

    Attributes
    ----------
    node_minutes
        A day, over all nodes; measurements that are overdue count, and wait for the next day, too.
    at_once
        Measurements at the same time.
    rest
        Seconds that a node is left alone after it was measured, unless its figures are being confirmed.
    """

    node_minutes: Annotated[float, Field(gt=0, strict=False)] = 1440.0
    at_once: Annotated[int, Field(ge=1)] = 4
    rest: Duration = 3600.0


class Alarm(_Table):
    """How sure the sentry is before it says that a node has changed.

    Attributes
    ----------
    false_alarms
        So many in 30 days at most, over all nodes and metrics, in the mean.
    least
        Changes of less are not looked for: a share of the level.
    confirm
        Seconds until a node whose figures stand out is measured again.
    """

    false_alarms: Annotated[float, Field(gt=0, strict=False)] = 1.0
    least: Annotated[float, Field(gt=0, lt=1)] = 0.03
    confirm: Duration = 1800.0


class Tell(_Table):
    """Who is told of incidents; nobody unless asked.

    Attributes
    ----------
    webhook
        URL that is sent each event as JSON (POST).
    syslog
        Whether the local syslog gets a line of each.
    drain
        Whether Slurm is asked to drain nodes that are worse, with the reason; never to resume what others drained.
    drain_at_most
        Nodes that are drained by the sentry at the same time: a defect of ours must not take a cluster away.
    """

    webhook: Annotated[str, Field(pattern=r"^(https?://.+)?$", max_length=2000)] = ""
    syslog: bool = False
    drain: bool = False
    drain_at_most: Annotated[int, Field(ge=1)] = 2


class SentryPlan(_Table):
    """The whole plan.

    Attributes
    ----------
    nodes
        As `--nodes`: a node set; empty: the inventory's.
    runs
        Directory where runs are kept.
    keep
        Seconds after which figures and runs of the sentry are removed.
    """

    nodes: str = ""
    runs: str = ""
    keep: Duration = 400 * DAY
    measure: Annotated[tuple[Measure, ...], Field(min_length=1, strict=False)]
    idle: Idleness = Idleness()
    budget: Budget = Budget()
    alarm: Alarm = Alarm()
    tell: Tell = Tell()

    @model_validator(mode="after")
    def _each_name_once(self) -> SentryPlan:
        names = [one.name for one in self.measure]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two measures are called {', '.join(twice)}")
        return self

    def without_secrets(self) -> SentryPlan:
        """As anybody may read it: who has a webhook's address may write there."""
        hidden = self.tell.model_copy(update={"webhook": HIDDEN if self.tell.webhook else ""})
        return self.model_copy(update={"tell": hidden})

    def measure_named(self, name: str) -> Measure | None:
        """The measure of that name."""
        return next((one for one in self.measure if one.name == name), None)


def read_plan(path: Path) -> SentryPlan:
    """The plan in a file.

    Raises
    ------
    UsageError
        It can't be read, or a field is not what it should be; names it.
    """
    try:
        return SentryPlan.model_validate(toml_of(path))
    except ValidationError as error:
        raise UsageError(f"{path}: {first_fault(error)}", "docs/how-to/sentry.md says what a plan holds") from error
    except ValueError as error:
        raise UsageError(
            f"{path}: no plan can be read: {error}", "docs/how-to/sentry.md has one to start from"
        ) from error

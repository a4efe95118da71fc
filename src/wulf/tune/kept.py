"""What a campaign kept: the settings it proved, what they were before, and what each was measured to change.

A run holds it as `kept.json`: {"campaign": id, "kept": [{"name", "place", "value", "before", "effect", "nodes"}]}.
An effect without a basis is of a wulf that kept the figure by which the setting had been selected.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, contents
from wulf.core.nodeset import names_in
from wulf.tune.setting import Value

FILE = "kept.json"

Basis = Literal["confirmed", "screened"]
CONFIRMED: Basis = "confirmed"
SCREENED: Basis = "screened"
"""On fresh data that decided nothing; or where it was selected for being large, and so is too large on average."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Effect(_Part):
    """What changing one setting did to one metric, with its interval.

    The difference to the value before, in the metric's unit; or, where the unit is '1', the improvement as a share of
    it: above 0 is better, whether more or less of the metric is.
    """

    value: float
    low: float | None
    high: float | None
    """Ends of the interval; None where it has none."""
    unit: str
    """SI, '1' for a ratio."""
    metric: str
    verdict: str
    basis: Basis = SCREENED


class Kept(_Part):
    """One setting at one place, alike on all of `nodes`."""

    name: str
    """Of the catalogue."""
    place: str = ""
    """'' is the node itself; else 'eth0', 'cpu3'."""
    value: Value
    before: Value | None = None
    """None: there was none, or it could not be read."""
    effect: Effect | None = None
    """None: not measured by itself."""
    nodes: str = ""
    """In ClusterShell's syntax: 'n[1-4]'."""


class KeptSettings(_Part):
    """All of one campaign."""

    campaign: str
    kept: tuple[Kept, ...]


def members(kept: Iterable[Kept]) -> dict[str, list[str]]:
    """Node set → its nodes, each set expanded once; of '' none.

    Raises
    ------
    UsageError
        A set can't be parsed, or stands for too many.
    """
    try:
        return {nodes: names_in(nodes) if nodes else [] for nodes in {each.nodes for each in kept}}
    except ValueError as error:
        raise UsageError(f"the nodes that kept something can't be told: {error}") from error


def read_kept(run: Path) -> KeptSettings:
    """Of a run's folder.

    Raises
    ------
    UsageError
        The run holds none, or not as it should be.
    """
    path = run / FILE
    if not path.exists():
        raise UsageError(f"{run} kept no settings: there is no {FILE} in it", "a run of `wulf tune --apply` leaves one")
    try:
        return KeptSettings.model_validate_json(contents(path))
    except (Unreadable, ValidationError) as error:
        raise UsageError(f"{path} can't be read: {error}", "`wulf tune` writes it; it is not for editing") from error

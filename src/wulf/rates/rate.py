"""One rate: a figure of the machine with its interval, verdict and provenance."""

from __future__ import annotations

import math
import re
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

VERDICTS = ("ok", "noisy", "unresolved", "failed")
PROVENANCES = ("measured", "reported", "given", "predicted")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", re.ASCII)
NUMBERS = ("value", "low", "high", "confidence")


@dataclass(frozen=True)
class Rate:
    """A rate as the file holds it. Units are SI base units: s, B, B/s, Hz, flop/s, W, 1.

    Parameters
    ----------
    value, low, high, confidence
        The estimate, its interval and the interval's coverage; None where there is none (see `reason`).
    at
        When it was measured: ISO 8601, UTC.
    provenance
        "measured", or "reported" by the operating system, "given" by a person, "predicted".
    verdict
        "ok", "noisy", "unresolved" or "failed".
    """

    name: str
    value: float | None
    unit: str
    low: float | None
    high: float | None
    confidence: float | None
    at: str
    provenance: str
    verdict: str
    reason: str | None = None

    def age(self, now: float | None = None) -> float:
        """Seconds since it was measured; `now` is a Unix time [the present]. Never below 0, whatever the clock did."""
        return max(0.0, (time.time() if now is None else now) - unix_time(self.at))

    def to_json(self) -> dict[str, Any]:
        """As it stands in the file, under its name."""
        content = asdict(self)
        del content["name"]
        return content


def unix_time(at: str) -> float:
    """Unix time of an ISO 8601 time in UTC (`2026-01-31T12:00:00.000Z`); ValueError for anything else."""
    if not _TIME.fullmatch(at):
        raise ValueError(f"{at!r} is not a time in UTC such as 2026-01-31T12:00:00.000Z")
    return datetime.fromisoformat(at).astimezone(UTC).timestamp()


def parse_rate(name: str, content: Any) -> Rate:
    """A rate from its JSON. Fields that we do not know are ignored: newer versions may add some.

    Raises
    ------
    ValueError
        Which field of which rate is wrong.
    """
    if not isinstance(content, dict):
        raise ValueError(f"rate {name} is not an object")
    numbers = {field: _number(name, field, content.get(field)) for field in NUMBERS}
    words = {field: _word(name, field, content.get(field)) for field in ("unit", "at", "provenance", "verdict")}
    reason = content.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise ValueError(f"rate {name}: reason is not a text")
    if words["verdict"] not in VERDICTS or words["provenance"] not in PROVENANCES:
        raise ValueError(f"rate {name}: verdict {words['verdict']!r} or provenance {words['provenance']!r} is unknown")
    if numbers["value"] is None and not reason:
        raise ValueError(f"rate {name}: a null value needs a reason")
    unix_time(words["at"])
    return Rate(name=name, reason=reason, **numbers, **words)  # type: ignore[arg-type]


def _number(name: str, field: str, value: Any) -> float | None:
    if value is None:
        return None
    try:
        if isinstance(value, bool) or not math.isfinite(number := float(value)) or isinstance(value, str):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"rate {name}: {field} is not a finite number") from None
    return number


def _word(name: str, field: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"rate {name}: {field} is not a text")
    return value

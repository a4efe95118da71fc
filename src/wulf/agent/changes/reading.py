"""Reading and writing one setting whatever its mechanism does: a fault of a mechanism is an answer, never the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.changes.host import Host


@dataclass(frozen=True)
class Reading:
    """What a setting is, and of which device; or why it can't be read, and whether it is not there at all."""

    value: Any = None
    identity: str | None = None
    reason: str | None = None
    absent: bool = False


def read(host: Host, mechanism: str, target: Mapping[str, Any], place: str) -> Reading:
    """What it is now."""
    try:
        with host.machine() as machine:
            kind = host.mechanisms[mechanism]
            return Reading(kind.read(machine, target, place), kind.identity(machine, place))
    except Unknown as unknown:
        return Reading(reason=unknown.reason, absent=unknown.absent)
    except Exception as error:  # noqa: BLE001 - a mechanism's defect must not stop the way back of the others
        return Reading(reason=f"{mechanism} failed: {type(error).__name__}: {error}")


def write(host: Host, mechanism: str, target: Mapping[str, Any], place: str, value: Any) -> str | None:
    """Make it so; the reason where the node refused. Whether it took is seen by reading it."""
    try:
        with host.machine() as machine:
            host.mechanisms[mechanism].write(machine, target, place, value)
    except Unknown as unknown:
        return unknown.reason
    except Exception as error:  # noqa: BLE001 - as above
        return f"{mechanism} failed: {type(error).__name__}: {error}"
    return None

"""What a change needs of its node. Tests hand in a machine of their own, clocks, and a hook that ends the process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wulf.agent.files.disk import Disk

if TYPE_CHECKING:
    from wulf.agent.machine import Machine
    from wulf.agent.mechanism import Mechanism


@dataclass(frozen=True)
class Host:
    """A node, as the change protocol sees it.

    Parameters
    ----------
    folder
        What must survive a boot: the journal.
    run
        What holds for this boot: guard, lock, deadlines, the watchdog's socket, and a copy of the journal.
    mechanisms
        Every way of writing settings, by name.
    machine
        Opens a fresh view of the machine: a view caches what it read.
    now
        Seconds since boot, the same for every process of the node, counted on while it sleeps.
    wall
        Time of day, in seconds since 1970: for people alone.
    boot
        What tells this boot from the one before.
    arm
        Makes sure of a watchdog that knows the deadlines of a serial number, as `arming.arm` does.
    at_boot
        Whether the next boot shall take back what it would keep, as `atboot.at_boot` sees to. Raises OSError.
    disk
        The file system of `folder`, which may not answer.
    step
        Told the name of every step before it is made. Tests end the process there, or have the disk be full.
    """

    folder: Path
    run: Path
    mechanisms: Mapping[str, Mechanism]
    machine: Callable[[], AbstractContextManager[Machine]]
    now: Callable[[], float]
    wall: Callable[[], float]
    boot: str
    arm: Callable[[Host, int], dict[str, Any]]
    at_boot: Callable[[Host, bool], None]
    disk: Disk = field(default_factory=Disk)
    step: Callable[[str], None] = lambda _: None

    @property
    def has_state(self) -> bool:
        """Whether anything was ever changed here, as far as disk or memory know."""
        return self.run.is_dir() or self.disk.do(self.folder.is_dir)


def same(one: Any, other: Any) -> bool:
    """Whether two values of a setting are equal; numbers may differ by what a change of unit rounds off."""
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) <= 1e-9 * max(abs(one), abs(other))
    return bool(one == other)

"""What an application is to wulf: how one is started, and what its output says. No node is touched here.

A driver is a module of this package (see its `__init__`) that has the names of `Driver`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from wulf.core.params import ParamSpec, check_params, with_defaults
from wulf.core.records import Param

TIMEOUT = 600.0
"""Seconds that a job may take, unless its driver or the user knows better."""


@dataclass(frozen=True)
class Figure:
    """One quantity that an application reports of itself, in SI units; `reason` says why there is no value."""

    name: str
    unit: str
    value: float | None
    better: Literal["higher", "lower"]
    reason: str = ""

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise ValueError(f"figure {self.name}: no value needs a reason")


@dataclass(frozen=True)
class Check:
    """Whether an answer is right: a residual, a digest, a count. A failed one voids all figures of its run.

    Parameters
    ----------
    said
        What it looked at, for a person: 'residual 0.0034, at most 16'.
    """

    name: str
    passed: bool
    said: str


@dataclass(frozen=True)
class OutputReading:
    """What an output says; `facts` are what else is worth a line: a version, a size, a number of threads."""

    figures: tuple[Figure, ...]
    checks: tuple[Check, ...] = ()
    facts: Mapping[str, str | float] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """One start of an application.

    Parameters
    ----------
    command
        Program and words, of one rank; it runs in a folder of its own.
    files
        Name → text, written into that folder before, on every node that has ranks.
    environment
        Variables beside those that the node's session has.
    mpi
        Started over the ranks by the launcher of an MPI; else once, on the first node.
    outputs
        Names of files in the folder that are read back afterwards from the first node.
    timeout
        Seconds after which it is ended, with all that it started on all nodes.
    folder
        Of the nodes, where it runs instead of in a folder of its own; `outputs` are then read there.
    """

    command: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    mpi: bool = False
    outputs: tuple[str, ...] = ()
    timeout: float = TIMEOUT
    folder: str | None = None


class Driver(Protocol):
    """One kind of application.

    Attributes
    ----------
    NAME
        What the user calls it: the sub-command of `wulf app`.
    HELP
        One line for a person.
    DOMAIN
        Its domain of application: what kind of work it stands for, where gains of many programs are collected.
    PROGRAMS
        Names that are looked for on the nodes, the best first; "python3:mpi4py" is an interpreter that has a module.
        Empty: the driver's job names its program itself, and `job` is given "".
    FIGURE
        The name of the main figure.
    PARAMS
        What can be set, with type, unit, limits and default.

    A driver of many figures may have two names more: `LEADING`, the names of those for which a difference is claimed
    where runs are compared, one for each of its parts (without it: all), and `TITLES`, name → in words.
    """

    @property
    def NAME(self) -> str: ...  # noqa: N802 - a module's constant
    @property
    def HELP(self) -> str: ...  # noqa: N802
    @property
    def DOMAIN(self) -> str: ...  # noqa: N802
    @property
    def PROGRAMS(self) -> Sequence[str]: ...  # noqa: N802
    @property
    def FIGURE(self) -> str: ...  # noqa: N802
    @property
    def PARAMS(self) -> Sequence[ParamSpec]: ...  # noqa: N802

    def job(self, program: str, params: Mapping[str, Param], ranks: int) -> Job:
        """How `program` (a path on the nodes) is started over `ranks`; `params` holds every parameter.

        Raises
        ------
        UsageError
            A parameter does not fit the others: names field, value, limit, and what to do.
        """
        ...

    def read(self, stdout: str, files: Mapping[str, str]) -> OutputReading:
        """What standard output and the `outputs` say. Never raises: what is not there is a figure without a value."""
        ...


def programs_for(driver: Driver, params: Mapping[str, Param]) -> tuple[str, ...]:
    """The names to look for: all PROGRAMS, unless the driver's own `programs_for(params)` chooses among them."""
    chosen = getattr(driver, "programs_for", None)
    return tuple(driver.PROGRAMS if chosen is None else chosen(params))


def leading_of(driver: Driver) -> tuple[str, ...]:
    """The figures that stand for its parts, where the driver names them."""
    return tuple(getattr(driver, "LEADING", ()))


def titles_of(driver: Driver) -> dict[str, str]:
    """Name → in words, of its figures, where the driver has words for them."""
    return dict(getattr(driver, "TITLES", {}))


def checked(driver: Driver, given: Mapping[str, Param]) -> dict[str, Param]:
    """All parameters of a driver: those given, once checked, and the others' defaults. Raises UsageError."""
    check_params(driver.NAME, driver.PARAMS, given)
    return with_defaults(driver.PARAMS, given)


def number(word: str) -> float | None:
    """A word of an output as a number; None where it is none."""
    try:
        return float(word)
    except ValueError:
        return None

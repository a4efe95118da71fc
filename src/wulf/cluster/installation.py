"""What this installation of wulf can do, and what it lacks for the rest: tried, as far as trying changes nothing."""

from __future__ import annotations

import os
import subprocess
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from wulf import __version__
from wulf.core.errors import UsageError
from wulf.core.programs import program_path
from wulf.lab import tools
from wulf.lab.manage import probe_backend

BUILD = "`make build` builds it in a clone; a wheel brings it along"
PATIENCE = 20.0
"""Seconds for a program to say its version."""


@dataclass(frozen=True)
class Ability:
    """Something that an installation is for.

    Attributes
    ----------
    commands
        By which it is used.
    own
        Programs of wulf's that it takes: without them wulf itself is not whole.
    programs
        Others; of alternatives, with `|` between them, one.
    tried
        What else it takes, by its name in `Host.tries`.
    advice
        How to come by what is missing.
    """

    name: str
    commands: str
    own: Sequence[str] = ()
    programs: Sequence[str] = ()
    tried: str = ""
    advice: str = BUILD


@dataclass(frozen=True)
class Answer:
    """Whether it can be done here.

    Attributes
    ----------
    by
        With what.
    lacks
        What is missing for it; empty: nothing.
    """

    ability: Ability
    by: str
    lacks: str

    @property
    def broken(self) -> bool:
        """Whether wulf itself is not whole."""
        return bool(self.lacks) and bool(self.ability.own)


@dataclass(frozen=True)
class Host:
    """How a machine is asked.

    Attributes
    ----------
    find
        Name of a program → its place, or None.
    version
        Name of a program of wulf's → the version that it says. UsageError where it can't be started.
    tries
        What is tried → with what it goes, and why it does not; one of them is empty.
    """

    find: Callable[[str], object | None]
    version: Callable[[str], str]
    tries: Mapping[str, Callable[[], tuple[str, str]]] = field(default_factory=dict)


def abilities() -> list[Ability]:
    """All of them, in the order in which a newcomer needs them."""
    text = files("wulf.cluster").joinpath("abilities.toml").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = tomllib.loads(text)["ability"]
    return [Ability(**one) for one in found]


def examined(host: Host) -> list[Answer]:
    """Each ability, held against a machine."""
    return [_answer(ability, host) for ability in abilities()]


def _answer(ability: Ability, host: Host) -> Answer:
    by: list[str] = []
    lacks: list[str] = []
    for name in ability.own:
        try:
            said = host.version(name)
        except UsageError as error:
            lacks.append(error.what)
            continue
        if said == __version__:
            by.append(name)
        else:
            lacks.append(f"{name} is of version {said}, and wulf of {__version__}")
    for alternatives in ability.programs:
        names = alternatives.split("|")
        there = next((name for name in names if host.find(name) is not None), None)
        (by if there else lacks).append(there or f"no {names[0]}")
    if ability.tried:
        way, why = host.tries[ability.tried]()
        by += [way] if way else []
        lacks += [why] if why else []
    return Answer(ability, ", ".join(by), "; ".join(lacks))


def this_host() -> Host:
    """The machine that wulf runs on."""
    return Host(tools.find, _version, {"root": _root, "lab": _lab})


def _version(name: str) -> str:
    path = program_path(name)
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{path} can't be started: {error}", BUILD) from error
    if said.returncode != 0:
        raise UsageError(f"{path} --version ended with {said.returncode}", BUILD)
    return said.stdout.strip().removeprefix(name).strip()


def _root() -> tuple[str, str]:
    if os.geteuid() == 0:
        return "root", ""
    sudo = tools.find("sudo")
    if sudo is None:
        return "", "this login is not root, and there is no sudo"
    try:
        allowed = subprocess.run([sudo, "-n", "true"], capture_output=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"sudo can't be asked: {error}"
    return ("sudo", "") if allowed.returncode == 0 else ("", "this login is not root, and sudo asks for a password")


def _lab() -> tuple[str, str]:
    backend, why = probe_backend()
    return (f"namespaces, by {why}", "") if backend == "netns" else ("", f"{why}: processes on loopback alone")

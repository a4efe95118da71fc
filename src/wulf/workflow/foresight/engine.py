"""Which of the replay's engines a prediction takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wulf.model.foresight.prediction import Program
from wulf.workflow.foresight.replaying import Replay

AUTO, ORDERED, TIMED = "auto", "a", "b"
"""Chosen; the one in the order of each rank's waits, and the one in the order of time."""

TURNED = 0.01
"""Share of messages that an adapter may serve in another order than engine a does from which on that matters."""

MOST_MESSAGES = 50_000_000
"""Over all networks and draws, that engine b is given without being asked: about a minute of one core."""


def turned(program: Program, inversions: int) -> str:
    """That more messages than matter come in another order than engine a takes them in; "" where they do not."""
    if inversions <= TURNED * max(1, program.messages):
        return ""
    return (
        f"{inversions:,} of {program.messages:,} messages come in another order than their receiver waits for them, or "
        "are large and leave one sender at the same time as others"
    )


def held_up(replay: Replay, program: Program, network: Mapping[str, Any]) -> str:
    """That large messages that get on in calls alone make the run longer than matters; "" where they do not."""
    if network.get("progress", True):
        return ""
    networks = [network, {**network, "progress": True}]
    held, free = (int(one["ps"]) for one in replay.runs(program, networks, TIMED))
    if held <= free * (1 + TURNED):
        return ""
    return (
        "large messages get on in calls of MPI alone, so that they wait for ranks that compute: for "
        f"{1 - free / held:.0%} of the run, which engine a does not know"
    )


def engine_for(replay: Replay, program: Program, network: Mapping[str, Any], asked: str, runs: int) -> tuple[str, str]:
    """The engine, and a note of why where it was chosen for what is in the program.

    Engine a is the faster one, and as exact where each rank takes its messages in the order in which they come.

    Parameters
    ----------
    network
        The one that the trace was made on, as the replay takes it.
    asked
        What the user wants.
    runs
        How many are to be made, of all networks and draws.
    """
    if asked != AUTO:
        return asked, ""
    if network.get("topology") is not None or program.graph:
        return TIMED, ""
    if program.live:
        return TIMED, (
            f"engine b: who sent to {program.live:,} receives from anybody is not told, and it matches them as the "
            "program runs"
        )
    why = turned(program, int(replay.runs(program, [network], ORDERED)[0].get("inversions", 0)))
    if program.messages * runs > MOST_MESSAGES:
        return ORDERED, ""
    why = why or held_up(replay, program, network)
    return (TIMED, f"engine b: {why}") if why else (ORDERED, "")

"""Which of the replay's engines a prediction takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wulf.model.foresight.prediction import ReplayProgram
from wulf.workflow.foresight.replaying import Replay

AUTO, ORDERED, TIMED = "auto", "a", "b"
"""Chosen; the one in the order of each rank's waits, and the one in the order of time."""

TURNED = 0.01
"""Share of messages that an adapter may serve in another order than engine a does from which on that matters."""

MOST_MESSAGES = 50_000_000
"""Over all networks and draws, that engine b is given without being asked: about a minute of one core."""


def turned(program: ReplayProgram, inversions: int) -> str:
    """That more messages than matter come in another order than engine a takes them in; "" where they do not."""
    if inversions <= TURNED * max(1, program.messages):
        return ""
    return (
        f"{inversions:,} of {program.messages:,} messages come in another order than their receiver waits for them, or "
        "are large and leave one sender at the same time as others"
    )


LATE = "large messages get on in calls of MPI alone, so that they wait for ranks that compute"
TURNS = "requests of large messages wait behind data, so that messages that cross take turns"


def held_up(replay: Replay, program: ReplayProgram, ways: Sequence[Mapping[str, Any]]) -> str:
    """That what engine a does not know of large messages makes the run longer than matters; "" where it does not.

    Parameters
    ----------
    ways
        A network in all ways in which its large messages may get on.
    """
    free = {**ways[0], "progress": True, "in_order": False}
    held = [one for one in ways if not one.get("progress", True) or one.get("in_order")]
    if not held:
        return ""
    alone, *rest = (int(one["ps"]) for one in replay.runs(program, [free, *held], TIMED))
    longest = max(rest)
    if longest <= alone * (1 + TURNED):
        return ""
    why = TURNS if held[0].get("in_order") else LATE
    return f"{why}: for {1 - alone / longest:.0%} of the run on {free['name']}, which engine a does not know"


def engine_for(
    replay: Replay, program: ReplayProgram, ways: Sequence[Sequence[Mapping[str, Any]]], asked: str, runs: int
) -> tuple[str, str]:
    """The engine, and a note of why where it was chosen for what is in the program.

    Engine a is the faster one, and as exact where each rank takes its messages in the order in which they come.

    Parameters
    ----------
    ways
        The network that the trace was made on and the candidates, each in all ways in which its large messages may get
        on, as the replay takes it.
    asked
        What the user wants.
    runs
        How many are to be made, of all networks and draws.
    """
    if asked != AUTO:
        return asked, ""
    network = ways[0][0]
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
    why = why or next(filter(None, (held_up(replay, program, one) for one in ways)), "")
    return (TIMED, f"engine b: {why}") if why else (ORDERED, "")

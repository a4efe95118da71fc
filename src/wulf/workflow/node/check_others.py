"""`wulf check` of other nodes: each is asked by its own wulf, over the way that leads to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

from wulf.cluster.access import access_to
from wulf.cluster.inventory import Inventory
from wulf.core.errors import FOUND, INCOMPLETE, OK, NodeError
from wulf.workflow.node.check import Result

STATES = ("well", "ill", "not finished")

NOT_REACHED = "not reached"
"""The state of a node that could not be asked."""

STARTING = 20.0
"""Seconds for Python to start and to end on a slow node."""

Told = list[tuple[str, Result]]


def ask(inventory: Inventory, words: Sequence[str], seconds: float) -> Told:
    """What each node's own check says, by node.

    Parameters
    ----------
    words
        The command there: `wulf check --json …`.
    seconds
        Its own limit.
    """
    with access_to(inventory) as access, access.agents() as opened:
        asked = {
            name: session.call("app_run", command=list(words), timeout=seconds + STARTING)
            for name, session in opened.sessions.items()
        }
        found: Told = [(name, Result("", NOT_REACHED, error.what)) for name, error in opened.failed.items()]
        for name, future in asked.items():
            try:
                found += ((name, one) for one in results_of(future.result(seconds + 3 * STARTING)))
            except FutureTimeout:
                found.append((name, Result("", NOT_REACHED, f"no answer within {seconds + 3 * STARTING:g} s")))
            except NodeError as error:
                found.append((name, Result("", NOT_REACHED, error.what)))
    order = {name: place for place, name in enumerate(inventory.names)}
    return sorted(found, key=lambda one: order[one[0]])


def results_of(answer: dict[str, Any]) -> list[Result]:
    """What a node's check printed; one result that says why where it did not check."""
    if "error" in answer:
        return [Result("", NOT_REACHED, f"{answer['error']}: is wulf installed there? --program says where")]
    found = [one for line in answer["stdout"].splitlines() if (one := _result(line)) is not None]
    if found and answer["status"] in (OK, FOUND):
        return found
    said = next((line for line in reversed(answer["stderr"].splitlines()) if line.strip()), "")
    ended = answer["signal"] or f"status {answer['status']}"
    return [Result("", NOT_REACHED, f"its check ended with {ended}{': ' if said else ''}{said}"[:500])]


def _result(line: str) -> Result | None:
    try:
        said = json.loads(line)
        one = Result(str(said["name"]), str(said["state"]), str(said["text"]))
    except (ValueError, KeyError, TypeError):
        return None
    return one if one.state in STATES else None


def message(node: str, one: Result) -> str:
    """A result for people, with whose it is."""
    if one.state == NOT_REACHED:
        return f"{node}: {one.text}" if not one.text.startswith(f"{node}:") else one.text
    return f"{node}: {one.message}"


def exit_code_of(results: Iterable[tuple[str, Result]]) -> int:
    """3 where a node could not be asked, 1 where something is wrong with one, 0 otherwise."""
    states = {one.state for _, one in results}
    return INCOMPLETE if NOT_REACHED in states else FOUND if "ill" in states else OK

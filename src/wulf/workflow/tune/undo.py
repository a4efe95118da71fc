"""`wulf tune revert` and `status`: what nodes hold of wulf's changes, from anywhere and at any time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers import make_launcher
from wulf.cluster.programs import agent_program
from wulf.core.errors import FOUND, INCOMPLETE, OK
from wulf.workflow.tune.nodes import ask_all

Answer = dict[str, Any]


def ask(inventory: Inventory, op: str, **fields: Any) -> tuple[dict[str, Answer], dict[str, str]]:
    """Ask the agent of every node: node → answer, and node → why there is none."""
    with make_launcher(inventory) as launcher:
        opened = launcher.open(inventory.nodes, replace(agent_program(), root=True))
        failed = {node: error.what.removeprefix(f"{node}: ") for node, error in opened.failed.items()}
        answers, silent = ask_all(opened.sessions, op, dict.fromkeys(opened.sessions, fields))
        return answers, failed | silent


def revert(inventory: Inventory, campaign: str | None) -> list[dict[str, Any]]:
    """Take back a campaign's changes, or all: one object a setting, or a node that can't be asked."""
    answers, failed = ask(inventory, "change_revert", **({"campaign": campaign} if campaign else {}))
    done = [{"node": node, **one} for node, answer in answers.items() for one in answer["results"]]
    return done + [{"node": node, "outcome": "unknown", "reason": why} for node, why in failed.items()]


def status(inventory: Inventory) -> list[dict[str, Any]]:
    """What every node holds: its lock, what is open, its watchdog, what is wrong with its journal."""
    answers, failed = ask(inventory, "change_status")
    told = [{"node": node, **_without(answer)} for node, answer in answers.items()]
    return told + [{"node": node, "unknown": why} for node, why in failed.items()]


def _without(answer: Mapping[str, Any]) -> Answer:
    return {key: value for key, value in answer.items() if key not in ("id", "ok")}


def revert_code(results: list[dict[str, Any]]) -> int:
    """0 all taken back; 1 something was left as somebody else made it; 3 a node can't be asked."""
    outcomes = {one["outcome"] for one in results}
    return INCOMPLETE if "unknown" in outcomes else FOUND if outcomes - {"reverted"} else OK


def status_code(told: list[dict[str, Any]]) -> int:
    """0 nothing wrong; 1 a journal has problems; 3 a node can't be asked."""
    if any("unknown" in one for one in told):
        return INCOMPLETE
    return FOUND if any(one.get("problems") for one in told) else OK

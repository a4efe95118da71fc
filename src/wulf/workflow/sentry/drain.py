"""Slurm is asked to drain and to resume nodes, as `wulf.sentry.draining` says."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wulf.sentry.draining import Order, SlurmNode, orders
from wulf.sentry.incident import Incident
from wulf.sentry.messages import incident_in, reason
from wulf.sentry.plan import Tell
from wulf.sentry.state import SentryState
from wulf.workflow.sentry.idle import asked, slurm_nodes


def drain(
    state: SentryState, tell: Tell, look: Callable[[], Mapping[str, SlurmNode]] = slurm_nodes,
    ask: Callable[..., str] = asked,
) -> list[Order]:  # fmt: skip
    """Bring Slurm's nodes to what the incidents ask for: what was ordered.

    Raises
    ------
    UsageError
        Slurm does not answer, or refuses.
    """
    incidents, nodes = state.incidents(), look()
    _adopt(state, {one.id: one for one in incidents}, nodes)
    given = orders(incidents, nodes, state.drained(), tell.drain_at_most)
    for one in given:
        if one.reason:
            ask("scontrol", "update", f"NodeName={one.node}", "State=DRAIN", f"Reason={one.reason}")
            state.note_drained(one.node, one.incident, one.opening)
        else:
            ask("scontrol", "update", f"NodeName={one.node}", "State=RESUME")
    return given


def _adopt(state: SentryState, known: Mapping[int, Incident], nodes: Mapping[str, SlurmNode]) -> None:
    """Note nodes that we had drained when we were killed, by the reason, which is ours to the letter."""
    for name, node in nodes.items():
        one = known.get(incident_in(node.reason) or 0)
        if one is not None and one.what.node == name and node.reason == reason(one):
            state.note_drained(name, one.id, one.openings[-1])

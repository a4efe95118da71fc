"""The packet filter, as nft lists it: how many rules there are, what drops, and what becomes of whatever none names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.fact import Topic
from wulf.agent.packetfilter import input_policy as policy
from wulf.agent.packetfilter import present

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("firewall")


@topic.fact("rules", "Rules of all tables but wulf's own, of whatever program", unit="1")
def rules(machine: Machine) -> int:
    return int(present(machine, "rules"))


@topic.fact("drops", "Rules that drop or reject packets, and chains that drop what no rule accepts", unit="1")
def drops(machine: Machine) -> int:
    return int(present(machine, "drops"))


@topic.fact("tracks", "Whether rules ask for connection tracking")
def tracks(machine: Machine) -> bool:
    return bool(present(machine, "tracks"))


@topic.fact("input_policy", "What happens to arriving packets that no rule names: accept, or drop where one chain does")
def input_policy(machine: Machine) -> str:
    return policy(machine)

"""Settings of a job: environment variables and MCA parameters of MPI. Nothing of them is on the node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine


class Job(Mechanism):
    help = "given to a job when it is started: env = 'UCX_TLS', mca = 'btl_tcp_sndbuf' or option = '--bind-to'"
    optional = ("env", "mca", "option")

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        raise Unknown("it is given to each job when that is started, and is nowhere on the node", absent=True)


mechanism = Job()

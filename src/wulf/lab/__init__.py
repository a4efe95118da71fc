"""A cluster on one machine: each node a set of namespaces on a bridge, with a real sshd, reached as any cluster is.

    with wulf.lab.up(4, rates={"n3": "200mbit"}, keep=False) as lab:
        subprocess.run(["ssh", "-F", lab.ssh_config, "n1", "hostname"])

Nothing of the host's is touched: no interface, route, firewall table or file that the lab didn't make.
"""

from __future__ import annotations

from .labs import Lab, LabNode
from .manage import BACKENDS, all_labs, down, down_all, find, probe_backend, up

__all__ = ["BACKENDS", "Lab", "LabNode", "all_labs", "down", "down_all", "find", "probe_backend", "up"]

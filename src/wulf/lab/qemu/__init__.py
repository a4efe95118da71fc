"""The hardware lab: nodes that are virtual machines, with a kernel, a disk, a systemd and an e1000e of their own.

The same lab as that of namespaces, from outside: a first process with the switch, nodes reached by ssh through it, and
one SIGKILL that ends it all. What differs is what a node is.
"""

from __future__ import annotations

from .lab import bring_up, power_cut, power_on

__all__ = ["bring_up", "power_cut", "power_on"]

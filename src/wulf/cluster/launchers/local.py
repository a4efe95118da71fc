"""Programs started directly on this machine, one for each node's name. No network, no copy."""

from __future__ import annotations

import os
import platform
import sys

from wulf.cluster.inventory import Node
from wulf.cluster.launcher import ProcessLauncher, Turn
from wulf.cluster.programs import Program
from wulf.cluster.session import Session, explain_exit
from wulf.core.errors import NodeError


class LocalLauncher(ProcessLauncher):
    """Every node is this machine."""

    def connect(self, node: Node, program: Program, turn: Turn) -> Session:
        here = platform.machine()
        if program.arch not in (None, here):
            raise NodeError(
                node.name,
                f"this machine is {here}, but {program.path} is built for {program.arch}",
                f"build {program.name} for {here}: run `make build` here",
            )
        argv = [sys.executable, str(program.path)] if program.python else [str(program.path)]
        if program.root and os.geteuid() != 0:
            argv = ["sudo", "-n", *argv]
        channel = self.channel([*argv, *program.arguments])
        return self.launch(node, program, channel, explain_exit(program.speaker), turn)


LAUNCHER = LocalLauncher

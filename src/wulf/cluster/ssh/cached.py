"""Programs started from a private cache on each node, whatever carries the command line there: ssh, or srun.

A normal start is one command: the node checks its machine and the digest of its copy, and becomes the program. Where
the copy is missing, a second command brings it, once per node and version (once in all where nodes share a home).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Node
from wulf.cluster.launcher import Ended, ProcessLauncher, Turn
from wulf.cluster.programs import Program
from wulf.cluster.session import Explain, Session, SessionLost
from wulf.cluster.ssh.scripts import FALLBACK, HOME, NEEDS_COPY, NO_PLACE, WRONG_ARCH, NodeCommand
from wulf.cluster.ssh.words import arch_of, explain_copy
from wulf.core.errors import NodeError


class CachedLauncher(ProcessLauncher):
    """A launcher that hands a node one command line for a shell there."""

    @abstractmethod
    def remote(self, node: Node, command: str) -> Sequence[str]:
        """What to run here so that a shell on the node runs the command with our standard streams."""

    @abstractmethod
    def explanation(self, node: Node, program: Program) -> Explain:
        """Words for the end of such a process."""

    @abstractmethod
    def way_failed(self, end: Exit) -> bool:
        """Whether an end is that of the way to the node rather than of what ran there."""

    def connect(self, node: Node, program: Program, turn: Turn) -> Session:
        try:
            return self._start(node, program, turn)
        except SessionLost as lost:
            if lost.end.status == WRONG_ARCH and (other := program.for_arch(arch_of(lost.stderr))):
                return self.connect(node, other, turn)
            if lost.end.status != NEEDS_COPY:
                raise
        self._copy(node, program, turn)
        return self._start(node, program, turn)

    def _start(self, node: Node, program: Program, turn: Turn) -> Session:
        argv = self.remote(node, NodeCommand(program).start)
        return self.launch(node, program, self.channel(argv), self.explanation(node, program), turn)

    def _copy(self, node: Node, program: Program, turn: Turn) -> None:
        """Bring the program into the node's cache; into /tmp where its home can't take it."""
        copied = self._copy_to(HOME, node, program, turn)
        if copied.end.status == NO_PLACE:
            in_home, _ = explain_copy(copied.end, program, copied.stderr)
            copied = self._copy_to(FALLBACK, node, program, turn)
            if copied.end.status == NO_PLACE:
                what, next_step = explain_copy(copied.end, program, copied.stderr)
                raise NodeError(node.name, f"{program.name} has no place there: {in_home}; and {what}", next_step)
            if copied.end.status == 0:
                self.notes[node.name] = f"{program.name} is kept in /tmp there: {in_home}"
        if self.way_failed(copied.end):
            raise NodeError(node.name, *self.explanation(node, program)(copied.end, copied.stderr, False))
        if copied.end.status != 0:
            raise NodeError(node.name, *explain_copy(copied.end, program, copied.stderr))

    def _copy_to(self, place: str, node: Node, program: Program, turn: Turn) -> Ended:
        return self.complete(self.remote(node, NodeCommand(program).copy(place)), program.path, turn)

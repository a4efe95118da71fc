"""What all launchers have in common: opening many sessions at once, and ending all of them."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Self

from wulf.cluster.channel import Channel, Exit
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.open_files import make_room
from wulf.cluster.programs import Program
from wulf.cluster.session import Explain, Session
from wulf.core.errors import NodeError

if TYPE_CHECKING:
    from wulf.cluster.engine import Engine, ProcessChannel

WINDOW = 64
"""Nodes that are being opened at the same time: more would only make each other late."""


@dataclass(frozen=True)
class Opened:
    """What became of opening a program on nodes.

    Parameters
    ----------
    sessions
        By node name, those that greeted; in the order that was asked for.
    failed
        By node name, why the others did not.
    notes
        By node name, what the user should know though it works: a program kept elsewhere than usual.
    """

    sessions: dict[str, Session] = field(default_factory=dict)
    failed: dict[str, NodeError] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def close(self, grace: float = 2.0) -> None:
        """End these sessions, all at once; the launcher can go on to open others."""
        close_sessions(self.sessions.values(), grace)


def close_sessions(sessions: Iterable[Session], grace: float = 2.0) -> None:
    """End sessions: all are asked at once, and after ``grace`` seconds the rest is killed."""
    left = list(sessions)
    for session in left:
        session.close_input()
    left = _still_there(left, grace)
    for session in left:
        session.kill()
    _still_there(left, grace)


def _still_there(sessions: list[Session], patience: float) -> list[Session]:
    deadline = time.monotonic() + patience
    return [s for s in sessions if not s.wait_ended(max(0.0, deadline - time.monotonic()))]


class Launcher(ABC):
    """Starts programs on the nodes of an inventory; as a context manager, it ends them too."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.notes: dict[str, str] = {}
        self._sessions: list[Session] = []

    @abstractmethod
    async def connect(self, node: Node, program: Program) -> Session:
        """Start the program on one node and wait for its greeting: `greeted` does the waiting.

        Many of these run at once in one thread: nothing in here may block.

        Raises
        ------
        NodeError
            It can't be started there.
        """

    def open(self, nodes: Iterable[Node], program: Program, timeout: float = 30.0) -> Opened:
        """Start the program on every node; a node where that fails takes none of the others down.

        Parameters
        ----------
        timeout
            Seconds that each node has to greet, from when its turn comes (`WINDOW` of them at a time).
        """
        nodes = list(nodes)
        outcomes = asyncio.run(self._open_all(nodes, program, timeout))
        opened = Opened()
        for node, outcome in zip(nodes, outcomes, strict=True):
            if isinstance(outcome, NodeError):
                opened.failed[node.name] = outcome
            else:
                opened.sessions[node.name] = outcome
        opened.notes.update({name: note for name, note in self.notes.items() if name in opened.sessions})
        return opened

    async def _open_all(self, nodes: list[Node], program: Program, timeout: float) -> list[Session | NodeError]:
        turn = asyncio.Semaphore(WINDOW)

        async def one(node: Node) -> Session | NodeError:
            async with turn:
                try:
                    async with asyncio.timeout(timeout):
                        return await self.connect(node, program)
                except TimeoutError:
                    what = f"{program.speaker} did not start within {timeout:g} s"
                    return NodeError(node.name, what, "is the node up, and not overloaded?")
                except NodeError as error:
                    return error

        return list(await asyncio.gather(*(one(node) for node in nodes)))

    async def greeted(self, session: Session) -> Session:
        """The session, once it has greeted; it is killed when that is given up."""
        self._sessions.append(session)
        try:
            await asyncio.wrap_future(session.greeted)
        except BaseException:
            session.kill()
            raise
        return session

    def close(self, grace: float = 2.0) -> None:
        """End every session: all are asked at once, and after ``grace`` seconds the rest is killed."""
        sessions, self._sessions = self._sessions, []
        close_sessions(sessions, grace)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ProcessLauncher(Launcher):
    """A launcher whose sessions are processes of this machine: the programs themselves, ssh, or srun."""

    gently = 0.0
    """As `ProcessChannel` takes it."""

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        self._engine: Engine | None = None
        self._making = Lock()  # sessions may be opened on several threads

    def open(self, nodes: Iterable[Node], program: Program, timeout: float = 30.0) -> Opened:
        nodes = list(nodes)
        make_room(len(nodes))
        return super().open(nodes, program, timeout)

    async def launch(self, node: Node, program: Program, argv: Sequence[str], explain: Explain) -> Session:
        """A session over a process that has greeted."""
        launched = program.hello is not None
        return await self.greeted(Session(node, program.speaker, self._channel(argv), explain, launched=launched))

    async def complete(self, argv: Sequence[str], stdin: Path) -> tuple[Exit, list[str], list[str]]:
        """Run a process to its end with a file as its input: how it ended, its output, its standard error."""
        return await collected(self._channel(argv, stdin))

    def close(self, grace: float = 2.0) -> None:
        super().close(grace)
        if self._engine is not None:
            self._engine.stop()
            self._engine = None

    def _channel(self, argv: Sequence[str], stdin: Path | None = None) -> ProcessChannel:
        from wulf.cluster.engine import Engine, ProcessChannel

        with self._making:
            if self._engine is None:
                self._engine = Engine()
        return ProcessChannel(self._engine, argv, stdin, self.gently)


async def collected(channel: Channel) -> tuple[Exit, list[str], list[str]]:
    """Run a channel's program to its end: how it ended, its output, its standard error."""
    collector = _Collector()
    channel.start(collector)
    try:
        await collector.wait()
    except BaseException:
        channel.kill()
        raise
    return collector.end, collector.stdout, collector.stderr


class _Collector:
    """A listener that keeps everything."""

    def __init__(self) -> None:
        self.stdout: list[str] = []
        self.stderr: list[str] = []
        self.end = Exit()
        self._loop = asyncio.get_running_loop()
        self._done = asyncio.Event()

    async def wait(self) -> None:
        await self._done.wait()

    def on_line(self, line: bytes, whole: bool = True) -> None:
        self.stdout.append(line.decode(errors="replace"))

    def on_stderr(self, line: str) -> None:
        self.stderr.append(line)

    def on_close(self, end: Exit) -> None:
        self.end = end
        try:
            self._loop.call_soon_threadsafe(self._done.set)
        except RuntimeError:
            if not self._loop.is_closed():
                raise  # a closed loop: whoever waited has given up, and the run is over

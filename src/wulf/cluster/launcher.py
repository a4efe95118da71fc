"""What all launchers have in common: opening many sessions at once, and ending all of them."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from wulf.cluster.channel import Channel, Exit
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.open_files import make_room
from wulf.cluster.programs import Program
from wulf.cluster.session import Explain, Session
from wulf.core.errors import NodeError

if TYPE_CHECKING:
    from wulf.cluster.engine import Engine, ProcessChannel

T = TypeVar("T")

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


class Turn:
    """A node's turn to be opened: until when it may take, and what an interrupt ends meanwhile."""

    def __init__(self, until: float, waits: Waits) -> None:
        self._until, self._waits = until, waits

    def wait(self, future: Future[T], kill: Callable[[], None]) -> T:
        """The result of what a program on the node is to give; `kill` ends the program where it gives none.

        Raises
        ------
        TimeoutError
            The node's time is over.
        """
        with self._waits.during(kill):
            return future.result(max(0.0, self._until - time.monotonic()))


class Waits:
    """What is waited for while nodes are opened on many threads, so that an interrupt can end all of it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kills: set[Callable[[], None]] = set()
        self._over = False

    @contextmanager
    def during(self, kill: Callable[[], None]) -> Iterator[None]:
        """`kill` is called where the block fails, or all is given up."""
        with self._lock:
            self._kills.add(kill)
            over = self._over
        try:
            if over:
                kill()
            yield
        except BaseException:
            kill()
            raise
        finally:
            with self._lock:
                self._kills.discard(kill)

    def give_up(self) -> None:
        """End all of it, and what is begun from now on."""
        with self._lock:
            self._over, kills = True, list(self._kills)
        for kill in kills:
            kill()


class Launcher(ABC):
    """Starts programs on the nodes of an inventory; as a context manager, it ends them too."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.notes: dict[str, str] = {}
        self._sessions: list[Session] = []

    @abstractmethod
    def connect(self, node: Node, program: Program, turn: Turn) -> Session:
        """Start the program on one node and wait for its greeting: `greeted` does the waiting.

        Many of these run at once, each on a thread.

        Raises
        ------
        NodeError
            It can't be started there.
        TimeoutError
            The node's turn is over.
        """

    def open(self, nodes: Iterable[Node], program: Program, timeout: float = 30.0) -> Opened:
        """Start the program on every node; a node where that fails takes none of the others down.

        Parameters
        ----------
        timeout
            Seconds that each node has to greet, from when its turn comes (`WINDOW` of them at a time).
        """
        nodes = list(nodes)
        opened = Opened()
        for node, outcome in zip(nodes, self._open_all(nodes, program, timeout), strict=True):
            if isinstance(outcome, NodeError):
                opened.failed[node.name] = outcome
            else:
                opened.sessions[node.name] = outcome
        opened.notes.update({name: note for name, note in self.notes.items() if name in opened.sessions})
        return opened

    def _open_all(self, nodes: Sequence[Node], program: Program, timeout: float) -> list[Session | NodeError]:
        waits = Waits()

        def one(node: Node) -> Session | NodeError:
            try:
                return self.connect(node, program, Turn(time.monotonic() + timeout, waits))
            except TimeoutError:
                what = f"{program.speaker} did not start within {timeout:g} s"
                return NodeError(node.name, what, "is the node up, and not overloaded?")
            except NodeError as error:
                return error

        with ThreadPoolExecutor(max(1, min(WINDOW, len(nodes))), "wulf-open") as pool:
            outcomes = [pool.submit(one, node) for node in nodes]
            try:
                for outcome in as_completed(outcomes):
                    outcome.result()  # a fault of ours ends it at once, whichever node it came with
                return [outcome.result() for outcome in outcomes]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                waits.give_up()
                raise

    def greeted(self, session: Session, turn: Turn) -> Session:
        """The session, once it has greeted; it is killed when that is given up."""
        self._sessions.append(session)
        turn.wait(session.greeted, session.kill)
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

    def launch(self, node: Node, program: Program, channel: Channel, explain: Explain, turn: Turn) -> Session:
        """A session with a program that has greeted."""
        launched = program.hello is not None
        return self.greeted(Session(node, program.speaker, channel, explain, launched=launched), turn)

    def complete(self, argv: Sequence[str], stdin: Path, turn: Turn) -> Ended:
        """Run a process to its end with a file as its input."""
        return ended(self.channel(argv, stdin), turn)

    def close(self, grace: float = 2.0) -> None:
        super().close(grace)
        if self._engine is not None:
            self._engine.stop()
            self._engine = None

    def channel(self, argv: Sequence[str], stdin: Path | None = None) -> ProcessChannel:
        """To a process of this machine; `stdin`: a file for its input, in the place of what is sent."""
        from wulf.cluster.engine import Engine, ProcessChannel

        with self._making:
            if self._engine is None:
                self._engine = Engine()
        return ProcessChannel(self._engine, argv, stdin, self.gently)


@dataclass(frozen=True)
class Ended:
    """How a program ended, and the lines of its standard error."""

    end: Exit
    stderr: Sequence[str]


def ended(channel: Channel, turn: Turn) -> Ended:
    """Run a channel's program to its end."""
    ending = _Ending()
    channel.start(ending)
    return turn.wait(ending.future, channel.kill)


class _Ending:
    """A listener that keeps what a program says of its end."""

    def __init__(self) -> None:
        self.future: Future[Ended] = Future()
        self._stderr: list[str] = []

    def on_line(self, line: bytes, whole: bool = True) -> None:
        """Nobody reads it."""

    def on_stderr(self, line: str) -> None:
        self._stderr.append(line)

    def on_close(self, end: Exit) -> None:
        self.future.set_result(Ended(end, self._stderr))

"""Many processes and one thread: a ClusterShell task with its event loop.

ClusterShell's own process workers take a shell string or a node set, wait for a process inside the loop and raise
inside it where a program can't be executed. So the processes are started here, and ClusterShell's StreamWorker
drives their pipes.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from ClusterShell.Event import EventHandler
from ClusterShell.Task import task_self
from ClusterShell.Worker.Worker import StreamClient, StreamWorker

from wulf.agent.processes.lines import Lines
from wulf.cluster.channel import Exit, Listener

REAP_GRACE = 1.0
"""Seconds that a program may live on after it closed its output, before it is killed."""

LONGEST_LINE = 1 << 28
"""Bytes of a line: what wulf-replay answers for a hundred thousand ranks has a tenth of it, a node a thousandth."""

# ClusterShell warns of a broken pipe, which is told here by the end of the program
logging.getLogger("ClusterShell").addHandler(logging.NullHandler())
_log = logging.getLogger(__name__)


class Engine:
    """The thread that serves all processes of a launcher. Started by its first process, ended by `stop`."""

    def __init__(self) -> None:
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="wulf-engine", daemon=True)
        self._processes: set[_Running] = set()
        self._stopping = False
        self._start_lock = threading.Lock()

    def post(self, action: Callable[[], None]) -> bool:
        """Run ``action`` on the engine's thread: at once when called from it, soon otherwise; False when it is over."""
        if threading.current_thread() is self._thread:
            action()
            return True
        with self._start_lock:
            if self._thread.ident is None:
                self._thread.start()
        self._ready.result()
        try:
            return bool(self._port.msg_send(action))
        except (OSError, KeyError, AttributeError):  # the port goes away with the task
            return False

    def later(self, delay: float, action: Callable[[], None]) -> None:
        """Run ``action`` after ``delay`` seconds. Only from the engine's thread."""
        self._task.timer(delay, handler=_Handler(on_timer=action), autoclose=True)

    def stop(self) -> None:
        """End the thread and whatever is still running. Not from the engine's thread."""
        if self._thread.ident is None:
            return
        self.post(self._abort)
        self._thread.join(timeout=10)

    def _abort(self) -> None:
        self._stopping = True
        self._task.abort(kill=True)  # raises through the loop, as ClusterShell means it to

    def _run(self) -> None:
        self._task = task = task_self()
        task.set_info("fanout", 1 << 20)  # sessions stay open: none may wait for another's end
        for tree in ("stdout_msgtree", "stderr_msgtree"):
            task.set_default(tree, False)  # else it keeps every line for ever
        self._port = task.port(handler=_Handler(on_message=lambda action: action()))
        self._ready.set_result(None)
        try:
            task.resume()
        except Exception:  # noqa: BLE001 - whatever it is, the sessions must be told
            _log.exception("the engine failed; its sessions are lost")
        finally:
            self._stopping = True
            for process in list(self._processes):
                process.end_now()
            if task in type(task)._tasks.values():
                task.abort(kill=True)

    def add(self, process: _Running, worker: StreamWorker) -> None:
        """Serve a process's streams. Only from the engine's thread."""
        self._processes.add(process)
        self._task.schedule(worker)

    def discard(self, process: _Running) -> None:
        """Forget a process that has ended."""
        self._processes.discard(process)

    @property
    def stopping(self) -> bool:
        return self._stopping


class ProcessChannel:
    """A local process as a `wulf.cluster.channel.Channel`.

    It gets a process group and a session of its own, so that Ctrl-C at the terminal reaches wulf alone, which then
    keeps what was measured, and so that ssh has no terminal to ask for a password.

    Parameters
    ----------
    argv
        Program and arguments; no shell.
    stdin
        A file for its standard input; None: a pipe, written by `send`.
    gently
        Seconds between SIGTERM and SIGKILL where it is to be killed: srun must tell the node that its step is over. 0:
        SIGKILL at once.
    """

    def __init__(self, engine: Engine, argv: Sequence[str], stdin: Path | None = None, gently: float = 0.0) -> None:
        self._engine = engine
        self._argv = list(argv)
        self._stdin = stdin
        self._gently = gently
        self._running: _Running | None = None

    def start(self, listener: Listener) -> None:
        if not self._engine.post(lambda: self._start(listener)):
            listener.on_stderr("the engine that serves the processes has failed")
            listener.on_close(Exit())

    def send(self, line: bytes) -> None:
        self._engine.post(lambda: self._running.write(line + b"\n") if self._running else None)

    def close_input(self) -> None:
        self._engine.post(lambda: self._running.close_input() if self._running else None)

    def kill(self) -> None:
        self._engine.post(lambda: self._running.kill() if self._running else None)

    def _start(self, listener: Listener) -> None:
        try:
            process = self._popen()
        except OSError as error:
            # the shell's two statuses: not found, found but not executable
            listener.on_stderr(f"{self._argv[0]}: {error.strerror}")
            listener.on_close(Exit(status=127 if isinstance(error, FileNotFoundError) else 126))
            return
        self._running = _Running(self._engine, process, listener, self._gently)

    def _popen(self) -> subprocess.Popen[bytes]:
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "bufsize": 0}
        if self._stdin is None:
            return subprocess.Popen(self._argv, stdin=subprocess.PIPE, start_new_session=True, **pipes)
        with self._stdin.open("rb") as source:
            return subprocess.Popen(self._argv, stdin=source, start_new_session=True, **pipes)


class _Running:
    """A process that has been started. All of it happens on the engine's thread."""

    def __init__(
        self, engine: Engine, process: subprocess.Popen[bytes], listener: Listener, gently: float = 0.0
    ) -> None:
        self._engine = engine
        self._process = process
        self._gently = gently
        self._listener = listener
        handler = _Handler(on_read=self._on_read, on_end=self._reap)
        self._worker = StreamWorker(handler, key=str(process.pid), client_class=self._client)
        self._worker.set_reader("stdout", _descriptor(process.stdout))
        # Not retained: a process left behind with our standard error must not keep the session looking alive.
        # Not closed by ClusterShell: it is read to its end when the program is gone.
        self._stderr = _descriptor(process.stderr)
        self._worker.set_reader("stderr", self._stderr, retain=False, closefd=False)
        if process.stdin is not None:
            self._worker.set_writer("stdin", _descriptor(process.stdin), retain=False)
        engine.add(self, self._worker)

    def write(self, data: bytes) -> None:
        self._worker.write(data, "stdin")

    def close_input(self) -> None:
        self._worker.set_write_eof("stdin")

    def kill(self) -> None:
        """The program with all that it started."""
        if not self._gently:
            self._signal(signal.SIGKILL)
            return
        self._signal(signal.SIGTERM)
        self._engine.later(self._gently, lambda: self._signal(signal.SIGKILL))

    def _signal(self, number: int) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def end_now(self) -> None:
        """Kill, wait, and tell the listener: when the engine stops."""
        if self._gently:
            self._signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(self._gently)
        self._signal(signal.SIGKILL)
        self._process.wait()
        self._finish()

    def _client(self, *arguments: Any) -> _Client:
        return _Client(
            *arguments,
            on_rest=lambda sname, rest: self._on_read(sname, rest, whole=False),
            on_endless=self._end_endless,
        )

    def _end_endless(self, complaint: str) -> None:
        """No program of ours says so much in a line: it is broken, or would fill the memory here."""
        self._listener.on_stderr(complaint)
        self.kill()

    def _on_read(self, sname: str, line: bytes, whole: bool = True) -> None:
        try:
            if sname == "stdout":
                self._listener.on_line(line, whole)
            else:
                self._listener.on_stderr(line.decode(errors="replace").rstrip())
        except Exception:  # noqa: BLE001 - what one program wrote must not end the others' sessions
            _log.exception("a line of process %d could not be dealt with; it is ended", self._process.pid)
            self.kill()

    def _reap(self, delay: float = 0.002) -> None:
        """Collect the exit status, which comes some time after the end of the output."""
        if self._engine.stopping:
            return  # `Engine.stop` ends whatever is left
        if self._process.poll() is not None:
            self._finish()
            return
        if delay > REAP_GRACE:
            self.kill()
        self._engine.later(delay, lambda: self._reap(delay * 2))

    def _finish(self) -> None:
        self._engine.discard(self)
        for line in _rest(self._stderr).splitlines():
            self._listener.on_stderr(line.decode(errors="replace").rstrip())
        os.close(self._stderr)
        self._listener.on_close(Exit.of(self._process.returncode))


def _descriptor(pipe: Any) -> int:
    """A non-blocking descriptor of a pipe, which outlives the file object."""
    descriptor = os.dup(pipe.fileno())
    pipe.close()
    os.set_blocking(descriptor, False)
    return descriptor


def _rest(descriptor: int) -> bytes:
    """What can still be read, without waiting for a process left behind that holds the other end."""
    parts = []
    with contextlib.suppress(BlockingIOError):
        while part := os.read(descriptor, 65536):
            parts.append(part)
    return b"".join(parts)


class _Client(StreamClient):  # type: ignore[misc]
    """ClusterShell's reader, with lines of bounded length.

    Its own joins what it has with each piece that comes, which takes the square of a long line's length; and it passes
    a line that the end of the output cut short for a whole one.
    """

    def __init__(
        self, *arguments: Any, on_rest: Callable[[str, bytes], None], on_endless: Callable[[str], None]
    ) -> None:
        super().__init__(*arguments)
        self._on_rest, self._on_endless = on_rest, on_endless
        self._said: defaultdict[str, Lines] = defaultdict(lambda: Lines(LONGEST_LINE))

    def _readlines(self, sname: str) -> Iterator[bytes]:
        said = self._said[sname]
        yield from (line.removesuffix(b"\r") for line in said.take(self._read(sname)))
        if complaint := said.complaint():
            self._on_endless(complaint)

    def _flush_read(self, sname: str) -> None:
        if self.streams[sname].readable() and (rest := self._said[sname].rest()):
            self._on_rest(sname, rest)


class _Handler(EventHandler):  # type: ignore[misc]
    """ClusterShell's events as plain calls."""

    def __init__(
        self,
        on_read: Callable[[str, bytes], None] | None = None,
        on_end: Callable[[], None] | None = None,
        on_timer: Callable[[], None] | None = None,
        on_message: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        self._on_read = on_read
        self._on_end = on_end
        self._on_timer = on_timer
        self._on_message = on_message

    def ev_read(self, worker: StreamWorker, node: str, sname: str, msg: bytes) -> None:
        if self._on_read:
            self._on_read(sname, msg)

    def ev_close(self, worker: StreamWorker, timedout: bool) -> None:
        if self._on_end:
            self._on_end()

    def ev_timer(self, timer: object) -> None:
        if self._on_timer:
            self._on_timer()

    def ev_msg(self, port: object, msg: Callable[[], None]) -> None:
        if self._on_message:
            self._on_message(msg)

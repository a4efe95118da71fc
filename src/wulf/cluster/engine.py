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
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from ClusterShell.Event import EventHandler
from ClusterShell.Task import task_self
from ClusterShell.Worker.Worker import StreamWorker

from wulf.cluster.channel import Exit, Listener

REAP_GRACE = 1.0
"""Seconds that a program may live on after it closed its output, before it is killed."""

# ClusterShell warns of a broken pipe, which is told here by the end of the program
logging.getLogger("ClusterShell").addHandler(logging.NullHandler())
_log = logging.getLogger(__name__)


class Engine:
    """The thread that serves all processes of a launcher. Started by its first process, ended by `stop`."""

    def __init__(self) -> None:
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="wulf-engine", daemon=True)
        self._channels: set[ProcessChannel] = set()
        self._stopping = False
        self._start_lock = threading.Lock()

    def post(self, action: Callable[[], None]) -> None:
        """Run ``action`` on the engine's thread: at once when called from it, soon otherwise; never after `stop`."""
        if threading.current_thread() is self._thread:
            action()
            return
        with self._start_lock:
            if self._thread.ident is None:
                self._thread.start()
        self._ready.result()
        # the port goes away with the task: what is posted then has nobody to act on
        with contextlib.suppress(OSError, KeyError, AttributeError):
            self._port.msg_send(action)

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
            for channel in list(self._channels):
                channel.end_now()
            if task in type(task)._tasks.values():
                task.abort(kill=True)

    def add(self, channel: ProcessChannel, worker: StreamWorker) -> None:
        """Serve a channel's streams."""
        self._channels.add(channel)
        self._task.schedule(worker)

    def discard(self, channel: ProcessChannel) -> None:
        """Forget a channel that has ended."""
        self._channels.discard(channel)

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
    """

    def __init__(self, engine: Engine, argv: Sequence[str], stdin: Path | None = None) -> None:
        self._engine = engine
        self._argv = list(argv)
        self._stdin = stdin
        self._process: subprocess.Popen[bytes] | None = None
        self._worker: StreamWorker | None = None

    def start(self, listener: Listener) -> None:
        self._listener = listener
        self._engine.post(self._spawn)

    def send(self, line: bytes) -> None:
        self._engine.post(lambda: self._write(line + b"\n"))

    def close_input(self) -> None:
        self._engine.post(lambda: self._worker.set_write_eof("stdin") if self._worker else None)

    def kill(self) -> None:
        self._engine.post(self._kill)

    # From here on: the engine's thread.

    def _spawn(self) -> None:
        try:
            process = self._popen()
        except OSError as error:
            # the shell's two statuses: not found, found but not executable
            self._listener.on_stderr(f"{self._argv[0]}: {error.strerror}")
            self._listener.on_close(Exit(status=127 if isinstance(error, FileNotFoundError) else 126))
            return
        self._process = process
        self._worker = worker = StreamWorker(
            _Handler(on_read=self._on_read, on_end=lambda: self._reap(0.002)), key=str(process.pid)
        )
        assert process.stdout is not None and process.stderr is not None
        worker.set_reader("stdout", _detached(process.stdout))
        # Not retained: a process left behind with our standard error must not keep the session looking alive.
        # Not closed by ClusterShell: it is read to its end when the program is gone.
        worker.set_reader("stderr", process.stderr, retain=False, closefd=False)
        os.set_blocking(process.stderr.fileno(), False)
        if process.stdin is not None:
            worker.set_writer("stdin", _detached(process.stdin), retain=False)
        self._engine.add(self, worker)

    def _popen(self) -> subprocess.Popen[bytes]:
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "bufsize": 0}
        if self._stdin is None:
            return subprocess.Popen(self._argv, stdin=subprocess.PIPE, start_new_session=True, **pipes)
        with self._stdin.open("rb") as source:
            return subprocess.Popen(self._argv, stdin=source, start_new_session=True, **pipes)

    def _write(self, data: bytes) -> None:
        if self._worker is not None:
            self._worker.write(data, "stdin")

    def _on_read(self, sname: str, line: bytes) -> None:
        if sname == "stdout":
            self._listener.on_line(line)
        else:
            self._listener.on_stderr(line.decode(errors="replace").rstrip())

    def _kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _reap(self, delay: float) -> None:
        """Collect the exit status, which comes some time after the end of the output."""
        assert self._process is not None
        if self._engine.stopping:
            self.end_now()
        elif self._process.poll() is not None:
            self._finish()
        else:
            if delay > REAP_GRACE:
                self._kill()
            self._engine.later(delay, lambda: self._reap(delay * 2))

    def end_now(self) -> None:
        """Kill, wait, and tell the listener: when the engine stops."""
        if self._process is not None and self in self._engine._channels:
            self._kill()
            self._process.wait()
            self._finish()

    def _finish(self) -> None:
        assert self._process is not None
        self._engine.discard(self)
        self._worker = None
        self._read_rest_of_stderr()
        self._listener.on_close(Exit.of(self._process.returncode))

    def _read_rest_of_stderr(self) -> None:
        assert self._process is not None and self._process.stderr is not None
        with self._process.stderr as stderr:
            rest = stderr.read(1 << 20) or b""  # not blocking: None where a process left behind holds it open
        for line in rest.splitlines():
            self._listener.on_stderr(line.decode(errors="replace").rstrip())


def _detached(pipe: Any) -> int:
    """A non-blocking descriptor of a pipe, for ClusterShell to close."""
    descriptor = os.dup(pipe.fileno())
    pipe.close()
    os.set_blocking(descriptor, False)
    return descriptor


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

"""Processes behind one thread: lines both ways, ends of every kind, and nothing left behind."""

import os
import signal
import sys
import threading

import pytest

from tests.processes import PATIENCE, gone
from wulf.cluster import engine as cluster_engine
from wulf.cluster.channel import Exit
from wulf.cluster.engine import Engine, ProcessChannel


class Listener:
    def __init__(self):
        self.lines = []
        self.cut = []
        self.stderr = []
        self.end = None
        self.ends = 0
        self.changed = threading.Condition()

    def on_line(self, line, whole=True):
        with self.changed:
            (self.lines if whole else self.cut).append(line)
            self.changed.notify_all()

    def on_stderr(self, line):
        self.stderr.append(line)

    def on_close(self, end):
        with self.changed:
            self.end = end
            self.ends += 1
            self.changed.notify_all()

    def wait(self, condition, timeout=PATIENCE):
        with self.changed:
            assert self.changed.wait_for(condition, timeout)

    def wait_end(self):
        self.wait(lambda: self.end is not None)
        return self.end


@pytest.fixture
def engine():
    made = Engine()
    yield made
    made.stop()


@pytest.fixture
def run(engine):
    def start(*argv, stdin=None):
        listener = Listener()
        channel = ProcessChannel(engine, argv, stdin)
        channel.start(listener)
        return channel, listener

    return start


TRAPPED = 'trap "echo asked" TERM; echo ready; while :; do sleep 0.05; done'


def test_a_gentle_kill_asks_first(engine):
    listener = Listener()
    channel = ProcessChannel(engine, ["sh", "-c", TRAPPED.replace("asked", "asked; exit 7")], gently=20.0)
    channel.start(listener)
    listener.wait(lambda: listener.lines == [b"ready"])
    channel.kill()
    assert listener.wait_end() == Exit(status=7)
    assert listener.lines == [b"ready", b"asked"]


def test_a_gentle_kill_is_one_all_the_same(engine):
    listener = Listener()
    channel = ProcessChannel(engine, ["sh", "-c", TRAPPED], gently=0.3)
    channel.start(listener)
    listener.wait(lambda: listener.lines == [b"ready"])
    channel.kill()
    assert listener.wait_end() == Exit(signal=9)
    assert b"asked" in listener.lines


def test_an_engine_that_stops_asks_those_first_that_want_it():
    made, listener = Engine(), Listener()
    channel = ProcessChannel(made, ["sh", "-c", TRAPPED.replace("echo asked", "exit 7")], gently=5.0)
    channel.start(listener)
    listener.wait(lambda: listener.lines == [b"ready"])
    made.stop()
    assert listener.wait_end() == Exit(status=7)


def test_lines_both_ways(run):
    channel, listener = run("cat")
    for number in range(1000):
        channel.send(str(number).encode())
    channel.close_input()
    assert listener.wait_end() == Exit(status=0)
    assert listener.lines == [str(number).encode() for number in range(1000)]


@pytest.mark.parametrize("size", [0, 1, 4095, 65536, 65537, 3 << 20])
def test_lines_of_any_length(run, size):
    channel, listener = run("cat")
    channel.send(b"x" * size)
    channel.close_input()
    listener.wait_end()
    assert listener.lines == [b"x" * size]


def test_the_last_words_come_before_the_end(run):
    _, listener = run("sh", "-c", "echo one >&2; echo two >&2; printf three >&2; exit 7")
    assert listener.wait_end() == Exit(status=7)
    assert listener.stderr == ["one", "two", "three"]


def test_a_signal(run):
    _, listener = run("sh", "-c", "kill -TERM $$")
    assert listener.wait_end() == Exit(signal=15)


@pytest.mark.parametrize(("program", "status"), [("/no/such/program", 127), ("/etc/passwd", 126), ("/", 126)])
def test_a_program_that_cannot_be_started(run, program, status):
    _, listener = run(program)
    assert listener.wait_end() == Exit(status=status)
    assert program in listener.stderr[0]


def test_a_file_as_standard_input(run, tmp_path):
    path = tmp_path / "input"
    path.write_text("from the file\n")
    _, listener = run("cat", stdin=path)
    assert listener.wait_end() == Exit(status=0)
    assert listener.lines == [b"from the file"]


def test_a_file_that_is_gone(run, tmp_path):
    _, listener = run("cat", stdin=tmp_path / "absent")
    assert listener.wait_end().status == 127


def test_kill_takes_what_the_program_started_too(run):
    channel, listener = run("sh", "-c", "sleep 3600 & echo $!; wait")
    listener.wait(lambda: listener.lines)
    channel.kill()
    assert listener.wait_end() == Exit(signal=9)
    assert gone(listener.lines[0])


def test_a_process_left_behind_with_our_standard_error_hides_no_end(run):
    _, listener = run("sh", "-c", "echo last >&2; sleep 600 >/dev/null </dev/null & echo $!; exit 3")
    assert listener.wait_end() == Exit(status=3)
    assert listener.stderr == ["last"]
    os.kill(int(listener.lines[0]), 9)


def test_a_program_that_only_closes_its_output_is_killed(run):
    _, listener = run("sh", "-c", "exec >/dev/null; sleep 3600")
    assert listener.wait_end() == Exit(signal=9)


def test_what_is_sent_after_the_end_is_dropped(run):
    channel, listener = run("true")
    listener.wait_end()
    channel.send(b"hello?")
    channel.close_input()
    channel.kill()
    assert listener.ends == 1


def test_a_program_that_reads_nothing_blocks_nobody(run):
    deaf, _ = run("sleep", "3600")
    for _ in range(64):
        deaf.send(b"x" * 65536)
    channel, listener = run("cat")
    channel.send(b"still here")
    listener.wait(lambda: listener.lines == [b"still here"])
    deaf.kill()


def test_stop_ends_whatever_runs_and_tells():
    engine = Engine()
    listeners = [Listener() for _ in range(20)]
    for listener in listeners:
        ProcessChannel(engine, ["sh", "-c", "echo $$; trap '' TERM; sleep 3600"]).start(listener)
    for listener in listeners:
        listener.wait(lambda listener=listener: listener.lines)
    engine.stop()
    assert [listener.end for listener in listeners] == [Exit(signal=9)] * 20
    assert all(gone(listener.lines[0]) for listener in listeners)
    engine.stop()


def test_an_engine_that_was_never_used_has_no_thread():
    before = threading.active_count()
    Engine().stop()
    assert threading.active_count() == before


def test_a_line_that_the_end_cuts_short_is_told_to_be_no_whole_one(run):
    _, listener = run("sh", "-c", "echo one; printf tw; exit 3")
    assert listener.wait_end() == Exit(status=3)
    assert (listener.lines, listener.cut) == ([b"one"], [b"tw"])


def test_a_line_that_nobody_can_deal_with_ends_its_program_alone(run, monkeypatch, caplog):
    good, listener = run("cat")
    bad, broken = run("cat")
    monkeypatch.setattr(broken, "on_line", lambda _line, _whole: {}["fault"])
    bad.send(b"x")
    assert broken.wait_end() == Exit(signal=9)
    assert "KeyError" in caplog.text
    good.send(b"y")
    listener.wait(lambda: listener.lines == [b"y"])


def test_a_fault_of_the_engine_is_told_to_every_session_instead_of_hanging_them(caplog):
    engine = Engine()
    listener = Listener()
    channel = ProcessChannel(engine, ["sh", "-c", "trap '' HUP TERM; echo on; sleep 3600"])
    channel.start(listener)
    listener.wait(lambda: listener.lines)
    engine.post(lambda: {}["fault"])
    assert listener.wait_end() == Exit(signal=9)
    assert "KeyError" in caplog.text
    channel.send(b"hello?")
    engine.stop()
    late = Listener()
    ProcessChannel(engine, ["true"]).start(late)
    assert late.wait_end() == Exit()


def test_no_descriptor_is_left_open(run):
    def count():
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208

    _, first = run("true")
    first.wait_end()
    before = count()
    for _ in range(30):
        run(sys.executable, "-S", "-c", "")[1].wait_end()
    assert count() <= before


def test_ctrl_c_at_the_terminal_is_not_for_the_programs(run):
    _, listener = run("sh", "-c", "ps -o pgid=,sid= -p $$")
    listener.wait_end()
    pgid, sid = map(int, listener.lines[0].split())
    assert os.getpgid(0) != pgid
    assert os.getsid(0) != sid


def test_a_long_line_takes_no_square_of_its_length(run):
    """12 MB took a second and a half of the one thread that serves all nodes."""
    length = 32 << 20
    _, listener = run(sys.executable, "-c", f"import sys; sys.stdout.write('x' * {length} + '\\nend\\n')")
    assert listener.wait_end().status == 0
    assert [len(line) for line in listener.lines] == [length, 3]
    assert listener.cut == []


def test_a_line_without_an_end_ends_its_program_and_no_other(run, engine, monkeypatch):
    monkeypatch.setattr(cluster_engine, "LONGEST_LINE", 1 << 20)
    channel, other = run("cat")
    _, listener = run(sys.executable, "-c", "import sys\nwhile True: sys.stdout.write('x' * 65536)")
    assert listener.wait_end() == Exit(signal=signal.SIGKILL)
    assert listener.stderr == ["a line is longer than 1 MiB: it was ended"]
    assert listener.lines == []
    channel.send(b"still there")
    other.wait(lambda: other.lines == [b"still there"])

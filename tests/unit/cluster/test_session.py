"""The session contract, over a channel that does what the test says."""

import threading
import time

import pytest

from tests.wording import lacking
from wulf.cluster.channel import Exit
from wulf.cluster.session import LONGEST_ERROR, MALFORMED, STDERR_KEPT, RequestError, SessionLost
from wulf.core.errors import NodeError

from .fakes import GREETING, session


def test_the_first_line_is_the_greeting():
    made, channel = session(greet=False)
    assert not made.greeted.done()
    channel.say(GREETING)
    assert made.greeting == GREETING
    assert made.alive


def test_what_comes_before_the_greeting_is_passed_over():
    made, channel = session(greet=False)
    channel.say(b"Welcome to the cluster!")
    channel.say(b"")
    channel.say(b'{"motd": 1}')
    channel.say(GREETING)
    assert made.greeting == GREETING


def test_what_was_printed_instead_of_a_greeting_is_told():
    made, channel = session(greet=False)
    channel.say(b"This account is currently not available.")
    channel.end(status=1)
    with pytest.raises(SessionLost, match="printed: 'This account is currently"):
        made.greeted.result(0)


def test_a_launchers_words_on_standard_output_are_kept_for_the_end():
    made, channel = session(launched=True, explain=lambda end, stderr, greeted: (" / ".join(stderr), ""))
    pending = made.call("ping")
    channel.say(b"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES")
    channel.say({"id": 1, "ok": True})
    assert pending.result(0)["ok"]
    channel.say(b"12")
    channel.end(status=9)
    with pytest.raises(SessionLost, match=r"BAD TERMINATION .* PROCESSES / 12"):
        made.request("ping")


@pytest.mark.parametrize("arch", [None, 64, ["x86_64"]])
def test_a_greeting_without_what_all_greet_with_is_not_taken(arch):
    made, channel = session(greet=False)
    channel.say(GREETING | {"arch": arch})
    with pytest.raises(SessionLost, match="its greeting is not as wulf-net greets: arch"):
        made.greeted.result(0)
    assert channel.killed


@pytest.mark.parametrize("greeting", [{"hello": "wulf-node"}, {"protocol": 2}, {"protocol": None}])
def test_another_program_or_protocol_is_not_talked_to(greeting):
    made, channel = session(greet=False)
    channel.say(GREETING | greeting)
    with pytest.raises(SessionLost, match="expected wulf-net with protocol 1"):
        made.greeted.result(0)
    assert channel.killed
    assert not made.alive


def test_a_request_is_one_line_with_an_id_of_its_own():
    made, channel = session()
    made.call("ping")
    made.call("serve", transport="tcp")
    assert channel.sent == [{"id": 1, "op": "ping"}, {"id": 2, "op": "serve", "transport": "tcp"}]


def test_a_later_answer_may_overtake_an_earlier_one():
    made, channel = session()
    first, second = made.call("ping"), made.call("ping")
    channel.say({"id": 2, "ok": True, "n": 2})
    assert second.result(0)["n"] == 2
    assert not first.done()
    channel.say({"id": 1, "ok": True, "n": 1})
    assert first.result(0)["n"] == 1


def test_a_refusal_is_a_request_error_with_its_code_and_field():
    made, channel = session()
    future = made.call("run", params={"bytes": 0})
    error = {"code": "bad-parameter", "message": "bytes = 0 is too small", "field": "bytes"}
    channel.say({"id": 1, "ok": False, "error": error})
    with pytest.raises(RequestError) as caught:
        future.result(0)
    assert (caught.value.code, caught.value.field, caught.value.op) == ("bad-parameter", "bytes", "run")
    assert lacking(caught.value.what, "n1: run: bytes = 0 is too small", "bad-parameter, bytes") == []
    assert made.alive


def test_a_refusal_without_an_end_is_cut():
    made, channel = session()
    future = made.call("run")
    channel.say({"id": 1, "ok": False, "error": {"code": "x" * 10**6, "message": "y" * 10**6, "field": ["z"] * 10**6}})
    with pytest.raises(RequestError) as caught:
        future.result(0)
    assert len(caught.value.what) < 3 * LONGEST_ERROR + 100


def test_a_refusal_without_a_reason():
    made, channel = session()
    future = made.call("run")
    channel.say({"id": 1})
    with pytest.raises(RequestError, match="failed without a reason"):
        future.result(0)


def test_no_answer_in_time_and_one_that_comes_too_late():
    made, channel = session()
    with pytest.raises(RequestError) as caught:
        made.request("run", timeout=0.01)
    assert caught.value.code == "no-answer"
    channel.say({"id": 1, "ok": True})
    assert made.alive


def test_answers_that_nobody_asked_for_are_harmless():
    made, channel = session()
    channel.say({"id": None, "ok": False, "error": {"code": "bad-json"}})
    channel.say({"id": 77, "ok": True})
    channel.say({"note": "hello"})
    assert made.alive


def test_an_answer_that_is_no_json_ends_the_session():
    made, channel = session()
    future = made.call("ping")
    channel.say(b"Segmentation fault")
    with pytest.raises(SessionLost, match=r"'Segmentation fault', .* not a JSON object"):
        future.result(0)
    assert channel.killed
    channel.end(signal=9)
    with pytest.raises(SessionLost, match="Segmentation fault"):
        made.request("ping")


@pytest.mark.parametrize("said", [b'{"id": 1, "ok": true, "rtt": NaN}', b'{"id": 1, "x": ' + b"[" * 100_000])
def test_an_answer_that_no_json_has_ends_the_session_of_its_node_alone(said):
    made, channel = session()
    future = made.call("ping")
    channel.say(said)
    with pytest.raises(SessionLost, match=r"n1: .* not a JSON object \("):
        future.result(0)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({}, r"metrics: Field required \(malformed\)$"),
        ({"metrics": {"rtt": {"value": "fast"}}}, r"metrics\.rtt\.value: Input should be a valid number, not 'fast'"),
        ({"metrics": {"rtt": {"value": True}}}, "not True"),
        ({"metrics": [], "seconds": 1.0, "counters": {}}, r"metrics: .* not \[\]"),
        (
            {"metrics": {}, "seconds": 1.0, "counters": {"snmp": {"Tcp": "many"}}},
            "counters: .*Tcp is no figure: 'many'",
        ),
    ],
)
def test_an_answer_of_another_shape_fails_its_request_by_field_and_what_stands_there(answer, why):
    """And nothing else: the node may answer the next one well."""
    made, channel = session()
    future = made.call("run")
    channel.say({"id": 1, "ok": True, **answer})
    with pytest.raises(RequestError, match=f"n1: run: its answer is not as wulf-net answers: .*{why}") as failed:
        future.result(0)
    assert failed.value.code == MALFORMED
    again = made.call("run")
    channel.say({"id": 2, "ok": True, "metrics": {"rtt": {"value": 1}}, "seconds": 1.0, "counters": {}})
    assert again.result(0)["ok"]


def test_what_a_node_says_drives_no_terminal():
    made, channel = session()
    future = made.call("ping")
    channel.say({"id": 1, "ok": True, "text": "\x1b]0;owned\x07\u202e"})
    made.on_stderr("\x1b[2J gone")
    assert future.result(0)["text"] == "\ufffd]0;owned\ufffd\ufffd"
    assert made.stderr[-1] == "\ufffd[2J gone"


def test_an_answer_cut_short_is_told_by_how_the_program_ended():
    made, channel = session()
    future = made.call("ping")
    channel.listener.on_line(b'{"id": 1, "ok": true, "data": "eJz', whole=False)
    channel.listener.on_stderr("Timeout, server n1 not responding.")
    channel.end(status=255)
    with pytest.raises(SessionLost, match=r"status 255; .*: Timeout.*; .* in the middle"):
        future.result(0)


def test_a_program_that_is_ended_by_somebody_else_answers_with_its_end():
    """A launcher that lost a rank closes the input of the others, before its own words come."""
    made, channel = session()
    future = made.call("run")
    channel.say({"id": 1, "ok": False, "error": {"code": "ending", "message": "the session is ending"}})
    assert not future.done()
    channel.listener.on_stderr("rank 1 on n2 was killed")
    channel.end(status=137)
    with pytest.raises(SessionLost, match="its last words: rank 1 on n2 was killed"):
        future.result(0)


def test_whatever_waits_fails_with_the_reason_when_the_program_dies():
    made, channel = session()
    futures = [made.call("run") for _ in range(3)]
    for line in ("warming up", "", "std::bad_alloc"):
        channel.listener.on_stderr(line)
    channel.end(signal=6)
    for future in futures:
        with pytest.raises(SessionLost, match=r"SIGABRT; .*: warming up / std::bad_alloc"):
            future.result(0)
    assert not made.alive
    with pytest.raises(SessionLost, match="SIGABRT"):
        made.call("ping").result(0)
    assert len(channel.sent) == 3


def test_the_explanation_knows_how_it_ended_and_whether_it_had_greeted():
    told = []

    def explain(end, stderr, greeted):
        told.append((end, list(stderr), greeted))
        return "it is complicated", "try again"

    made, channel = session(greet=False, explain=explain)
    channel.listener.on_stderr("ssh: no")
    channel.end(status=255)
    with pytest.raises(SessionLost) as caught:
        made.greeted.result(0)
    assert told == [(Exit(status=255), ["ssh: no"], False)]
    assert str(caught.value) == "n1: it is complicated\n  → try again"
    assert caught.value.end == Exit(status=255)
    made, channel = session(explain=explain)
    channel.end(status=3)
    assert told[1] == (Exit(status=3), [], True)


def test_only_the_last_lines_of_standard_error_are_kept():
    made, channel = session()
    for number in range(100):
        channel.listener.on_stderr(str(number))
    assert made.stderr == [str(number) for number in range(100 - STDERR_KEPT, 100)]


def test_close_waits_for_the_end():
    made, channel = session()
    waiting = made.call("run")
    threading.Timer(0.05, lambda: channel.end(status=0)).start()
    made.close(grace=10)
    assert channel.closed
    assert not channel.killed
    with pytest.raises(SessionLost, match="n1: the session was closed"):
        waiting.result(0)
    with pytest.raises(NodeError):
        made.request("ping")


def test_close_kills_what_does_not_end_and_never_hangs():
    made, channel = session()
    began = time.monotonic()
    made.close(grace=0.05)
    assert channel.killed
    assert time.monotonic() - began < 20


def test_calls_from_many_threads():
    made, channel = session()
    results = []

    def ask():
        results.extend(made.call("ping") for _ in range(50))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(request["id"] for request in channel.sent) == list(range(1, 401))
    for request in channel.sent:
        channel.say({"id": request["id"], "ok": True})
    assert all(future.result(0)["ok"] for future in results)


@pytest.mark.parametrize(
    ("returncode", "text"),
    [(0, "exit status 0"), (-9, "killed by SIGKILL"), (-64, "killed by SIGRTMAX"), (None, "the connection was lost")],
)
def test_how_a_program_ended(returncode, text):
    assert str(Exit.of(returncode)) == text

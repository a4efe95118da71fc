"""Every channel of the sentry's: it tells an event whole, or says why not, without secrets and in time."""

from __future__ import annotations

import importlib
import inspect
import json
import syslog
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from wulf.core.findings import Severity
from wulf.sentry.incident import Event, Kind, Observation, What, closed, seen
from wulf.sentry.messages import as_json, key_of, line
from wulf.sentry.plan import Tell
from wulf.sentry.state import Delivery
from wulf.workflow.sentry import channels as room
from wulf.workflow.sentry.channels import channels, wanted
from wulf.workflow.sentry.channels.untold import PATIENCE, Untold

SLOW = Observation(Kind.CHANGED, "n3", "memory.copy", Severity.BAD, 100.0, 200.0, "n3 copies\n12 % less.", ratio=0.88)
SECRET = "s3cr3t"


def delivery(what: What = What.OPENED) -> Delivery:
    incident, _ = seen(None, SLOW, 200.0)
    return Delivery(
        7, Event(1, 200.0, what, SLOW.text), closed(incident, 300.0) if what is What.CLOSED else incident, "", 0
    )


@pytest.fixture
def hook() -> Iterator[tuple[str, list[tuple[dict[str, str], Any]], list[int]]]:
    """A server's URL, what it was sent, and the statuses that it answers, the last for ever."""
    said: list[tuple[dict[str, str], Any]] = []
    answers = [204]

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            said.append((dict(self.headers), json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            status = answers.pop(0) if len(answers) > 1 else answers[0]
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=server.serve_forever, args=[0.02])
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/{SECRET}", said, answers
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("name", sorted(channels()))
def test_a_channel_is_asked_for_by_a_field_of_the_plan_and_by_nothing_else(name: str) -> None:
    assert name in Tell.model_fields
    assert not getattr(Tell(), name)
    send = channels()[name]
    assert len(inspect.signature(send).parameters) == 3
    assert inspect.getdoc(importlib.import_module(f"{room.__name__}.{name}"))


def test_nobody_is_told_unless_the_plan_says_so() -> None:
    assert wanted(Tell()) == []
    assert wanted(Tell(webhook="https://a.example", syslog=True)) == ["syslog", "webhook"]


def test_a_webhook_is_sent_one_object_with_its_key(
    hook: tuple[str, list[tuple[dict[str, str], Any]], list[int]], wording: Any
) -> None:
    url, said, _ = hook
    key = key_of(delivery(), "/state")
    channels()["webhook"](delivery(), Tell(webhook=url), key)
    ((headers, message),) = said
    assert headers["Idempotency-Key"] == message["key"] == key
    assert headers["Content-Type"] == "application/json"
    assert message == json.loads(json.dumps(as_json(delivery(), key)))
    assert (message["what"], message["incident"]["node"], message["incident"]["ratio"]) == ("opened", "n3", 0.88)
    wording(line(delivery()), "opened")
    wording(line(delivery(What.CLOSED)), "closed")
    wording(line(delivery(What.FLAPPING)), "flapping")


@pytest.mark.parametrize("status", [301, 302, 307, 400, 404, 500, 503])
def test_a_webhook_that_does_not_take_it_is_told_without_its_address(
    hook: tuple[str, list[tuple[dict[str, str], Any]], list[int]], status: int
) -> None:
    url, said, answers = hook
    answers[:] = [status]
    with pytest.raises(Untold) as caught:
        channels()["webhook"](delivery(), Tell(webhook=url), "k")
    assert str(status) in str(caught.value)
    assert SECRET not in str(caught.value)
    assert len(said) == 1, "it is not sent on"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/s3cr3t", "https://127.0.0.1:1/s3cr3t", "http://127.0.0.1:x/s3cr3t"]
)
def test_a_webhook_that_is_not_there_is_told_without_its_address(url: str) -> None:
    with pytest.raises(Untold) as caught:
        channels()["webhook"](delivery(), Tell(webhook=url), "k")
    assert SECRET not in str(caught.value)


def test_syslog_gets_a_line_as_grave_as_what_it_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[int, str]] = []
    monkeypatch.setattr(syslog, "syslog", lambda grave, text: said.append((grave, text)))
    for what in (What.OPENED, What.CLOSED):
        channels()["syslog"](delivery(what), Tell(syslog=True), "k")
    assert [grave for grave, _ in said] == [syslog.LOG_ERR, syslog.LOG_NOTICE]
    assert all("\n" not in text and "incident 0" in text for _, text in said)


def test_a_key_is_the_same_for_one_event_and_another_for_others() -> None:
    one = delivery()
    assert key_of(one, "/a") == key_of(delivery(), "/a")
    assert key_of(one, "/a") != key_of(one, "/b")
    assert PATIENCE <= 10.0

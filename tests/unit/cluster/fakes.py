"""A channel that does what a test says."""

import json

from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Node
from wulf.cluster.session import Session

GREETING = {"hello": "wulf-net", "version": "0.1.0", "protocol": 1, "host": "n1", "arch": "x86_64", "pid": 1}


class FakeChannel:
    def __init__(self):
        self.sent = []
        self.closed = False
        self.killed = False
        self.listener = None

    def start(self, listener):
        self.listener = listener

    def send(self, line):
        self.sent.append(json.loads(line))

    def close_input(self):
        self.closed = True

    def kill(self):
        self.killed = True

    def say(self, message):
        self.listener.on_line(message if isinstance(message, bytes) else json.dumps(message).encode())

    def end(self, **how):
        self.listener.on_close(Exit(**how))


def session(greet=True, explain=None, **how):
    channel = FakeChannel()
    made = Session(Node("n1"), "wulf-net", channel, explain, **how)
    if greet:
        channel.say(GREETING)
    return made, channel

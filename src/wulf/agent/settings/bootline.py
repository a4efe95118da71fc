"""Words of the kernel's command line. Read only: the boot loader's files are a person's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent.boot import bootline
from wulf.agent.mechanism import Mechanism
from wulf.agent.values import WORDS, from_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine


class Bootline(Mechanism):
    help = "word of the kernel's command line: word = 'isolcpus'; true for a bare word, false without it"
    words = ("word",)
    optional = WORDS

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        return _value(bootline.value(bootline.running(machine), target["word"]), target)

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        return _value(bootline.next_value(machine, target["word"]), target)


def _value(said: str | bool, target: Mapping[str, Any]) -> Any:
    return said if isinstance(said, bool) else from_text(said, target)


mechanism = Bootline()

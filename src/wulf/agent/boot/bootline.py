"""Words of the kernel's command line: of this boot, and of the next one as far as the boot loader's files say it."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from wulf.agent.boot.dropins import lines
from wulf.agent.machine import shared
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

_ENTRIES = "boot/loader/entries"
_GRUB = "etc/default/grub"
_USED = ("GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT")
"""In the order in which grub-mkconfig joins them."""


def running(machine: Machine) -> list[str]:
    """Words that this kernel was started with."""
    return _words(machine.text("proc/cmdline"))


def value(words: list[str], name: str) -> str | bool:
    """What a command line says of a word: text behind its '=', True for the bare word, False without it.

    The last one counts; '-' and '_' are the same in a name, as to the kernel.
    """
    found: str | bool = False
    for word in words:
        key, equals, text = word.partition("=")
        if key.replace("-", "_") == name.replace("-", "_"):
            found = text if equals else True
    return found


@shared
def following(machine: Machine) -> list[list[str]]:
    """Command lines that the next boot may have: one by /etc/default/grub, or one an entry of the boot loader."""
    entries = [name for name in _names(machine, _ENTRIES) if name.endswith(".conf")]
    if entries:
        return [_entry(machine, f"{_ENTRIES}/{name}") for name in entries]
    if machine.exists(_GRUB):
        return [_grub(machine)]
    raise Unknown(f"no boot loader's configuration that can be read here (/{_GRUB}, /{_ENTRIES})")


def next_value(machine: Machine, name: str) -> str | bool:
    """What the next boot's command line will say of a word; Unknown where the boot entries differ in it."""
    said = {value(words, name) for words in following(machine)}
    if len(said) > 1:
        raise Unknown(f"the boot entries differ in {name}: {', '.join(sorted(map(str, said)))}")
    return said.pop()


def _names(machine: Machine, folder: str) -> list[str]:
    return machine.names(folder) if machine.exists(folder) else []


def _entry(machine: Machine, path: str) -> list[str]:
    """The `options` of an entry after the Boot Loader Specification."""
    options = [line.partition(" ")[2] for line in re.split(r"\n", machine.text(path)) if re.match(r"options\s", line)]
    words = _words(" ".join(options))
    if any("$" in word for word in words):
        raise Unknown(f"/{path} takes words from grub's environment, which is not read")
    return words


def _grub(machine: Machine) -> list[str]:
    """The words that grub-mkconfig would write; its variables are assignments of a shell."""
    variables: dict[str, str] = {}
    snippets = [f"{_GRUB}.d/{name}" for name in _names(machine, f"{_GRUB}.d") if name.endswith(".cfg")]
    for path in (_GRUB, *snippets):
        for line in lines(machine, path, comments="#"):
            name, equals, text = line.partition("=")
            if equals and name.strip() in _USED:
                variables[name.strip()] = _expanded(text, variables, path)
    return [word for name in _USED for word in _words(variables.get(name, ""))]


def _expanded(text: str, variables: dict[str, str], path: str) -> str:
    if "$(" in text or "`" in text:
        raise Unknown(f"/{path} computes the command line with a program, which is not run")
    try:
        whole = "".join(shlex.split(text, comments=True))
    except ValueError as error:
        raise Unknown(f"/{path} can't be parsed: {error}") from error
    return re.sub(r"\$\{?(\w+)\}?", lambda found: variables.get(found[1], ""), whole)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a lone quote: the kernel takes it as it is
        return text.split()

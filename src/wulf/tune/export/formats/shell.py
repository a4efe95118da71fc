"""A POSIX shell script: apply, revert, status. It refuses where a value is neither the one before nor the one kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wulf.tune.export.entry import Entry, ascii_words
from wulf.tune.export.format import Format, Written, header
from wulf.tune.export.live import Inexpressible, live
from wulf.tune.export.words import quoted

SCRIPT = "wulf-settings.sh"
ENVIRONMENT = "environment.sh"
PARTS = Path(__file__).parent.parent


def write(entries: Sequence[Entry]) -> Written:
    """The script; what belongs to jobs stands in a file for their environment."""
    written = Written()
    listed: list[str] = []
    for entry in entries:
        try:
            if entry.setting.mechanism == "job":
                lines = environment(entry)
                written.add(ENVIRONMENT, *([] if ENVIRONMENT in written.lines else header(entries)), *lines)
                continue
            listed += [f"    # {entry.comment}", f"    {call(entry)}"]
        except Inexpressible as reason:
            written.refused.append((entry, str(reason)))
    if listed:
        written.add(SCRIPT, *script(entries, listed))
    return written


def environment(entry: Entry) -> list[str]:
    """The line of a job's environment.

    Raises
    ------
    Inexpressible
        It is an option of the command that starts the job.
    """
    target, value = entry.setting.target, entry.kept.value
    name = target.get("env") or ("OMPI_MCA_" + target["mca"] if "mca" in target else None)
    if name is None:
        raise Inexpressible(f"the command that starts a job takes it: {target.get('option', entry.kept.name)} {value}")
    return [f"# {entry.comment}", f"export {name}={quoted(str(int(value) if isinstance(value, bool) else value))}"]


def call(entry: Entry) -> str:
    """One setting, as an action's arguments.

    Raises
    ------
    Inexpressible
        No shell command sets it, or what it was is not known.
    """
    words = live(entry)
    if words.before is None:
        raise Inexpressible("what it was before is not known, so that it could not be undone")
    told = (ascii_words(entry.title), words.before, words.after, words.kind, *words.arguments)
    return '"$1" ' + " ".join(quoted(word) for word in told)


def script(entries: Sequence[Entry], listed: Sequence[str], arguments: Sequence[str] = ()) -> list[str]:
    """The whole script, line by line; `arguments` are lines that make of its arguments those of the protocol."""
    functions, protocol = ((PARTS / f"{name}.sh").read_text().splitlines() for name in ("settings", "protocol"))
    return [
        "#!/bin/sh", *header(entries), "#", "#   wulf-settings.sh apply     set what is listed below",
        "#   wulf-settings.sh revert    set what was there before",
        "#   wulf-settings.sh status    say which is in force; status 1 where one is not", "",
        "settings() {", *listed, "}", "", *functions, "", *arguments, *protocol,
    ]  # fmt: skip


FORMAT = Format(
    name="shell",
    help="A POSIX shell script that applies and reverts.",
    write=write,
    install=f"As root on every node: `sh {SCRIPT} apply`. It holds until the node starts anew.",
    undo=f"`sh {SCRIPT} revert` writes back what was there before the campaign. It refuses, and changes nothing, where "
    "somebody has set something else meanwhile.",
)

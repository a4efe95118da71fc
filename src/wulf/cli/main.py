"""The `wulf` command: finds a command's module when it is needed, and turns errors into text and exit codes."""

from __future__ import annotations

import errno
import io
import itertools
import json
import os
import re
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import click

from wulf import __version__
from wulf.cli.commands import find
from wulf.cli.showing import echo
from wulf.core.errors import INTERRUPTED, UsageError, WulfError, sentence

GROUPS = {
    "Measure": {
        "survey": ("wulf.cli.net.survey", "Facts, all pairs, findings and a report: the main job."),
        "demo": ("wulf.cli.net.demo", "A four-node lab with one slow link, surveyed."),
        "net": ("wulf.cli.net.command", "Measure one pair: ping-pong, stream."),
        "node": ("wulf.cli.node.command", "Each node's CPU, memory, system, noise; which node deviates."),
        "mpi": ("wulf.cli.mpi.command", "MPI between ranks, built with yours: messages, collectives."),
        "app": ("wulf.cli.app.command", "HPL, STREAM, LAMMPS, any command: repeated, checked, judged."),
        "rates": ("wulf.cli.node.rates", "What this machine can do, in a file that programs read."),
        "watch": ("wulf.cli.net.watch", "A live view of one pair: round trip, rate, counters."),
    },
    "Explain": {
        "check": ("wulf.cli.node.check", "Is this node well? In seconds, for a prolog or health check."),
        "audit": ("wulf.cli.tune.audit", "Every setting of every node: as advised, alike, kept at boot?"),
        "compare": ("wulf.cli.runs.compare", "Compare two runs cell by cell."),
        "impacts": ("wulf.cli.runs.impacts", "What changes were worth to many programs; what to expect."),
        "history": ("wulf.cli.runs.history", "Where a metric changed over many runs, and what changed with it."),
        "trace": ("wulf.cli.foresight.trace", "An MPI program's messages, recorded: shown, exported, imported."),
    },
    "Tune": {
        "tune": ("wulf.cli.tune.command", "Find settings that make nodes faster, by measuring; undo them."),
        "search": ("wulf.cli.search.command", "The fastest configuration of HPL, or of a program of your own."),
        "impact": ("wulf.cli.impact", "What a change of settings is worth to your application."),
    },
    "Plan": {
        "predict": ("wulf.cli.foresight.predict", "A traced program on other networks: run time, why, buy or not."),
        "networks": ("wulf.cli.foresight.networks", "The networks that predictions know by name, with sources."),
        "model": ("wulf.cli.model.command", "How a program scales, what a message costs, a node's limits."),
        "design": ("wulf.cli.model.design", "Which nodes, how many, which network: most of your work for a sum."),
        "cost": ("wulf.cli.model.cost", "Price and power of speed, and a machine's place in the Top500."),
    },
    "Runs": {
        "runs": ("wulf.cli.runs.command", "What was measured: listed, exported, removed."),
        "report": ("wulf.cli.runs.report", "Show a run, and write its HTML report."),
        "resume": ("wulf.cli.runs.resume", "Go on with a run that was cut short."),
        "query": ("wulf.cli.runs.query", "Ask the records of many runs in SQL."),
    },
    "Lab and tools": {
        "lab": ("wulf.cli.lab", "A cluster on one machine: up, set, exec, status, down."),
        "config": ("wulf.cli.help.config", "What is set for every command, and by which file."),
        "doctor": ("wulf.cli.doctor", "What this installation can do here, and what it lacks."),
        "stats": ("wulf.cli.stats", "Try the statistics on noise whose truth is known: selftest."),
        "schema": ("wulf.cli.runs.schema", "Print the JSON schema of a record."),
        "completion": ("wulf.cli.help.completion", "Print the completion script for your shell."),
        "manual": ("wulf.cli.help.manual", "Write manual pages for man(1)."),
    },
}
"""What a command is for → its name → module whose `command` it is, and one line of help: kept here so that
`wulf --help` imports none of them."""

COMMANDS = {name: known for group in GROUPS.values() for name, known in group.items()}


class LazyGroup(click.Group):
    """A group whose commands are modules, imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order that a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command's own module, or None."""
        if cmd_name not in COMMANDS:
            return None
        return find(f"{COMMANDS[cmd_name][0]}:command")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands' lists from the table above, without importing them."""
        widest = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), text) for name, (_, text) in group.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a guess at what was meant."""
        from difflib import get_close_matches

        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            raise click.UsageError(f"No such command '{args[0]}'.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="wulf")
def cli() -> None:
    """wulf measures, explains, tunes and predicts the performance of commodity Linux clusters.

    \b
    Examples:
      wulf demo                              a four-node cluster on this machine, surveyed
      wulf survey --nodes 'n[1-4]'           your cluster, over ssh
      wulf net pingpong n1 n2 --transport tcp --bytes 1

    \b
    Exit codes: 0 all well; 1 something stands out; 2 usage or configuration;
    3 incomplete; 70 wulf itself failed; 130 interrupted, with what was
    measured kept.
    """  # noqa: D301 - \\b is click's mark for a paragraph that must not be rewrapped


def main() -> None:
    """Entry point: run, and end with an exit code that says so, whatever can still be written."""
    code = run()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, AttributeError):  # full, or closed before we began: at the interpreter's end it would be 120
            if stream is not None:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(code)


def run() -> int:
    """Run the command, and map errors to exit codes. Only here are errors turned into text."""
    try:
        refuse_unusable(sys.argv[1:])
        code = cli.main(standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show(shown := io.StringIO())
        echo(sentence(shown.getvalue()), err=True, nl=False)  # it repeats what was given, whole
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        echo("interrupted", err=True)
        return INTERRUPTED
    except WulfError as error:
        _show(error)
        return error.exit_code
    except BrokenPipeError:
        # the reader of our output went away (`wulf runs | head`): not an error
        return 0
    except Exception as error:  # noqa: BLE001 - the one place where a defect is told, never as 1: "something stands out"
        from wulf.cli.failure import failed, places

        told = circumstance(error) or failed(error, sys.argv, datetime.now().astimezone(), places(os.environ))
        _show(told)
        return told.exit_code


def refuse_unusable(arguments: Sequence[str]) -> None:
    """Words before `--` that no option can take.

    An empty one is a variable of the shell that is not set: never all nodes, or this folder. What is not UTF-8 could be
    no name in a record or a report.

    Raises
    ------
    UsageError
        There is one.
    """
    before = "the command"
    for word in itertools.takewhile(lambda word: word != "--", arguments):
        option, _, value = word.partition("=") if re.match("--[a-z-]+=", word) else ("", "", word)
        name = f"the value of {option or before}" if option or before.startswith("-") else f"what follows {before}"
        if not value:
            raise UsageError(f"{name} is empty", "is a variable of the shell not set?")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise UsageError(f"{name} is no UTF-8 text: {value}", "rename the file, or link to it")
        before = word


def circumstance(error: Exception) -> WulfError | None:
    """What is told of an error that anything may meet, and that is no defect; None: it is another one."""
    if not isinstance(error, OSError):
        return None
    if error.errno == errno.ENAMETOOLONG:
        return UsageError(f"{error.filename}: no file has so long a name", "is something quoted that is not one?")
    if error.errno in _NOT_LET and error.filename:
        return UsageError(f"{error.filename}: {error.strerror}", "is it yours, and is the path right?")
    if error.errno in _NO_ROOM:
        place = error.filename or "what this command says"
        return WulfError(f"{place} can't be written: {error.strerror}", "make room, or write it elsewhere")
    try:
        Path.cwd()
    except FileNotFoundError:
        return UsageError("the folder that wulf was started in is gone", "change into one that is there")
    return None


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_LET = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ELOOP)


def _show(error: WulfError) -> None:
    """An error for people on stderr, or one JSON object with --json, so that programs can read it too."""
    if "--json" in sys.argv:
        content = {"error": error.what, "next_step": error.next_step, "exit_code": error.exit_code}
        echo(json.dumps(content), err=True)
        return
    echo(error.what, err=True, label="error: ")
    if error.next_step:
        echo(f"  → {error.next_step}", err=True)


if __name__ == "__main__":
    main()

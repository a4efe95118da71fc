"""`wulf check`."""

from __future__ import annotations

import json
import os
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.commands import Command
from wulf.cli.options import Seconds, inventory_of, node_options
from wulf.cli.showing import echo
from wulf.core.errors import OK, UsageError

if TYPE_CHECKING:
    from wulf.findings.node.health import Host
    from wulf.workflow.node.check import Check, Result

LISTED = ("check", "Explain", 10, "Is this node well? In seconds, for a prolog or health check.")

ENDING = 0.5
"""Seconds kept back for telling what was found."""


@click.command(cls=Command, epilog="Example: wulf check --save; wulf check --max-seconds 20")
@click.option(
    "--max-seconds", type=Seconds(), default="20", show_default=True,
    help="Be done by then, counted from the start of this process.",
)  # fmt: skip
@click.option("--save", is_flag=True, help="Write this node's baseline instead, while it is well and at rest.")
@click.option(
    "--baseline", "where", type=click.Path(path_type=Path), help="The baseline's file [see docs/how-to/check.md]."
)
@click.option("--checks", "table", type=click.Path(path_type=Path), help="Another table of checks.")
@click.option("--syslog", is_flag=True, help="Failures to syslog as well, as NHC does.")
@click.option("--json", "as_json", is_flag=True, help="One result a line, of all checks.")
@click.option(
    "--program", default="wulf", show_default=True, metavar="WORDS", help="Of other nodes: wulf as it is started there."
)
@node_options
def command(max_seconds: float, save: bool, where: Path | None, table: Path | None, syslog: bool, as_json: bool,
            program: str, **options: Any) -> int:  # fmt: skip
    """Is this node well? For a prolog or Slurm's HealthCheckProgram.

    With --nodes, or another option that names nodes, each of these is asked by its own wulf, with its own baseline.

    What is wrong is printed as Node Health Check prints it. What could not be told in time is told on stderr, and is no
    failure: a node is never blamed for the slowness of its check.

    \b
    Exit codes: 0 nothing is wrong (whatever was not finished); 1 something is;
    2 usage or configuration, 70 a defect of the check, which say nothing of
    the node.
    """  # noqa: D301 - \\b is click's mark for a paragraph that must not be rewrapped
    until = time.monotonic() - _age() + max_seconds - ENDING
    if any(value is not None for value in options.values()):
        if save:
            raise UsageError("a baseline is each node's own", "run `wulf check --save` on the nodes: clush -b -w …")
        given = [*_given("--baseline", where), *_given("--checks", table), *(["--syslog"] if syslog else [])]
        words = [*shlex.split(program), "check", "--json", "--max-seconds", f"{max_seconds:g}", *given]
        return _others(words, max_seconds, as_json, options)
    from wulf.agent.machine import Machine
    from wulf.findings.node.health import Host
    from wulf.workflow.node import check as workflow

    checks = workflow.read_table(table) if table else workflow.read_table()
    with Machine() as machine:
        if save:
            return _save(checks, Host(machine), where)
        saved = workflow.read_baseline(where)
        host = Host(machine, saved.get("facts"), saved.get("mounts"), saved.get("rates"))
        results = workflow.check_node(checks, host, workflow.measure_rate, until)
    _tell(results, as_json, syslog)
    return workflow.exit_code_of(results)


def _given(name: str, path: Path | None) -> list[str]:
    return [] if path is None else [name, str(path)]


def _others(words: list[str], max_seconds: float, as_json: bool, options: dict[str, Any]) -> int:
    """Other nodes: each by its own wulf."""
    from wulf.workflow.node.check_others import ask, exit_code_of, message

    with inventory_of(**options, lab_made=False) as chosen:
        results = ask(chosen, words, max_seconds)
    for node, result in results:
        if as_json:
            echo(json.dumps({"node": node, **vars(result)}))
        elif result.state != "well":
            echo(message(node, result), err=result.state != "ill")
    return exit_code_of(results)


def _age() -> float:
    """Seconds since this process began: what Python took to start is part of what was granted."""
    ticks = float(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))


def _save(checks: list[Check], host: Host, where: Path | None) -> int:
    from wulf.core.files import replace_file
    from wulf.findings.node.health import default_places
    from wulf.workflow.node.check import baseline, measure_rate

    system, own = default_places()
    path = where or (system if os.geteuid() == 0 else own)
    content = baseline(checks, host, measure_rate)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(content, indent=1) + "\n")
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror}", "name another file with --baseline") from error
    echo(f"{path}: {len(content['facts'])} facts, {len(content['mounts'])} mounts, {len(content['rates'])} rates")
    return OK


def _tell(results: list[Result], as_json: bool, syslog: bool) -> None:
    for result in results:
        if as_json:
            echo(json.dumps(vars(result)))
        elif result.state != "well":
            echo(result.message, err=result.state != "ill")
    if syslog:
        import syslog as system_log

        for result in results:
            if result.state == "ill":
                system_log.syslog(system_log.LOG_ERR, result.message)

"""The network that a person means: one that wulf brings along, a TOML, a run that measured it, or one changed."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path

from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, text_of
from wulf.model.network.figures import BadExpressionError, Network, edited, split_expression
from wulf.model.network.file import NetworkFile, network_names, parse_network, shipped_network
from wulf.model.network.measured import from_loggp
from wulf.store.index import find_run, newest_run
from wulf.store.run import Run
from wulf.workflow.engine.recover import load
from wulf.workflow.model.loggp import measured_of

THIS = "this"
"""The network that the trace was made on, in every expression."""

PAIR = "@"
"""Between a run and one of several pairs that it measured: `loan@n1>n2 openmpi`."""

OWN_FILE = "network.toml"
"""In a trace's directory: the network that it was made on."""

EXAMPLES = "as in --network 'this*latency=0.5*bandwidth=2' or 'this+latency=4ms'"

LOGGP_RUN = "model-loggp"
"""Command of the runs that measure a network."""


def find_network(text: str, this: Network | None, directory: Path | None = None) -> Network:
    """The network of an expression.

    Parameters
    ----------
    text
        `ib-hdr`, `own.toml`, a run of `wulf model loggp` (of one pair of several: `RUN@PAIR`), `this`; each perhaps
        with `*PART=FACTOR`, `+PART=TIME`.
    this
        What `this` is; None: not known.
    directory
        Of runs.

    Raises
    ------
    UsageError
        There is none of that name, or the expression is none.
    """
    try:
        base, edits = split_expression(text)
        return edited(_base(base, this, directory), edits)
    except BadExpressionError as error:
        raise UsageError(f"--network {text}: {error}", EXAMPLES) from error


def _base(name: str, this: Network | None, directory: Path | None) -> Network:
    if name == THIS:
        if this is None:
            raise UsageError("it is not known what `this` is", "give the trace's network: --baseline RUN, or a TOML")
        return this
    if name in network_names():
        return Network(shipped_network(name))
    path = Path(name)
    if path.suffix == ".toml":
        return Network(_file(path))
    named, _, subject = name.partition(PAIR)
    try:
        run = find_run(named, directory)
    except UsageError as error:
        raise unknown(named) from error
    return measured(load(run), Path(named).name, subject or None)


def unknown(name: str) -> UsageError:
    """That there is no such network, with a guess at what was meant."""
    close = difflib.get_close_matches(name, network_names(), n=1)
    guess = f"did you mean {close[0]}? " if close else ""
    return UsageError(
        f"{name!r} is no network: neither one that wulf brings along, nor a TOML, nor a run of `wulf model loggp`",
        f"{guess}`wulf networks list` shows those that there are",
    )


def _file(path: Path) -> NetworkFile:
    try:
        text = text_of(path)
    except Unreadable as error:
        raise UsageError(f"{path} can't be read: {error}", "give a network's TOML") from error
    return parse_network(text, str(path))


def measured(run: Run, alias: str, subject: str | None = None) -> Network:
    """The network between a pair that a run measured.

    Raises
    ------
    UsageError
        It holds no such measurement, or too little of one.
    """
    try:
        given = measured_of(run, subject)
    except UsageError as error:
        step = error.next_step.replace("choose with --subject:", f"write {alias}{PAIR}PAIR, one of:")
        raise UsageError(error.what, step) from error
    file, notes = from_loggp(given.fitted(), alias if _nameable(alias) else run.id, f"run {run.id}, {given.subject}")
    return Network(file, alias=alias, notes=(*notes, *given.cautions))


def _nameable(text: str) -> bool:
    return bool(text) and text[0].isalnum() and all(c.isalnum() or c in "._-" for c in text) and text.isascii()


def this_network(asked: str, trace: Path, directory: Path | None = None) -> tuple[Network, str]:
    """The network that the trace was made on, and where that is from.

    Parameters
    ----------
    asked
        What --baseline says; `this` looks for the trace's own network.toml, then for the newest run of
        `wulf model loggp`.

    Raises
    ------
    UsageError
        Nothing says what it is, or what says so can't be read.
    """
    if asked != THIS:
        found = find_network(asked, None, directory)
        return replace(found, alias=THIS), asked
    own = trace / OWN_FILE
    if own.is_file():
        return Network(_file(own), alias=THIS), str(own)
    newest = newest_run(LOGGP_RUN, directory)
    if newest is None:
        raise UsageError(
            "it is not known which network the trace was made on",
            f"measure it with `wulf model loggp` between two of its hosts, or give --baseline NAME, or put {own} there",
        )
    return measured(load(newest), THIS), f"the newest run of `wulf model loggp`, {newest.name}"


def with_memory(this: Network, text: str, directory: Path | None = None) -> Network:
    """The baseline with what messages cost within a host: a network's own figures between its two ranks.

    Parameters
    ----------
    text
        As `find_network` has it: a run of `wulf model loggp` on one host, a TOML.
    """
    within = find_network(text, this, directory)
    base = this.base.model_copy(update={"intra": within.base.intra or within.base.inter})
    return replace(this, base=base, notes=(*this.notes, *within.notes))

"""`wulf lab`: a cluster on one machine."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from wulf.cli import offers
from wulf.cli.commands import Command, Group
from wulf.cli.showing import colour_console, echo
from wulf.core.errors import LabError, UsageError

if TYPE_CHECKING:
    from wulf.lab import Lab

LISTED = ("lab", "Lab and tools", 10, "A cluster on one machine: up, set, exec, status, down.")

NODES = 4
"""Of a lab of which nobody says how many it should have."""

_LINK_OPTIONS = (
    ("delay", "TIME", "Added each way: 50us, 1.5ms, 0; none takes it back."),
    ("jitter", "TIME", "The delay varies by so much, evenly, up and down; frames keep their order."),
    ("queue", "FRAMES", "How many frames wait where the rate is the limit; more are dropped."),
    ("loss", "PERCENT", "Share of frames lost: 0.1%."),
    ("duplicate", "PERCENT", "Share of frames that arrive twice."),
    ("reorder", "PERCENT", "Share of frames that skip the delay, and so overtake others."),
    ("mtu", "BYTES", "The longest packet that the link carries: 9000."),
    ("moderate", "TIME", "Interrupt moderation: frames that arrive within this time are handed over together."),
)
"""What an emulator can do to a link beside its rate: name, metavar, help."""


def link_options(function: Callable[..., None]) -> Callable[..., None]:
    """The options of a link; they arrive in keyword arguments, None where not given."""
    text = "link (wulf-link), netem (the kernel's, where it has it), none; link where one is needed."
    function = click.option("--emulator", metavar="link|netem|none", help=f"Who does it: {text}")(function)
    for name, metavar, explanation in reversed(_LINK_OPTIONS):
        function = click.option(f"--{name}", metavar=metavar, help=explanation)(function)
    return function


def _given(options: dict[str, str | None]) -> dict[str, str]:
    return {name: text for name, text in options.items() if text is not None}


name_option = click.option(
    "--name", metavar="NAME", shell_complete=offers.labs, help="Which lab; WULF_LAB or 'lab' when not given."
)


@click.group(cls=Group)
def command() -> None:
    """A cluster on one machine: nodes with a network, a host name and an sshd of their own.

    \b
    Example:
      wulf lab up --nodes 4
      wulf lab set n3 --rate 200mbit
      wulf lab set n3 --delay 50us
      wulf lab exec n1 -- ping -c 3 n3
      wulf survey --lab
      wulf lab down
    """  # noqa: D301 - \\b is click's mark for a paragraph that must not be rewrapped


@command.command()
@click.option("--nodes", type=int, default=NODES, show_default=True, help="How many nodes, n1 to nN; 200 at most.")
@click.option("--rate", metavar="RATE", help="Rate of every link, as tc writes it: 1gbit, 200mbit.")
@click.option(
    "--backend",
    metavar="netns|qemu|loopback",
    help="Namespaces; virtual machines with an e1000e; mere names. Without: namespaces, or else names.",
)
@click.option(
    "--second", metavar="RATE", help="A second network, eth1 of each node, of that rate: 100mbit; none: no limit."
)
@click.option("--slurm", is_flag=True, help="With a real Slurm: munged, slurmctld, a slurmd on each node; as root.")
@link_options
@name_option
def up(
    nodes: int,
    rate: str | None,
    backend: str | None,
    second: str | None,
    slurm: bool,
    name: str | None,
    emulator: str | None,
    **options: str | None,
) -> None:
    """Bring a lab up. It stays until `wulf lab down`.

    \b
    Example:
      wulf lab up --nodes 8 --rate 1gbit
      wulf lab up --delay 50us --rate 1gbit --loss 0.01%
      wulf lab up --rate 1gbit --second 100mbit
      wulf lab up --nodes 3 --slurm
      wulf lab up --nodes 2 --backend qemu
    """  # noqa: D301
    from wulf import lab

    link = _given(options)
    made = lab.up(
        nodes, rate=rate, name=name, backend=backend, link=link, emulator=emulator, with_slurm=slurm, second=second,
        say=_say,
    )  # fmt: skip
    _show(made)


def _say(line: str) -> None:
    """What goes on, for whoever waits."""
    echo(line, err=True)


@command.command("set")
@click.argument("node", shell_complete=offers.lab_nodes)
@click.option("--rate", metavar="RATE", help="The rate, as tc writes it; none: no limit.")
@link_options
@click.option(
    "--direction",
    metavar="out|in|both",
    default="both",
    show_default=True,
    help="Which way: out of the node, in to it.",
)
@name_option
def set_(node: str, name: str | None, direction: str, emulator: str | None, **options: str | None) -> None:
    """Change one node's link, while traffic flows. What isn't named stays as it is.

    \b
    Example:
      wulf lab set n3 --rate 200mbit
      wulf lab set n3 --delay 100us --jitter 10us
      wulf lab set n3 --loss 1% --direction in
      wulf lab set n3 --delay none --loss none
    """  # noqa: D301
    given = _given(options)
    if not given and emulator is None:
        raise click.UsageError("nothing to change: give --rate, --delay or another of the link's options.")
    _find(name).set_link(node, given, direction=direction, emulator=emulator)


class _OptionsAfterNode(Command):
    """Takes its options behind NODE as well as before it, up to the command's first word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put NODE behind them: whatever follows it is then the command's, dashes and all."""
        if args and not args[0].startswith("-"):
            node, *args = args
            end = 0
            while end < len(args) and args[end].startswith("-") and args[end] != "--":
                end += 2 if args[end] == "--name" else 1
            args = [*args[:end], node, *args[end:]]
        return super().parse_args(ctx, args)


@command.command("exec", cls=_OptionsAfterNode, context_settings={"allow_interspersed_args": False})
@name_option
@click.argument("node", shell_complete=offers.lab_nodes)
@click.argument("argv", metavar="-- COMMAND…", nargs=-1, type=click.UNPROCESSED, required=True)
def exec_(node: str, argv: tuple[str, ...], name: str | None) -> None:
    """Run a command on one node; its exit status is ours.

    \b
    Example:
      wulf lab exec n1 -- ip -br addr
      wulf lab exec n1 --name other -- ip -br addr
    """  # noqa: D301
    words = argv[1:] if argv[0] == "--" else argv
    sys.exit(_find(name).exec(node, words))


@command.command("power-cut")
@click.argument("node", shell_complete=offers.lab_nodes)
@name_option
def power_cut(node: str, name: str | None) -> None:
    """Cut a node's power, as if its plug were pulled. The disk of a virtual machine stays.

    \b
    Example:
      wulf lab power-cut n1
    """  # noqa: D301
    _find(name).kill_node(node)


@command.command("power-on")
@click.argument("node", shell_complete=offers.lab_nodes)
@click.option("--boot-line", metavar="WORDS", help="Added to its kernel's command line, until the next --boot-line.")
@name_option
def power_on(node: str, boot_line: str | None, name: str | None) -> None:
    """Switch a virtual machine on that is off, and wait until it has booted.

    \b
    Example:
      wulf lab power-on n1
      wulf lab power-on n1 --boot-line "isolcpus=1 nohz_full=1"
    """  # noqa: D301
    _find(name).power_on(node, boot_line=boot_line, say=_say)


@command.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON list on stdout.")
@name_option
def status(as_json: bool, name: str | None) -> None:
    """Show your labs: nodes, addresses, rates, and how to reach them with ssh.

    \b
    Example:
      wulf lab status --json
    """  # noqa: D301
    from wulf import lab

    labs = [_find(name)] if name else lab.all_labs()
    if as_json:
        echo(json.dumps([_as_json(one) for one in labs], indent=2))
    elif not labs:
        echo("No lab is up; `wulf lab up --nodes 4` makes one.")
    else:
        for one in labs:
            _show(one)


@command.command()
@click.option("--all", "everything", is_flag=True, help="All of your labs, and whatever dead ones have left.")
@name_option
def down(everything: bool, name: str | None) -> None:
    """Take a lab down, and clear what killed ones have left: nothing of them stays.

    \b
    Example:
      wulf lab down
      wulf lab down --all
    """  # noqa: D301
    from wulf import lab

    if everything:
        names = lab.down_all()
        echo(f"Down: {', '.join(names)}." if names else "No lab is up.")
    elif lab.down(name):
        echo("The lab is down.")
    else:
        echo(f"The lab {name!r} is not up." if name else "No lab is up.")


def _named_lab(name: str) -> Lab:
    """The lab of that name.

    Raises
    ------
    UsageError
        It is not up.
    """
    from wulf import lab as labs

    with suppress(LabError):
        if (found := labs.find(name)) is not None:
            return found
    up = ", ".join(lab.name for lab in labs.all_labs())
    raise UsageError(
        f"--lab {name!r} is neither a lab that is up nor a number of nodes",
        f"{f'up are: {up}' if up else '`wulf lab up` makes one'}; `--lab` alone stands after the command's arguments",
    )


@contextmanager
def lab_of(wanted: str | None, *, made: bool) -> Iterator[Lab]:
    """The lab of that name; without one the one that runs, or, where it may be `made`, one as long as the block."""
    from wulf import lab as labs

    sized = wanted is not None and re.fullmatch("[1-9][0-9]{0,5}", wanted)
    running = None if sized else _named_lab(wanted) if wanted is not None else labs.find()
    if running is not None:
        yield running
        return
    count = int(sized[0]) if sized else NODES
    if not made:
        raise UsageError("no lab is up that --lab could mean", "`wulf lab status` lists yours, `wulf lab up` makes one")
    others = ", ".join(f"--lab {lab.name}" for lab in labs.all_labs() if not lab.owner)
    echo(f"making a lab of {count} nodes{f'; of those that are up: {others}' if others else ''}", err=True)
    with labs.up(count, keep=False) as own:
        if own.note:
            echo(f"note: {own.note}", err=True)
        yield own


def _find(name: str | None) -> Lab:
    from wulf import lab
    from wulf.core.errors import LabError

    found = lab.find(name)
    if found is None:
        text = f"the lab {name!r} is not up" if name else "no lab is up"
        raise LabError(text, "`wulf lab up --nodes 4` makes one; `wulf lab status` lists yours.")
    return found


def _show(lab: Lab) -> None:
    from rich.table import Table

    until = f", until process {lab.owner} ends" if lab.owner else ""
    nodes = lab.nodes
    emulated = any(node.link for node in nodes)
    columns = ["node", "address", "rate", *(["link"] if emulated else []), "state"]
    table = Table(*columns, title=f"lab {lab.name}: {lab.backend}{until}", title_justify="left")
    for node in nodes:
        addresses = ", ".join(filter(None, (node.address, node.address6, node.second)))
        state = ("up" if node.link_alive else "link dead") if lab.is_up(node.name) else "down"
        table.add_row(node.name, addresses, node.rate or "none", *([node.emulation] if emulated else []), state)
    console = colour_console()
    console.print(table)
    if lab.note:
        console.print(lab.note, highlight=False, soft_wrap=True)
    for line in [*_second_notes(lab), *_emulator_notes(lab), *_slurm_notes(lab)]:
        console.print(line, highlight=False, soft_wrap=True)
    own = "" if lab.name == "lab" else f" {lab.name}"
    console.print(f"Measure it: wulf survey --lab{own} --quick", highlight=False, soft_wrap=True)
    if lab.ssh_config:
        console.print(f"By hand: ssh -F {lab.ssh_config} {lab.nodes[0].name}", highlight=False, soft_wrap=True)


def _second_notes(lab: Lab) -> list[str]:
    """The second network, and what compares it with the first."""
    first = lab.nodes[0]
    if first.second is None:
        return []
    names = [f"{address.rpartition('.')[0]}.0/24" for address in (first.address, first.second)]
    return [f"Second network: {names[1]}, eth1, rate {lab.second_rate}; compared by --networks {' '.join(names)}"]


def _emulator_notes(lab: Lab) -> list[str]:
    """What wulf-link adds itself, and whether it has died."""
    from wulf.core.units import show, show_interval

    dead = [node.name for node in lab.nodes if not node.link_alive]
    if dead:
        return [f"wulf-link has ended: {', '.join(dead)} can't be reached; `wulf lab set {dead[0]} …` starts it anew."]
    adds = lab.emulator_adds
    if not adds or not any(node.link and node.link["emulator"] == "link" for node in lab.nodes):
        return []
    interval = show_interval(adds["low"], adds["high"], "s")
    return [
        f"wulf-link itself adds {show(adds['value'], 's')} each way over a link ({interval}), beside the delay set."
    ]


def _slurm_notes(lab: Lab) -> list[str]:
    """What the lab's Slurm says of its nodes, and how to use it by hand."""
    from ClusterShell.NodeSet import NodeSet

    states = lab.slurm
    if states is None:
        return []
    by_state = {state: NodeSet.fromlist(n for n, s in states.items() if s == state) for state in states.values()}
    shown = ", ".join(f"{nodes} {state}" for state, nodes in by_state.items())
    first, where = next(iter(states)), f" --name {lab.name}" if lab.name != "lab" else ""
    run = f"wulf lab exec{where} {first} --"
    return [
        f"Slurm: {shown}; its logs: {lab.state}/slurm/log",
        f"By hand: {run} sinfo    {run} srun -N {len(states)} hostname",
    ]


def _as_json(lab: Lab) -> dict[str, Any]:
    return {
        "name": lab.name,
        "backend": lab.backend,
        "note": lab.note,
        "ssh_config": str(lab.ssh_config) if lab.ssh_config else None,
        "emulator_adds": lab.emulator_adds,
        "link_traffic": lab.link_traffic(),
        "slurm": lab.slurm,
        "second_rate": lab.second_rate,
        "nodes": [
            {
                "name": node.name,
                "address": node.address,
                "address6": node.address6,
                "second": node.second,
                "rate": node.rate,
                "link": node.link,
                "link_alive": node.link_alive,
                "up": lab.is_up(node.name),
            }
            for node in lab.nodes
        ],
    }

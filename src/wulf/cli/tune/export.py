"""`wulf tune export` and `wulf tune verify`: what a campaign kept, made to last; and whether it is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.options import inventory_of, node_options, runs_option
from wulf.cli.showing import colour_console, echo
from wulf.core.errors import UsageError
from wulf.tune.export.formats import format_names

if TYPE_CHECKING:
    from wulf.tune.export import Exported
    from wulf.tune.export.entry import Source
    from wulf.workflow.tune.verify import Verified


@click.command(cls=Command, epilog="Example: wulf tune export last --format sysctl --out /tmp/wulf")
@click.argument("run", default="last", shell_complete=offers.runs)
@click.option(
    "--format", "form", type=click.Choice(format_names()), required=True, help="What brings the settings back."
)
@click.option("--out", type=click.Path(path_type=Path), help="Where to write the files [RUN/export/FORMAT].")
@runs_option
@click.option("--json", "as_json", is_flag=True, help="What was written, and what could not be, as one JSON object.")
def export(run: str, form: str, out: Path | None, directory: Path | None, as_json: bool) -> None:
    """Write what a campaign kept as files that make it last, each line with the effect that was measured here.

    Nothing on any node is changed. RUN is a path, an id, its beginning, or 'last'. What the format can't express is
    listed with the reason, here and in the README.md beside the files.
    """
    from wulf.store.index import find_run
    from wulf.tune.catalogue import catalogue
    from wulf.tune.export import export as exported
    from wulf.tune.export.entry import entries
    from wulf.tune.kept import read_kept

    path = find_run(run, directory)
    made = exported(entries(read_kept(path).kept, catalogue(), _source(path)), form)
    folder = out or path / "export" / form
    _write(made, folder)
    if as_json:
        refused = [{"name": e.kept.name, "place": e.kept.place, "reason": reason} for e, reason in made.refused]
        echo(json.dumps({"folder": str(folder), "files": sorted(made.files), "not_exported": refused}))
        return
    for name in sorted(made.files):
        echo(str(folder / name))
    for entry, reason in made.refused:
        echo(f"not exported: {entry.title}: {reason}", err=True)


def _source(path: Path) -> Source:
    """The run and its date."""
    from wulf.store.run import read_meta
    from wulf.tune.export.entry import Source

    meta = read_meta(path)
    return Source(meta["id"], str(meta.get("ended") or meta.get("started", ""))[:10])


def _write(made: Exported, folder: Path) -> None:
    """All files; what begins with '#!' may be executed."""
    from wulf.core import files

    try:
        with files.folder(folder, make=True) as below:
            for name, text in made.files.items():
                files.replace_file(Path(name), text, 0o755 if text.startswith("#!") else 0o644, below)
    except OSError as error:
        raise UsageError(f"{folder} can't be written: {error.strerror}", "name another folder: --out DIR") from error


@click.command(cls=Command, epilog="Example: wulf tune verify last")
@click.argument("run", default="last", shell_complete=offers.runs)
@runs_option
@node_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object a setting and node.")
def verify(run: str, directory: Path | None, as_json: bool, **nodes: Any) -> int:
    """Are the settings that a campaign kept in force, after a restart too? Nothing is changed.

    The nodes are those of the campaign, unless others are named. Exit code 1 where a value differs, 3 where one could
    not be read.
    """
    from wulf.store.index import find_run
    from wulf.tune.catalogue import catalogue
    from wulf.tune.kept import read_kept
    from wulf.workflow.tune.verify import nodes_of, verify

    kept = read_kept(find_run(run, directory)).kept
    if not kept:
        raise UsageError("the campaign kept nothing: there is nothing to verify")
    if nodes["nodes"] is None and nodes["hostfile"] is None:
        nodes["nodes"] = nodes_of(kept) or None
    with inventory_of(**nodes, lab_made=False) as inventory:
        found = verify(inventory, kept, catalogue())
    _show(found, as_json)
    return found.exit_code


def _show(found: Verified, as_json: bool) -> None:
    from rich.table import Table

    if as_json:
        for each in found.checked:
            echo(json.dumps(vars(each)))
    else:
        table = Table("node", "setting", "kept", "now", "", box=None, pad_edge=False)
        for each in found.checked:
            title = f"{each.name} on {each.place}" if each.place else each.name
            now = "–" if each.now is None else str(each.now)
            said = "; ".join(filter(None, (each.state, each.reason)))
            table.add_row(each.node, title, str(each.kept), now, said)
        colour_console().print(table)
    for error in found.failed.values():
        echo(str(error), err=True)

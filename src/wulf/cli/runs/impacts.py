"""`wulf impacts`: what changes of the network were worth to many applications, and what one more may expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.options import NumberIn, runs_option
from wulf.cli.showing import show_view
from wulf.core.errors import INCOMPLETE, OK, UsageError

LISTED = ("impacts", "Explain", 35, "What changes were worth to many programs; what to expect.")

if TYPE_CHECKING:
    from wulf.model.impacts import RunImpact
    from wulf.report.impact.collection import ImpactsReport
    from wulf.workflow.impact.mixing import DomainsFile, Mix


@click.command(
    cls=Command,
    epilog="Examples: wulf impacts --change nic.mtu --html impacts.html; wulf impacts --mix mix.toml. "
    "Exit code 3 where a run that was named can't be read. docs/how-to/impact.md says what the files hold.",
)
@click.argument("names", nargs=-1, metavar="[RUN]...", shell_complete=offers.runs)
@runs_option
@click.option("--change", metavar="NAME", help="Only runs of this change: nic.mtu, or links.")
@click.option(
    "--domains", "domains_file", type=click.Path(path_type=Path),
    help="A TOML that says which program, or account of --sacct, is of which domain.",
)  # fmt: skip
@click.option("--mix", "mix_file", type=click.Path(path_type=Path), help="A TOML of the cluster's mix of programs.")
@click.option(
    "--sacct", "sacct_file", type=click.Path(path_type=Path),
    help="The mix by Slurm's accounting: the output of `sacct -a -P -X -S now-30days "
    "--format=JobName,Account,CPUTimeRAW,Elapsed,State`.",
)  # fmt: skip
@click.option(
    "--days", metavar="N", type=NumberIn(min=0, min_open=True, max=36525), default=30.0, show_default=True,
    help="How many days the jobs of --sacct are of.",
)  # fmt: skip
@click.option("--html", type=click.Path(path_type=Path), help="Also write a page with the plots.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    names: tuple[str, ...], directory: Path | None, change: str | None, domains_file: Path | None,
    mix_file: Path | None, sacct_file: Path | None, days: float, html: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Show what changes of the network were worth to many applications, and what to expect for one more.

    Reads all runs of `wulf impact`, or those named, and groups them by domain of application, by change and by network:
    the mean gain, how much programs differ, and the interval for a program that was not measured. With a mix, what
    all of a cluster's work would gain, in percent and in jobs a month.
    """
    from wulf.report.impact.collection import ImpactsReport, impacts_object, impacts_view
    from wulf.workflow.impact.collecting import collect
    from wulf.workflow.impact.mixing import DomainsFile, read_domains

    if mix_file is not None and sacct_file is not None:
        raise UsageError("--mix and --sacct both say what the cluster runs", "give one of them")
    domains = DomainsFile() if domains_file is None else read_domains(domains_file)
    mix = _mix(mix_file, sacct_file, domains, days)
    found = collect(names, directory, domains.programs)
    impacts = [one for one in found.impacts if change in (None, one.change)]
    if not impacts:
        raise _nothing(found.impacts, found.bad, change)
    report = _with_mix(ImpactsReport(impacts, found.bad), mix, domains)
    show_view(impacts_view(report), impacts_object(report), as_json=as_json, html=html)
    return INCOMPLETE if names and found.bad else OK


def _mix(mix: Path | None, sacct: Path | None, domains: DomainsFile, days: float) -> Mix | None:
    """What the cluster runs, where one of the two says it."""
    from wulf.workflow.impact.mixing import read_mix, sacct_mix

    if sacct is not None:
        return sacct_mix(sacct, domains, days)
    return None if mix is None else read_mix(mix)


def _with_mix(report: ImpactsReport, mix: Mix | None, domains: DomainsFile) -> ImpactsReport:
    """The same, and what the mix gains."""
    from wulf.model.impacts import mix_gain
    from wulf.workflow.impact.mixing import expected_of

    if mix is None:
        return report
    known = expected_of(mix, report.impacts, domains.programs)
    gain = mix_gain(mix.loads, known, mix.jobs)
    return replace(report, mix=gain, source=mix.source, core_hours=mix.core_hours)


def _nothing(seen: Sequence[RunImpact], bad: Mapping[str, str], change: str | None) -> UsageError:
    """That there is nothing to show."""
    if seen:
        changes = ", ".join(sorted({one.change for one in seen}))
        return UsageError(f"no run is of the change {change!r}", f"there are: {changes}")
    if bad:
        return UsageError(f"no run can be read: {next(iter(bad.values()))}", "`wulf runs` lists the runs")
    return UsageError("there is no run of `wulf impact`", "`wulf impact` makes one; --in names the runs' folder")

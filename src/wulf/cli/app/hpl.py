"""`wulf app hpl` and `wulf app hpcc`: their drivers' options, and an HPL.dat, a source tree, a BLAS."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.apps import hpcc as hpcc_driver
from wulf.apps import hpl as hpl_driver
from wulf.apps.linpack.dat import parse
from wulf.cli.app.command import measured, option_names, run_options
from wulf.cli.commands import Command
from wulf.cli.params import param_options
from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, contents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.apps.driver import Driver
    from wulf.cluster.mpi import WorldSpec
    from wulf.core.records import Param
    from wulf.workflow.engine.study import Conditions

_HPL = """Solve N equations by HPL, and say what share of the peak that is.

    xhpl is looked for in the PATH, in modules' and Spack's folders, else Debian's hpcc, which holds HPL, else it is
    built from --source. Without --n the matrix takes 80 % of the nodes' memory. Every configuration of --dat is
    started by itself, in random order. Each result stands beside three peaks: base clock, turbo, and measured.
    """
_HPCC = """Run the HPC Challenge: seven parts in one run, each with its unit, checked.

    The parts' sizes follow from N: each uses about as much memory as HPL's matrix. Beside HPL's rate stands its share
    of three peaks: base clock, turbo, and measured.
    """


def _command(driver: Driver, text: str, example: str) -> click.Command:
    @run_options
    @click.option("--program", metavar="PATH", help="Of the program on the nodes [the one found].")
    @click.option("--dat", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
                  help="An HPL.dat of this machine, with any number of configurations.")  # fmt: skip
    def run(program: str | None, dat: Path | None, source: str | None = None, **options: Any) -> int:
        from wulf.workflow.app.build import Source
        from wulf.workflow.app.hpl import HplRequest, HplStudy

        given = {spec.name: options.pop(names[spec.name]) for spec in driver.PARAMS}
        own = {name: value for name, value in given.items() if value is not None}
        timeout = options.pop("timeout")
        if program and source:
            raise UsageError("--program and --source both say which xhpl to run", "give one of them")
        tree = None if source is None else Source(source, own.get("blas"))
        wanted = configurations(dat, own)  # what is wrong is refused before there is a run

        def study(given: Conditions, spec: WorldSpec) -> HplStudy:
            return HplStudy(given, HplRequest(driver, wanted, spec, program, timeout, tree))

        return measured(driver.NAME, options, study)

    run.__doc__ = text
    command = click.command(driver.NAME, cls=Command, epilog=f"Example: {example}")(run)
    if driver.NAME == hpl_driver.NAME:
        command.params.append(click.Option(["--source"], metavar="DIR", help="HPL's source on the first node."))
    names = option_names(driver, {param.name for param in command.params if param.name})
    command.params.extend(param_options(driver.PARAMS, names))
    return command


def configurations(dat: Path | None, given: Mapping[str, Param]) -> list[dict[str, Param]]:
    """What to run: the options alone, or each configuration of a file.

    Raises
    ------
    UsageError
        The file can't be read as an HPL.dat, or an option says what it says, too.
    """
    from wulf.workflow.app.hpl import of_file

    if dat is None:
        return [dict(given)]
    try:
        text = contents(dat).decode(errors="replace")
    except Unreadable as error:
        raise UsageError(f"{dat} can't be read: {error}", "name a file that you can read") from error
    return of_file(hpl_driver.params_of(parse(text)), given)


hpl = _command(hpl_driver, _HPL, "wulf app hpl 'n[1-4]' --per-node 16 --nb 192 --p 8 --q 8 --runs 5")
hpcc = _command(hpcc_driver, _HPCC, "wulf app hpcc 'n[1-4]' --per-node 16 --n 20000")

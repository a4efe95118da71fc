"""A cluster's mix of programs, from a TOML and from Slurm's accounting."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.workflow.impact.impact_runs import many
from wulf.core.errors import UsageError
from wulf.model.impacts import Load
from wulf.workflow.impact.collecting import collect
from wulf.workflow.impact.mixing import UNFINISHED, DomainsFile, Mix, expected_of, read_domains, read_mix, sacct_mix
from wulf.workflow.impact.sacct import COLUMNS, COMMAND, read_sacct

JOBS = """\
wrf|met|7200|01:00:00|COMPLETED
gromacs-run12|bio|3600|00:30:00|COMPLETED
a|b|c|bio7|1800|30:00|COMPLETED
other|nobody|1800|1-00:00:01|COMPLETED
wrf|met|3600|00:10:00|CANCELLED by 1000
"""


def written(folder: Path, text: str, name: str = "file") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def jobs(folder: Path, text: str = JOBS) -> Path:
    return written(folder, f"{COLUMNS}\n{text}")


def test_the_command_has_the_columns() -> None:
    assert COMMAND.rpartition("=")[2] == COLUMNS.replace("|", ",")


def test_jobs_line_by_line(tmp_path: Path) -> None:
    found = read_sacct(jobs(tmp_path))
    assert [one.name for one in found] == ["wrf", "gromacs-run12", "a|b|c", "other", "wrf"]
    assert [one.completed for one in found] == [True] * 4 + [False]
    assert (found[2].account, found[2].cpu_seconds) == ("bio7", 1800)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("JobID|State\n", "line 1: it is no JobName"),
        ("", "line 1"),
        (COLUMNS, "has no jobs"),
        (f"{COLUMNS}\nx|a|1|00:01|COMPLETED\nx|a|1|00:01", "line 3: 4 columns"),
        (f"{COLUMNS}\nx|a|-1|00:01|COMPLETED", "line 2: CPUTimeRAW '-1'"),
        (f"{COLUMNS}\nx|a|1e9|00:01|COMPLETED", "line 2: CPUTimeRAW"),
        (f"{COLUMNS}\nx|a|1|61|COMPLETED", "line 2: Elapsed '61'"),
        (f"{COLUMNS}\n\nx|a|1|00:01|DONE", "line 3: State 'DONE'"),
        (f"{COLUMNS}\nx|a|0|00:01|COMPLETED", "no CPU time"),
    ],
)
def test_what_is_no_accounting_is_refused_with_its_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match="file") as error:
        sacct_mix(written(tmp_path, text), DomainsFile(), 30)
    assert why in error.value.what


def test_jobs_become_domains_by_their_names_then_by_their_accounts(tmp_path: Path) -> None:
    domains = DomainsFile(programs={"wrf": "climate"}, accounts={"bio*": "life sciences"})
    mix = sacct_mix(jobs(tmp_path), domains, days=15)
    assert mix.loads == (
        Load("climate", 0.4, 2), Load(UNFINISHED, 0.2, 2), Load("molecular dynamics", 0.2, 2),
        Load("life sciences", 0.1, 2), Load("unknown", 0.1, 2),
    )  # fmt: skip
    assert mix.jobs == 8 and mix.core_hours == pytest.approx(10)


def test_a_mix_as_its_user_wrote_it(tmp_path: Path) -> None:
    mix = read_mix(written(tmp_path, 'jobs_per_month = 1200\n[shares]\n"dense linear algebra" = 0.25\nwrf = 0.5\n'))
    assert mix.loads == (Load("wrf", 0.5), Load("dense linear algebra", 0.25)) and mix.jobs == 1200


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[shares]\na = 0.6\nb = 0.5", "come to 1.1"),
        ("[shares]\na = 1.5", "shares.a"),
        ("[shares]\na = 0", "shares.a"),
        ("[shares]\na = nan", "nan"),
        ("[shares]", "shares"),
        ("", "shares"),
        ("x = 1\n[shares]\na = 1.0", "x: Extra"),
        ("jobs_per_month = -1\n[shares]\na = 1.0", "jobs_per_month"),
        ("[shares", "no TOML"),
    ],
)
def test_a_mix_that_is_none(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match="file") as error:
        read_mix(written(tmp_path, text))
    assert why in error.value.what


def test_domains_from_a_file(tmp_path: Path) -> None:
    found = read_domains(written(tmp_path, '[programs]\n"wrf*" = "climate"\n[accounts]\nbio = "life"\n'))
    assert found.programs == {"wrf*": "climate"} and found.accounts == {"bio": "life"}
    with pytest.raises(UsageError, match="programs"):
        read_domains(written(tmp_path, "[programs]\nx = 1\n"))
    with pytest.raises(UsageError, match="names no domain"):
        read_domains(written(tmp_path, ""))
    with pytest.raises(UsageError, match="can't read"):
        read_domains(tmp_path / "none.toml")


def test_what_is_known_of_a_part_is_its_domains_or_the_programs_own(tmp_path: Path) -> None:
    impacts = collect([], many(tmp_path), {}).impacts
    names = ("phylogenetics", "phyml-mpi", "climate", "xhpl", "nothing", "unknown")
    found = expected_of(Mix("m", tuple(Load(name, 0.1) for name in names), None), impacts, {})
    said = {name: (one.name, len(one.workloads), one.pooled is not None) for name, one in found.items()}
    assert said == {
        "phylogenetics": ("phylogenetics", 3, True),
        "phyml-mpi": ("phylogenetics", 3, True),  # two inputs of its own are too few
        "climate": ("climate", 1, False),
        "xhpl": ("dense linear algebra", 0, False),
        "nothing": ("nothing", 0, False),
        "unknown": ("unknown", 0, False),  # what is of no domain is no domain
    }

"""Every driver: what it starts, what it reads from its application's output, and what it refuses."""

import pytest

from tests.unit.apps import outputs
from wulf.apps import driver_of, drivers
from wulf.apps.driver import checked, programs_for
from wulf.core.errors import UsageError

NEEDED = {"gromacs": {"input": "/data/topol.tpr"}, "hpl": {"n": 1000}, "hpcc": {"n": 1000}}
"""Parameters without which a driver starts nothing."""


def job(name, program="", ranks=2, **given):
    driver = driver_of(name)
    params = checked(driver, {**NEEDED.get(name, {}), **given})
    return driver.job(program or f"/usr/bin/{programs_for(driver, params)[0]}", params, ranks)


def figures(name, stdout, files=None):
    return {f.name: (f.value, f.unit) for f in driver_of(name).read(stdout, files or {}).figures}


def passed(name, stdout, files=None):
    return {check.name: check.passed for check in driver_of(name).read(stdout, files or {}).checks}


@pytest.mark.parametrize("name", list(drivers()))
def test_every_driver_makes_a_job_of_its_defaults_and_survives_any_output(name):
    driver = driver_of(name)
    made = job(name)
    assert made.command[0].startswith("/usr/bin/")
    assert made.timeout > 0
    assert all("/" not in file for file in (*made.files, *made.outputs))
    for nonsense in ("", "Segmentation fault\n", "# Size\n\n1\n", "\x00�" * 50):
        reading = driver.read(nonsense, dict.fromkeys(made.outputs, nonsense))
        main = next((figure for figure in reading.figures if figure.name == driver.FIGURE), None)
        assert main is None or (main.value is None and main.reason) or driver.FIGURE == "wall"


@pytest.mark.parametrize("name", list(drivers()))
def test_parameters_are_described(name):
    for spec in driver_of(name).PARAMS:
        assert spec.help.endswith((".", "]")) or "(" in spec.help
        assert spec.type in ("int", "float", "bool", "str")


def test_an_unknown_driver_names_those_there_are():
    with pytest.raises(UsageError, match="stream"):
        driver_of("streem")


def test_stream():
    assert figures("stream", outputs.STREAM) == {
        "triad": (13436.2e6, "B/s"), "add": (13443.6e6, "B/s"), "scale": (11853.4e6, "B/s"), "copy": (18124.9e6, "B/s"),
    }  # fmt: skip
    assert passed("stream", outputs.STREAM) == {"arrays": True}
    assert driver_of("stream").read(outputs.STREAM, {}).facts == {"elements": 1e7, "threads": 2}
    assert job("stream", threads=4).environment == {"OMP_NUM_THREADS": "4"}
    assert not job("stream").mpi


def test_a_stream_whose_arrays_are_wrong():
    assert passed("stream", outputs.STREAM_WRONG) == {"arrays": False}
    assert "arrays b differ" in driver_of("stream").read(outputs.STREAM_WRONG, {}).checks[0].said


def test_netpipe():
    found = figures("netpipe", "", {"np.out": outputs.NETPIPE})
    assert found["latency"] == (2.12e-6, "s")
    assert found["throughput"] == (pytest.approx(65536 / 1.275e-5), "B/s")
    assert job("netpipe", most=4096).command[1:] == ("-l", "1", "-u", "4096", "-o", "np.out")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (outputs.IMB_PINGPONG, {"time": (1.92e-6, "s"), "throughput": (533.46e6, "B/s")}),
        (outputs.IMB_ALLREDUCE, {"time": (3.52e-6, "s")}),
        (outputs.IMB_BARRIER, {"time": (1.07e-6, "s")}),
    ],
)
def test_imb(text, wanted):
    assert figures("imb", text) == {name: (pytest.approx(value), unit) for name, (value, unit) in wanted.items()}
    made = job("imb", benchmark="Allreduce", bytes=8, ranks=4)
    assert made.command[1:] == ("Allreduce", "-npmin", "4", "-msglen", "lengths")
    assert made.files == {"lengths": "8\n"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (outputs.OSU_LATENCY, (0.27e-6, "s")),
        (outputs.OSU_BANDWIDTH, (9214.53e6, "B/s")),
        (outputs.OSU_BARRIER, (0.91e-6, "s")),
    ],
)
def test_osu(text, wanted):
    assert figures("osu", text) == {"result": (pytest.approx(wanted[0]), wanted[1])}


def test_osu_looks_for_the_one_program_of_its_benchmark():
    made = job("osu", benchmark="bw", bytes=65536, validate=True)
    assert made.command == ("/usr/bin/osu_bw", "-m", "65536:65536", "-c")
    assert job("osu", benchmark="barrier").command == ("/usr/bin/osu_barrier",)


def test_lammps():
    found = figures("lammps", "", {"log.lammps": outputs.LAMMPS})
    assert found == {"rate": (200.0, "Hz"), "loop": (0.5, "s")}
    assert passed("lammps", outputs.LAMMPS) == {"energy": True}
    assert driver_of("lammps").read(outputs.LAMMPS, {}).facts == {"version": "7 Jan 2022", "atoms": 4000, "procs": 2}
    made = job("lammps", cells=10, steps=100, threads=2)
    assert "block 0 10 0 10 0 10" in made.files["melt.lammps"]
    assert made.environment == {"OMP_NUM_THREADS": "2"}


def test_a_melt_that_gains_energy_is_wrong():
    text = outputs.LAMMPS.replace("0   -4.6220000", "0   -4.5000000")
    assert passed("lammps", text) == {"energy": False}


def test_gromacs():
    found = figures("gromacs", "", {"md.log": outputs.GROMACS})
    assert found == {"rate": (pytest.approx(28.103e-9 / 86400), "1"), "loop": (6.15, "s")}
    reading = driver_of("gromacs").read(outputs.GROMACS, {})
    assert reading.facts["ns/day"] == 28.103
    assert str(reading.facts["version"]).startswith("2022.5")
    assert passed("gromacs", outputs.GROMACS.replace("Finished", "Aborted")) == {"end": False}
    assert job("gromacs", "/usr/bin/gmx", 4).command[-2:] == ("-ntmpi", "4")
    assert not job("gromacs", "/usr/bin/gmx", 4).mpi


def phyml(**changed):
    files = {"tree": outputs.PHYML_TREE, "boot_trees": outputs.PHYML_TREE * 4, "stats": outputs.PHYML_STATS, **changed}
    return {f"sequences.phy_phyml_{part}.txt": text for part, text in files.items()}


def test_phyml():
    assert set(passed("phyml", outputs.PHYML_OUT, phyml()).values()) == {True}
    facts = driver_of("phyml").read(outputs.PHYML_OUT, phyml()).facts
    assert facts == {"bootstrap trees": 4, "log-likelihood": -150.28996, "version": "3.3.3:3.3.20220408-3"}
    assert not passed("phyml", "", phyml())["bootstraps"]
    assert not passed("phyml", outputs.PHYML_OUT, phyml(tree="(taxon00001,taxon00002);"))["tree"]
    assert not passed("phyml", outputs.PHYML_OUT, {})["likelihood"]


def test_phyml_has_work_for_every_rank():
    assert job("phyml", "/usr/bin/phyml-mpi", 4, bootstraps=4).mpi
    assert not job("phyml", "/usr/bin/phyml", 1, bootstraps=1).mpi
    with pytest.raises(UsageError, match="bootstraps = 2 are fewer than the 4 ranks"):
        job("phyml", "/usr/bin/phyml-mpi", 4, bootstraps=2)


def test_iqtree2():
    files = {"iqtree2.log": outputs.IQTREE, "iqtree2.treefile": outputs.PHYML_TREE}
    assert figures("iqtree2", "", files) == {"own time": (1.602, "s")}
    assert set(passed("iqtree2", "", files).values()) == {True}
    assert driver_of("iqtree2").read("", files).facts == {"log-likelihood": -3310.042, "version": "2.0.7"}


def test_blast():
    assert figures("blast", outputs.BLAST) == {
        "time": (pytest.approx(0.621892), "s"), "formatting": (0.293696, "s"), "search": (0.328196, "s"),
    }  # fmt: skip
    assert passed("blast", outputs.BLAST) == {"volumes": True, "merged": True}
    facts = driver_of("blast").read(outputs.BLAST, {}).facts
    assert facts["version"] == "2.12.0+" and facts["unsplit, s"] == pytest.approx(0.66963)


@pytest.mark.parametrize(
    ("was", "now", "wrong"),
    [
        ("hit 1 query00001 family00001_0002 155 4.98e-38", "hit 1 query00001 family00001_0002 155 4.99e-38", "merged"),
        ("hit 1 query00001 family00001_0006 135", "hit 1 query00001 family00001_0006 13", "merged"),
        ("hit 1 query00002 family00002_0006 90 1.17e-20 80 66\n", "", "volumes"),
        ("rank 1 2 4", "rank 0 2 4", "volumes"),
    ],
)
def test_hits_of_volumes_that_are_not_the_whole_databases_are_wrong(was, now, wrong):
    assert was in outputs.BLAST
    assert not passed("blast", outputs.BLAST.replace(was, now))[wrong]


def test_blast_makes_the_same_families_for_one_seed():
    made = job("blast", families=3, members=4, sites=60)
    assert made.mpi and made.environment["BLAST_USAGE_REPORT"] == "false"
    assert made.files == job("blast", families=3, members=4, sites=60).files
    assert made.files != job("blast", families=3, members=4, sites=60, seed=8).files
    assert made.files["database.fa"].count(">") == 12 and made.files["queries.fa"].count(">") == 3
    assert set(job("blast", search="blastp").files["queries.fa"].splitlines()[1]) > set("ACDEFGHIKL")
    given = job("blast", database="/data/nt.fa", queries="/data/q.fa")
    assert list(given.files) == ["volumes.py"] and given.command[-2:] == ("/data/nt.fa", "/data/q.fa")
    compile(given.files["volumes.py"], "script", "exec")


def test_mpi4py():
    said = "time: 1.25e-05\nright: 4 of 4\nmpi: Open MPI v4.1.4\n"
    assert figures("mpi4py", said) == {"time": (1.25e-5, "s")}
    assert passed("mpi4py", said) == {"sum": True}
    assert passed("mpi4py", said.replace("4 of 4", "3 of 4")) == {"sum": False}
    compile(job("mpi4py", "/usr/bin/python3").files["wulf_mpi4py.py"], "script", "exec")
    assert job("mpi4py", "/usr/bin/python3", script="/x.py").command == ("/usr/bin/python3", "/x.py")


@pytest.mark.parametrize(
    ("name", "ranks", "given", "words"),
    [
        ("netpipe", 3, {}, "2 ranks, and got 3"),
        ("netpipe", 2, {"least": 8, "most": 4}, "least = 8 B is above most = 4 B"),
        ("imb", 1, {}, "needs 2 ranks, and got 1"),
        ("osu", 4, {}, "2 ranks, and got 4"),
        ("osu", 1, {"benchmark": "allreduce"}, "needs 2 ranks, and got 1"),
        ("gromacs", 2, {"input": "topol.tpr"}, "no path from /"),
        ("mpi4py", 2, {"script": "x.py"}, "no path from /"),
        ("blast", 2, {"database": "/data/nt.fa"}, "queries = None is no path from /"),
        ("blast", 20, {"families": 1, "members": 4}, "4 sequences are fewer than the 20 ranks"),
        ("blast", 2, {"families": 10_000, "sites": 1000}, "above 50,000,000 letters"),
        ("phyml", 2, {"taxa": 3}, "taxa = 3 1 is too small"),
        ("stream", 1, {"threads": 0}, "threads = 0"),
        ("stream", 1, {"thread": 1}, "did you mean 'threads'"),
    ],
)
def test_what_can_not_be_run_is_said_with_field_value_and_limit(name, ranks, given, words):
    with pytest.raises(UsageError) as refused:
        job(name, "/usr/bin/python3" if name == "mpi4py" else "", ranks, **given)
    assert words in str(refused.value)

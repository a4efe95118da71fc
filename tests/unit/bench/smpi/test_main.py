"""A network of ours as SMPI's cluster, and the tables of predictions beside its times; no SimGrid is needed."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from bench.engine.errors import BenchError
from bench.smpi import __main__ as smpi
from bench.smpi import cluster, replay, simgrid
from bench.smpi.__main__ import PLATFORMS, Row

from tests.wording import lacking
from wulf.model.network.figures import Network, Values, nominal, scaled
from wulf.model.network.file import parse_network

VALUES: Values = {
    "latency": 10e-6, "send": 0.5e-6, "receive": 0.25e-6, "gap": 0.0, "byte": 0.8e-9, "send_byte": 0.0,
    "receive_byte": 1e-10, "packet_byte": 0.0, "packet": 0.0, "eager": 65536, "eager_more": 0.0,
}  # fmt: skip


def test_the_platform_is_a_star_with_half_the_latency_on_each_link() -> None:
    root = ElementTree.fromstring(cluster.platform(16, VALUES))
    (star,) = root
    assert root.get("version") == "4.1" and star.tag == "cluster"
    assert star.attrib == {
        "id": "star", "prefix": "h", "suffix": "", "radical": "0-15", "speed": "1000000000f",
        "bw": "1250000000Bps", "lat": "5e-06s",
    }  # fmt: skip
    assert cluster.hostfile(3) == "h0\nh1\nh2\n"


def test_the_options_are_the_networks_overheads_and_eager_limit() -> None:
    options = cluster.options(VALUES)
    assert options["smpi/os"] == options["smpi/ois"] == "0:5e-07:0" and options["smpi/or"] == "0:2.5e-07:1e-10"
    # SMPI sends at once what is smaller than its limit; ours is the largest that is eager
    assert options["smpi/async-small-thresh"] == options["smpi/send-is-detached-thresh"] == "65537"
    assert options["smpi/bcast"] == "binomial_tree" and cluster.ours()["bcast"] == "binomial"
    assert cluster.words({"a/b": "1", "c": "d"}) == ["--cfg=a/b:1", "--cfg=c:d"]


def test_a_message_has_smpis_envelope() -> None:
    network = cluster.network("this", VALUES)["inter"]
    # 1 B takes 17 B's time, on the way and at the NIC
    assert network["latency_ps"] == 10_000_000 + 17 * 800 and network["gap_ps"] == 17 * 800
    assert network["byte_fp"] == 800 << 20 and network["eager_bytes"] == 65536
    star = cluster.star("this", VALUES)
    assert star["inter"] == network and star["topology"]["bytes_per_second"] == 1_250_000_000


def test_platforms_differ_from_a_in_what_their_names_say() -> None:
    base = Network(parse_network(cluster.CLUSTER.read_text(), str(cluster.CLUSTER)))
    first, *others = (nominal(scaled(base, **factors))[0] for factors in PLATFORMS.values())
    assert first["latency"] == 10e-6 and first["byte"] == 0.8e-9 and first["eager"] == 65536
    changed = [{part: one[part] / first[part] for part in one if one[part] != first[part]} for one in others]
    assert changed == [{"latency": 10}, {"latency": 0.2}, {"byte": 10}, {"eager": 1 / 16}]


ROWS = [
    Row("halo", 8, "A, as traced", 0.010, 0.020, 0.010),
    Row("halo", 8, "latency × 10", 0.100, 0.101, 0.099),
    Row("halo", 8, "latency ÷ 5", 0.010, 0.0108, 0.010),
    Row("farm", 8, "latency × 10", 0.020, None, 0.0203),
]


def cells(table: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in table.splitlines()]


def test_every_prediction_stands_beside_smpis_time() -> None:
    rows = cells(smpi.table(ROWS))
    assert rows[2] == ["halo", "8", "A, as traced", "10", "20", "+100.00%", "10", "+0.00%"]
    assert rows[3] == ["halo", "8", "latency × 10", "100", "101", "+1.00%", "99", "-1.00%"]
    assert rows[5] == ["farm", "8", "latency × 10", "20", "—", "—", "20.3", "+1.50%"]


def test_medians_leave_the_platform_out_that_was_traced() -> None:
    of_a = smpi.summary(ROWS, "a")
    assert lacking(of_a, "engine A", " 2 predictions", "median |error| 4.50%", "greatest 8.00%", "above 5%: 1.") == []
    assert "(halo, 8 ranks, latency ÷ 5)" in of_a
    assert "3 predictions" in smpi.summary(ROWS, "b") and "median |error| 1.00%" in smpi.summary(ROWS, "b")
    assert smpi.summary(ROWS[:1], "a") == "- engine A: nothing to compare."


def test_times_are_read_from_what_smpirun_says() -> None:
    said = "[0.007979] [smpi_utils/INFO] Simulated time: 0.00797899 seconds. \n\nThe simulation took 0.1 seconds\n"
    assert simgrid.simulated(said) == 0.00797899
    with pytest.raises(BenchError, match="tells no simulated time"):
        simgrid.simulated("Execution failed with code 134.")


def test_without_simgrid_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(simgrid.SIMGRID, str(tmp_path))
    with pytest.raises(BenchError, match=r"smpicc.* SimGrid .*libsimgrid-dev.*WULF_SIMGRID"):
        simgrid.tool("smpicc")


def test_traces_stand_beside_simgrids_replay() -> None:
    rows = [
        replay.Row("one", 2, 0.010, 0.010, 0.0101, ()),
        replay.Row("two", 4, 0.5, None, 0.5, ("left open: 1 × a",)),
    ]
    lines = replay.table(rows).splitlines()
    one, two = cells("\n".join(lines[2:4]))
    assert one == ["one", "2", "10", "10", "+0.000%", "10.1", "+1.000%"]
    assert two == ["two", "4", "500", "—", "—", "500", "+0.000%"]
    assert lines[-1] == "two: left open: 1 × a"


def test_the_replays_network_has_no_overheads_and_all_is_eager() -> None:
    values = replay.platform()
    assert values["send"] == values["receive"] == 0 and values["eager"] > replay.LARGEST

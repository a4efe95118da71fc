"""Tables of tuning experiments, from CSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.core.errors import UsageError
from wulf.stats.moments import Moments
from wulf.tune.table.arms import SettingTable
from wulf.workflow.tune.table import from_csv


def read(folder: Path, text: str, unit: str = "us") -> SettingTable:
    path = folder / "table.csv"
    path.write_text(text)
    return from_csv(path, unit, lower_is_better=True)


def arms(table: SettingTable) -> list[str]:
    return [table.name(arm) for arm in table.arms]


def test_means_of_switches(tmp_path: Path) -> None:
    table = read(
        tmp_path, "# by hand\nGRO,firewall,mean,sd,n\noff,off,50.03,4.31,10\non,off,31.63,.83,10\non,on,21,,\n"
    )
    assert table.factors == ("gro", "firewall")
    assert arms(table) == ["none", "gro", "gro + firewall"]
    base, gro, both = table.arms.values()
    assert (base.mean, base.deviation) == pytest.approx((50.03e-6, 4.31e-6))
    assert base.n == 10
    assert gro.deviation == pytest.approx(0.83e-6)
    assert (both.deviation, both.n, table.unit, table.rows) == (None, None, "s", ())


def test_measurements_by_names_of_arms(tmp_path: Path) -> None:
    text = "arm,value,block,order\nnone,10,1,1\na + b,8,1,2\na,9,2,3\nbaseline,11,2,4\nb+a,7,3,5\n"
    table = read(tmp_path, text, "s")
    assert arms(table) == ["none", "a + b", "a"]
    assert table.baseline == Moments.of([10.0, 11.0])
    assert table.blocks == ("1", "2", "3")
    assert [row.order for row in table.rows] == [1, 2, 3, 4, 5]


def test_levels_are_held_against_the_first_line_s(tmp_path: Path) -> None:
    table = read(tmp_path, "mtu,gro,value\n1500,off,10\n4000,off,9\n9000,off,8\n9000,on,7\n")
    assert table.factors == ("mtu=4000", "mtu=9000", "gro")
    assert arms(table) == ["none", "mtu=4000", "mtu=9000", "mtu=9000 + gro"]
    assert table.pairs == [("mtu=4000", "gro"), ("mtu=9000", "gro")], "two levels are never on together"


@pytest.mark.parametrize(("unit", "si", "factor"), [
    ("us", "s", 1e-6), ("µs", "s", 1e-6), ("Gbit/s", "bit/s", 1e9), ("GB/s", "byte/s", 1e9),
    ("frames/s", "frames/s", 1.0),
])  # fmt: skip
def test_units_are_si_inside(tmp_path: Path, unit: str, si: str, factor: float) -> None:
    table = read(tmp_path, "arm,mean\nnone,2\na,1\n", unit)
    assert table.unit == si
    assert [one.mean for one in table.arms.values()] == pytest.approx([2 * factor, factor])


@pytest.mark.parametrize(("text", "what"), [
    ("arm,mean\nnone,1\na,fast\n", "line 3: mean is 'fast'"),
    ("arm,mean\nnone,1\na,-1\n", "line 3: mean is -1"),
    ("arm,mean\nnone,1\na,1e40\n", "line 3: mean is 1e40"),
    ("arm,mean,sd\nnone,1,1\na,2,-1\n", "line 3: sd is -1"),
    ("arm,mean,sd\nnone,1,1\na,2,wide\n", "line 3: sd is 'wide'"),
    ("arm,mean,n\nnone,1,2.5\na,2,1\n", "line 2: 2.5 n is no whole number"),
    ("arm,mean,n\nnone,1\n", "line 2: 2 columns, where the first line names 3"),
    ("arm,value,order\nnone,1,first\na,2,2\n", "line 2: order is 'first'"),
    ("arm,mean\nnone,1\na,2\na,3\n", "line 4: this arm stands there twice: a"),
    ("arm,mean\nnone,1\na++b,2\n", "line 3: arm is 'a++b'"),
    ("arm,mean\nnone,1\na+a,2\n", "line 3: arm is 'a+a'"),
    ("arm,gro,mean\nnone,on,1\n", "line 1: column 'gro' stands beside `arm`"),
    ("mean,sd\n1,1\n", "line 1: no column is a setting"),
    ("gro,\non,1\n", "line 1: column 2 has no name"),
    ("gro,gro,mean\non,on,1\n", "line 1: column 'gro' stands there twice"),
    ("gro,sd\non,1\n", "line 1: one of the columns value and mean is needed"),
    ("gro,mean,value\non,1,1\n", "line 1: one of the columns value and mean is needed"),
    ("gro,value,sd\non,1,1\n", "line 1: column 'sd' doesn't go with value"),
    ("gro,mean,block\non,1,1\n", "line 1: column 'block' doesn't go with mean"),
    ("gro,tso,mean\noff,on,1\non,on,2\n", "line 1: column 'tso' is the same in every line"),
    ("mtu,mean\n1500,1\n1500,2\n", "line 1: column 'mtu' is the same in every line"),
    ("arm,mean\nnone,1\n", "has fewer than two arms"),
    ("arm,mean\n", "has fewer than two arms"),
    ("arm,mean\nnone,1\n" + "".join(f"a{i},1\n" for i in range(33)), "has 33 settings"),
])  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(UsageError) as error:
        read(tmp_path, text)
    assert what in str(error.value)

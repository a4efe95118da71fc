"""Tables of the firmware: what is in them, and that none of them, however broken, does harm."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.machines import smbios as make
from wulf.agent import facts
from wulf.agent.hardware import smbios
from wulf.agent.machine import Machine
from wulf.agent.unknown import Unknown

NAMES = [f"memory.{name}" for name in ("slots", "modules", "module_sizes", "empty_slots", "channels", "module_kind",
                                       "speed", "speed_rated")] + ["cpu.cores_off", "cpu.firmware_smt"]  # fmt: skip
GOOD = make.server([("A1", "P0 CHANNEL A", 32768), ("B1", "P0 CHANNEL B", 0)], [(16, 12, 24)], rated=3200, speed=2933)


def read(root: Path, table: bytes, entry: bytes | None = None) -> dict[str, Any]:
    with Machine(str(make.put(root, table, entry))) as machine:
        return facts.read(machine, NAMES)


def values(root: Path, table: bytes, entry: bytes | None = None) -> list[Any]:
    found = read(root, table, entry)
    return [found[name]["value"] for name in NAMES]


def table_of(*parts: bytes) -> bytes:
    return b"".join([make.firmware(), make.array(0x1000, 2), *parts, make.END])


@pytest.mark.parametrize("entry", [None, make.old_entry(GOOD, 8)])
def test_a_table_gives_its_modules_and_cores_by_either_entry_point(entry: bytes | None, tmp_path: Path) -> None:
    found = {name: reading["value"] for name, reading in read(tmp_path, GOOD, entry).items()}
    assert found == {
        "memory.slots": 2, "memory.modules": 1, "memory.module_sizes": "1 x 32 GiB", "memory.empty_slots": "B1",
        "memory.channels": 1, "memory.module_kind": "DDR4", "memory.speed": 2933 * 10**6,
        "memory.speed_rated": 3200 * 10**6, "cpu.cores_off": 4, "cpu.firmware_smt": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("part", "size", "speed"),
    [
        (make.module(1, "A", mebibytes=131072, speed=3200), 128 << 30, 3200),
        (make.module(1, "A", mebibytes=512, speed=70000, rated=70000), 512 << 20, 70000),
        (make.module(1, "A", mebibytes=0x8400), 33 << 30, 3200),
        (make.module(1, "A")[:12] + b"\x00\x84" + make.module(1, "A")[14:], 1 << 20, 3200),
        (make.module(1, "A")[:12] + b"\xff\xff" + make.module(1, "A")[14:], None, 3200),
        (make.module(1, "A", speed=0), 32 << 30, None),
    ],
)
def test_sizes_and_speeds_that_do_not_fit_stand_in_later_fields(
    part: bytes, size: int | None, speed: int | None, tmp_path: Path
) -> None:
    with Machine(str(make.put(tmp_path, table_of(part)))) as machine:
        (slot,) = smbios.slots(machine)
    assert (slot.size, slot.speed) == (size, None if speed is None else speed * 10**6)


def test_slots_of_flash_and_caches_are_no_memory(tmp_path: Path) -> None:
    flash = make.array(0x2000, 1, use=5) + make.module(0x2001, "FLASH", of=0x2000, mebibytes=16)
    assert values(tmp_path, table_of(make.module(1, "A"), flash))[:3] == [1, 1, "1 x 32 GiB"]


def test_an_older_table_has_no_speeds_and_says_so(tmp_path: Path) -> None:
    old = make.structure(17, 1, make.module(1, "A")[4:0x15], "A")
    found = read(tmp_path, table_of(old))
    assert (found["memory.modules"]["value"], found["memory.speed"]["value"]) == (1, None)
    assert "speed of every module" in found["memory.speed"]["reason"]


def test_cores_of_large_processors_and_empty_sockets(tmp_path: Path) -> None:
    two = [make.processor(1, 384, 384, 384), make.processor(2, 8, 4, 8, populated=False)]
    assert values(tmp_path, table_of(*two))[-2:] == [0, False]


@pytest.mark.parametrize(
    ("bank", "place", "channel"),
    [
        ("P0 CHANNEL A", "DIMM 0", "P0 channel A"),
        ("", "ChannelB-DIMM1", "channel B"),
        ("NODE 1", "P1_Node1_Channel12_Dimm0", "P1_Node1_channel 12"),
        ("", "CPU1_DIMM_A1", ""),
        ("channel", "", ""),
    ],
)
def test_channels_are_those_that_the_firmware_calls_so(bank: str, place: str, channel: str) -> None:
    assert smbios.channel_of(bank, place) == channel


ENTRY = make.new_entry(GOOD)
OLD = make.old_entry(GOOD, 8)


@pytest.mark.parametrize(
    ("table", "entry", "said"),
    [
        (GOOD, b"", "begins with nothing"),
        (GOOD, b"_XX_" + OLD[4:], "begins with 5f58585f"),
        (GOOD, ENTRY[:-1] + b"\x01", "checksum is wrong"),
        (GOOD, ENTRY[:20], "claims 24 bytes of 20"),
        (GOOD, make.summed(ENTRY[:6] + b"\x04" + ENTRY[7:], 5), "claims 4 bytes"),
        (GOOD, make.summed(OLD[:16] + b"_XXX_" + OLD[21:], 4), "wrong mark or checksum"),
        (GOOD, make.summed(OLD[:21] + b"\x00" + OLD[22:], 4), "wrong mark or checksum"),
        (GOOD[:-20], ENTRY, "broken"),
        (GOOD[: -len(make.END)], ENTRY, "without the end mark"),
        (GOOD, make.old_entry(GOOD[:60], 8), "broken"),
        (b"", ENTRY, "without the end mark"),
        (GOOD[:1], ENTRY, "a structure of 0 bytes at 0 of 1"),
        (b"\x11\x03\x00\x00\x00\x00" + GOOD, None, "a structure of 3 bytes"),
        (b"\x11\x00\x00\x00\x00\x00" + GOOD, None, "a structure of 0 bytes"),
        (b"\x11\xff" + b"\x00" * 20, None, "a structure of 255 bytes"),
        (table_of(make.structure(17, 1, make.module(1, "A", "B")[4:0x5C], "A")), None, "string 2 of 1"),
        (b"\0" * (smbios.MOST_BYTES + 1), None, "no firmware's table is that long"),
    ],
)
def test_a_broken_table_is_null_with_the_reason(table: bytes, entry: bytes | None, said: str, tmp_path: Path) -> None:
    found = read(tmp_path, table, entry)
    assert found["memory.modules"]["value"] is None
    assert said in found["memory.modules"]["reason"]
    assert "absent" not in found["memory.modules"]


def test_a_table_without_slots_and_processors_says_that_there_are_none(tmp_path: Path) -> None:
    found = read(tmp_path, make.firmware() + make.END)
    assert all(reading["absent"] for reading in found.values())


def test_what_identifies_a_machine_reaches_no_fact(tmp_path: Path) -> None:
    with Machine(str(make.put(tmp_path, GOOD))) as machine:
        every = str(facts.read(machine)) + str([astuple(slot) for slot in smbios.slots(machine)])
    assert "SERIAL" not in every and "ee" * 8 not in every


@given(st.binary(max_size=300), st.integers(0, 40) | st.none())
def test_any_bytes_are_structures_or_unknown(table: bytes, count: int | None) -> None:
    try:
        found = list(smbios.parsed(table, count))
    except Unknown as unknown:
        assert "broken" in unknown.reason
        return
    assert len(found) <= len(table) // 6 + 1


@given(
    changes=st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=8),
    length=st.integers(0, len(GOOD)),
)
def test_a_table_with_bytes_changed_and_cut_gives_values_or_reasons(
    changes: list[tuple[int, int]], length: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = bytearray(GOOD)
    for at, byte in changes:
        made[at] = byte
    found = read(tmp_path_factory.getbasetemp() / "changed", bytes(made[:length]))
    assert set(found) == set(NAMES)
    assert not [one for one in found.values() if one["value"] is None and "unexpected" in one["reason"]]


@given(st.binary(max_size=40), st.sampled_from([b"", b"_SM_", b"_SM3_"]))
def test_any_bytes_are_an_entry_point_or_unknown(content: bytes, mark: bytes) -> None:
    try:
        length, _ = smbios.entry_point(mark + content)
    except Unknown:
        return
    assert length >= 0


def test_a_table_of_the_smallest_slots_takes_no_time_to_speak_of(tmp_path: Path) -> None:
    table = b"\x11\x04\x00\x00\x00\x00" * 30_000 + make.END
    assert values(tmp_path, table)[:2] == [30_000, 30_000]

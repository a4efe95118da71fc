"""Every entry of the catalogue keeps what it promises; one suite over all of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.machines import tree
from wulf.agent.facts import all_facts
from wulf.agent.machine import Machine
from wulf.agent.settings import check as check_request
from wulf.agent.settings import mechanisms, read_all
from wulf.tune.catalogue import FOLDER, catalogue, read
from wulf.tune.dependencies import masked, needs, order, resets
from wulf.tune.explaining import explain
from wulf.tune.setting import CHECKLIST, GROUPS, Aim, Setting, Value
from wulf.tune.values import same

SETTINGS = catalogue()
EVERY = pytest.mark.parametrize("setting", SETTINGS.values(), ids=list(SETTINGS))

EXPECTED: set[str] = set()
"""Mechanisms that the catalogue names and that are not there yet: empty, but while one is being written."""

OF_A_PERSON = "advice"

# What weakens a node, whatever it gains: advising it is never allowed unless the entry says that it weakens.
WEAKENING: dict[str, tuple[Value, ...]] = {
    "firewall.trusted_zone": (True,),
    "firewall.bypass": (True,),
    "firewall.bridge_calls_iptables": (False,),
    "cpu.mitigations": ("off",),
}
PROTECTING = ("firewalld", "nftables", "ufw")
"""Services that are never advised to be off."""


def fits(setting: Setting, value: Value) -> bool:
    kinds: dict[str, tuple[type, ...]] = {
        "bool": (bool,), "int": (int,), "float": (int, float), "word": (str,), "text": (str,),
    }  # fmt: skip
    return isinstance(value, kinds[setting.type]) and (setting.type == "bool" or not isinstance(value, bool))


def within(setting: Setting, value: Value) -> bool:
    if setting.choices and value not in setting.choices:
        return False
    if isinstance(value, (bool, str)):
        return True
    return (setting.low is None or value >= setting.low) and (setting.high is None or value <= setting.high)


def advised_values(setting: Setting) -> list[Value]:
    advice = setting.advice.values()
    single = [each.value for each in advice if each.value is not None]
    return [*single, *(value for each in advice for value in each.sweep)]


def test_there_are_as_many_as_promised() -> None:
    assert len(SETTINGS) >= 90
    assert list(SETTINGS) == sorted(SETTINGS)
    assert {path.stem for path in FOLDER.iterdir() if path.is_file()} == set(SETTINGS)


@EVERY
def test_its_file_is_read_as_it_stands(setting: Setting) -> None:
    path = FOLDER / f"{setting.name}.toml"
    assert read(path) == setting
    assert next(iter(tomllib.loads(path.read_text()))) == "name", "the name stands first, for those who read the file"


@EVERY
def test_it_says_what_a_person_needs(setting: Setting) -> None:
    assert setting.group in GROUPS
    for text in (setting.title, setting.what, setting.why):
        assert text == text.strip()
        assert text[0].isupper() or text.split()[0].rstrip(",:") in text
    assert not setting.title.endswith(".")
    for text in (setting.what, setting.why, *(advice.why for advice in setting.advice.values())):
        assert re.search(r"[.)!?']$", text), f"a whole sentence: {text}"
        assert "\n" not in text
    assert setting.evidence, "who says so, or that nobody shows it"
    for evidence in setting.evidence:
        assert evidence.effect
        assert evidence.source
    assert {"What", "Why", "Values", "Tested"} <= {heading for heading, _ in explain(setting)}


@EVERY
def test_its_values_fit_its_type_and_range(setting: Setting) -> None:
    assert (setting.unit is not None) == (setting.type in ("int", "float"))
    assert setting.low is None or setting.high is None or setting.low < setting.high
    for value in (*setting.choices, *advised_values(setting)):
        assert fits(setting, value), value
        assert within(setting, value), value
    for special in setting.special:
        assert within(setting, special.value) if fits(setting, special.value) else isinstance(special.value, str | bool)
    for advice in setting.advice.values():
        assert len(set(advice.sweep)) == len(advice.sweep) != 1
        assert advice.value is None or not advice.sweep, "one value, or several to be tried"
    assert setting.type != "word" or setting.choices or setting.access == "report"


@EVERY
def test_it_names_settings_that_are_there(setting: Setting) -> None:
    named = {*setting.needs, *setting.masked_by, *setting.resets, *setting.conflicts}
    assert named <= set(SETTINGS), named - set(SETTINGS)
    assert setting.name not in named
    for name, value in setting.masked_by.items():
        assert fits(SETTINGS[name], value), f"{name} is never {value!r}"
        assert within(SETTINGS[name], value), f"{name} is never {value!r}"


@EVERY
def test_nobody_undoes_it_unsaid(setting: Setting) -> None:
    """A conflict between settings that are both written is known from either side, or is a person's to see."""
    for name in setting.conflicts:
        other = SETTINGS[name]
        assert setting.name in other.conflicts or {setting.access, other.access} == {"write", "report"}, (
            f"{name} does not name {setting.name} among its conflicts"
        )


def test_nothing_needs_itself() -> None:
    for name in SETTINGS:
        assert name not in needs(SETTINGS, [name])
    assert sorted(order(SETTINGS, list(SETTINGS))) == list(SETTINGS)


def test_nothing_masks_itself() -> None:
    values = {name: value for setting in SETTINGS.values() for name, value in setting.masked_by.items()}
    found = masked(SETTINGS, dict.fromkeys(SETTINGS) | values)
    assert set(found) <= {name for name, setting in SETTINGS.items() if setting.masked_by}
    assert found


def test_what_a_change_sets_anew_is_written_after_it() -> None:
    ordered = order(SETTINGS, list(SETTINGS))
    for name, setting in SETTINGS.items():
        for other in setting.resets:
            if name not in resets(SETTINGS, [other]):
                assert ordered.index(name) < ordered.index(other), f"{other} is set anew by {name}"


@EVERY
def test_what_weakens_is_marked(setting: Setting) -> None:
    for value in advised_values(setting):
        for weakening in WEAKENING.get(setting.name, ()):
            assert not same(value, weakening) or setting.security == "weakens"
    if setting.security == "weakens":
        assert setting.risk, "what may go wrong"
    if setting.name.startswith("firewall.") and setting.access == "write":
        assert setting.security == "weakens" or not advised_values(setting)


@EVERY
def test_no_firewall_is_advised_to_be_off(setting: Setting) -> None:
    if setting.mechanism == "service" and setting.target["unit"] in PROTECTING:
        assert setting.access == "report"
        assert not advised_values(setting)


@EVERY
def test_its_mechanism_takes_its_target(setting: Setting) -> None:
    if setting.mechanism == OF_A_PERSON:
        assert setting.how, "where a person finds it"
        assert setting.access == "report"
        assert not setting.target
    elif setting.mechanism in EXPECTED:
        pytest.skip(f"the mechanism {setting.mechanism} is not there yet")
    else:
        assert not setting.how or setting.access == "report", "a person changes what is only read"
        check_request([{"name": setting.name, "mechanism": setting.mechanism, "target": setting.target}])


def test_no_mechanism_is_waited_for_that_is_there() -> None:
    assert not EXPECTED & set(mechanisms())


@EVERY
def test_its_target_reads_values_of_its_type(setting: Setting) -> None:
    kind, mechanism = setting.target.get("kind"), setting.mechanism
    if mechanism == "sysctl" or (mechanism == "sysfs" and not setting.target.get("choose")):
        assert (kind == "bool") == (setting.type == "bool")
        assert setting.type != "text" or kind in ("text", "mask", "cpus") or setting.access == "report"
    if setting.unit == "s" and setting.type == "float" and mechanism in ("sysctl", "sysfs", "ethtool"):
        assert setting.target["scale"] < 1, "the kernel counts in smaller units than seconds"
    if setting.mechanism == "fact":
        fact = next((fact for fact in all_facts() if fact.name == setting.target["fact"]), None)
        assert fact is not None, setting.target["fact"]
        assert setting.access == "report"
        assert fact.unit in (setting.unit, None)
        assert fact.uniform == setting.uniform


def live(_: Path) -> Machine:
    """This machine, which is only read."""
    return Machine()


def recorded(name: str) -> Callable[[Path], Machine]:
    return lambda folder: Machine(str(tree.unpack(name, folder)))


@pytest.mark.parametrize("of", [live, *map(recorded, tree.names())], ids=["live", *tree.names()])
def test_what_a_machine_says_fits_the_types(of: Callable[[Path], Machine], tmp_path: Path) -> None:
    asked = [
        {"name": setting.name, "mechanism": setting.mechanism, "target": setting.target}
        for setting in SETTINGS.values()
        if setting.mechanism in mechanisms()
    ]
    with of(tmp_path) as machine:
        found = read_all(machine, asked)
    for name, places in found.items():
        setting = SETTINGS[name]
        special = [each.value for each in setting.special]
        for place, reading in places.items():
            for value in (reading.get("value"), reading.get("startup")):
                assert value is None or value in special or fits(setting, value), f"{name} of '{place}': {value!r}"
            reason = str(reading.get("reason", ""))
            assert "unexpected" not in reason
            assert "is no " not in reason, f"{name} of '{place}': {reason}"


@EVERY
def test_it_is_never_written_where_that_reaches_beyond(setting: Setting) -> None:
    """kernel.* and vm.* can be written within a network namespace, and then hold for the host: no lab may do so."""
    key = str(setting.target.get("key", ""))
    path = str(setting.target.get("path", ""))
    everywhere = key.startswith(("kernel.", "vm.")) or (path and not path.startswith("sys/class/net/"))
    if everywhere or setting.mechanism in ("pmqos", "irq"):
        assert setting.global_in_netns
    if setting.global_in_netns:
        assert setting.tested != "netns"
        assert setting.scope not in ("netns", "nic", "queue", "job")
    if setting.tested == "netns":
        assert setting.scope in ("netns", "nic", "queue")


@EVERY
def test_it_comes_back_after_a_reboot_as_it_says(setting: Setting) -> None:
    if "sysctl" in setting.persist:
        assert setting.persist["sysctl"] == setting.target["key"]
    if "modprobe" in setting.persist:
        assert setting.persist["modprobe"] == f"{setting.target['module']} {setting.target['option']}"
    if "service" in setting.persist:
        assert setting.persist["service"] == setting.target["unit"]
    if "udev" in setting.persist:
        path = re.sub(r"\{(rx|tx)\}", r"\1-*", str(setting.target["path"]))
        assert path == f"sys/class/net/{{nic}}/{setting.persist['udev']}"
    if "tmpfiles" in setting.persist:
        assert str(setting.target["path"]).partition("{")[0] in setting.persist["tmpfiles"]
    if "job" in setting.persist and "mca" in setting.target:
        assert setting.persist["job"] == f"OMPI_MCA_{setting.target['mca']}"
    if "ethtool" in setting.persist:
        assert "<interface>" in setting.persist["ethtool"]


@EVERY
def test_its_kernels_are_versions(setting: Setting) -> None:
    for version in (setting.kernels.since, setting.kernels.inert_since):
        assert version is None or re.fullmatch(r"\d+\.\d+(\.\d+)?", version)


def test_the_papers_checklist_is_answered() -> None:
    answered = {key for setting in SETTINGS.values() for key in setting.checklist}
    assert answered == set(CHECKLIST)
    assert {"nic.adaptive_rx", "nic.rx_usecs", "nic.rx_frames"} <= {
        setting.name for setting in SETTINGS.values() if "1c" in setting.checklist
    }


def test_every_aim_is_served() -> None:
    for aim in Aim:
        assert sum(aim in setting.advice for setting in SETTINGS.values()) >= 20


@pytest.mark.parametrize("name", ["tcp.low_latency", "tcp.fack"])
def test_what_does_nothing_says_so(name: str) -> None:
    said = dict(explain(SETTINGS[name]))
    assert "inert" in " ".join(text for _, text in explain(SETTINGS[name]))
    assert said["What"]


def test_the_wheel_carries_the_catalogue() -> None:
    """The TOMLs are beside the code, in the package that the wheel takes whole."""
    pyproject = tomllib.loads((FOLDER.parents[3] / "pyproject.toml").read_text())
    wheel: dict[str, Any] = pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["src/wulf"]
    assert "exclude" not in wheel
    assert FOLDER.parts[-3:] == ("wulf", "tune", "catalogue")

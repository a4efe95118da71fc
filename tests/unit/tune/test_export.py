"""Every format against its golden files, and against the parser of whoever reads it, where that is here."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest

from tests.unit.tune.make_exports import GOLDEN, KEPT, RATE, RTT, SETTINGS, SOURCE, entry, files, kept
from tests.wording import lacking
from wulf.core.errors import UsageError
from wulf.tune.export import export
from wulf.tune.export.entry import Source, by_nodes, effect_words, entries
from wulf.tune.export.formats import format_names, formats
from wulf.tune.kept import Effect, Kept

NOT_EXPORTED = {
    "shell": {
        "nic.throttle", "cpu.isolated", "job.binding", "irq.affinity on eth0-rx-0 of eth0", "bios.profile",
        "nic.mtu on eth1",
    },
    "sysctl": {"job.binding", "irq.affinity on eth0-rx-0 of eth0", "bios.profile"},
    "ansible": {"job.binding", "irq.affinity on eth0-rx-0 of eth0", "bios.profile"},
    "warewulf": {"job.binding", "irq.affinity on eth0-rx-0 of eth0", "bios.profile", "cpu.isolated"},
    "tuned": {"job.eager", "job.binding", "irq.affinity on eth0-rx-0 of eth0", "bios.profile"},
}  # fmt: skip


def test_a_format_has_the_name_of_its_module_which_the_command_line_offers():
    assert set(format_names()) == set(formats())


@pytest.mark.parametrize("form", format_names())
def test_files_are_as_the_golden_ones(form):
    golden = {
        str(path.relative_to(GOLDEN / form)): path.read_text() for path in (GOLDEN / form).rglob("*") if path.is_file()
    }
    made = files(form)
    assert sorted(made) == sorted(golden)
    for name, text in made.items():
        assert text == golden[name], f"{form}/{name}: python -m tests.unit.tune.make_exports writes it anew"


@pytest.mark.parametrize("form", format_names())
def test_nothing_is_dropped_in_silence(form):
    made = export([entry(each) for each in KEPT], form)
    refused = {each.title for each, _ in made.refused}
    assert refused == NOT_EXPORTED[form]
    told = made.files["README.md"].partition("## Not exported")[2]
    assert all(reason and f"{each.title} (" in told for each, reason in made.refused)
    text = "".join(text for name, text in made.files.items() if name != "README.md")
    for each in map(entry, KEPT):
        assert (f"# {each.comment}" in text) == (each.title not in refused), each.title


@pytest.mark.parametrize("form", format_names())
def test_files_are_ascii(form):
    assert all(text.isascii() for text in files(form).values())


def test_effects_have_interval_unit_and_verdict(wording):
    rtt, rate = effect_words(RTT), effect_words(RATE)
    assert lacking(rtt, "rtt -18.4 µs (-18.9 to -17.8)", "faster") == []
    assert lacking(rate, "rate improved", " 3.10 % (1.20 to 5.00)", "faster") == []
    none = Effect(
        value=1e-8, low=-2e-6, high=2.02e-6, unit="s", metric="rtt", verdict="inconclusive", basis="confirmed"
    )
    unseen, open_end = effect_words(none), effect_words(RATE.model_copy(update={"high": None}))
    assert lacking(unseen, "rtt +0.0100 µs (-2.00 to +2.02)", "inconclusive") == []
    assert lacking(open_end, "rate improved", " 3.10 % (no interval)", "faster") == []
    selected = effect_words(RATE.model_copy(update={"basis": "screened"}))
    assert lacking(selected, rate, "screened") == []
    wording("\n".join((rtt, rate, unseen, open_end, selected)))
    assert entry(KEPT[1]).comment == "net.busy_poll: not measured; run 20261122T010203-tune-ab12, 2026-11-22"


def test_nodes_that_kept_the_same_are_one_group():
    alike = [
        kept("nic.mtu", 6000, 1500, "eth0", nodes="n[1-2,4]"),
        kept("nic.gro", False, True, "eth0", nodes="n[1-4]"),
    ]
    groups = by_nodes(entry(each) for each in alike)
    assert {nodes: [each.kept.name for each in its] for nodes, its in groups.items()} == {
        "n[1-2,4]": ["nic.mtu", "nic.gro"], "n3": ["nic.gro"],
    }  # fmt: skip


def test_nodes_that_differ_get_a_folder_each():
    differing = [
        kept("nic.mtu", 6000, before, "eth0", nodes=nodes) for before, nodes in ((1500, "n1"), (9000, "n[2-3]"))
    ]
    made = export([entry(each) for each in differing], "shell").files
    assert sorted(made) == ["n1/README.md", "n1/wulf-settings.sh", "n[2-3]/README.md", "n[2-3]/wulf-settings.sh"]
    assert "'1500' '6000'" in made["n1/wulf-settings.sh"]
    assert "'9000' '6000'" in made["n[2-3]/wulf-settings.sh"]


def test_without_nodes_there_is_one_group():
    made = export([entry(kept("nic.mtu", 6000, 1500, "eth0", nodes=""))], "ansible").files
    assert "default('all')" in made["apply.yml"]


def test_what_others_need_comes_first():
    first = SETTINGS["nic.gro"].model_copy(update={"needs": ("nic.mtu", "nic.absent")})
    found = entries([kept("nic.gro", False, True, "eth0"), kept("nic.mtu", 6000, 1500, "eth0")],
                    SETTINGS | {"nic.gro": first}, SOURCE)  # fmt: skip
    assert [each.kept.name for each in found] == ["nic.mtu", "nic.gro"]


def test_nothing_kept_and_unknown_words_are_refused():
    with pytest.raises(UsageError, match="kept nothing"):
        export([], "shell")
    with pytest.raises(UsageError, match="no format 'puppet'"):
        export([entry(KEPT[0])], "puppet")
    with pytest.raises(UsageError, match=r"no setting a\.b"):
        entries([Kept(name="a.b", value=1)], SETTINGS, Source("r", "d"))


# ---- what reads them


def test_the_profile_is_read_as_tuned_reads_it():
    parser = configparser.ConfigParser(delimiters=("=",), inline_comment_prefixes=("#",), strict=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(files("tuned")["wulf/tuned.conf"])
    assert parser["sysctl"]["net.ipv4.tcp_rmem"] == "4096 131072 8388608"
    assert parser["net-eth0"]["coalesce"] == "adaptive-rx off rx-usecs 0"
    assert parser["service"]["service.irqbalance"] == "stop,disable"
    assert parser.get("script", "script", raw=True) == "${i:PROFILE_DIR}/script.sh"
    assert "None" not in files("tuned")["wulf/tuned.conf"]


LINE = {
    "etc/sysctl.d/99-wulf.conf": r"[a-z0-9_./]+ = .+",
    "etc/modprobe.d/wulf.conf": r"options \w+ \w+=\S+",
    "etc/tmpfiles.d/wulf.conf": r"w /\S+ - - - - .+",
    "etc/udev/rules.d/99-wulf.rules": r'(\w+({[\w/-]+})?(==|!=|=|\+=)"[^"]*"(, )?)+',
    "etc/profile.d/wulf.sh": r"export \w+='[^']*'",
    "etc/default/grub.d/99-wulf.cfg": r'GRUB_CMDLINE_LINUX_DEFAULT="\$GRUB_CMDLINE_LINUX_DEFAULT \S+"',
}


@pytest.mark.parametrize("path", LINE)
def test_every_line_has_its_file_s_form(path):
    lines = [line for line in files("sysctl")[path].splitlines() if not line.startswith("#")]
    assert lines
    assert [line for line in lines if not re.fullmatch(LINE[path], line)] == []


def test_the_overlay_holds_the_same_lines_as_templates():
    plain, overlay = files("sysctl"), files("warewulf")
    for name, text in overlay.items():
        if name == "README.md":
            continue
        path = name.removeprefix("wulf/rootfs/").removesuffix(".ww")
        doc, unless, *rest = text.splitlines()
        assert doc.startswith("{{- /* wwdoc: ")
        assert unless == '{{- if eq (index .Tags "wulf") "off" }}{{ abort }}{{ end -}}'
        assert rest == plain[path].splitlines()


def test_the_role_is_yaml_of_known_modules():
    yaml = pytest.importorskip("yaml", reason="no PyYAML here")
    made = files("ansible")
    tasks = yaml.safe_load(made["roles/wulf/tasks/main.yml"])
    handlers = yaml.safe_load(made["roles/wulf/handlers/main.yml"])
    (play,) = yaml.safe_load(made["undo.yml"])
    for task in [*tasks, *handlers, *play["tasks"]]:
        modules = [key for key in task if "." in key]
        assert len(modules) == 1, task
        assert set(task) - set(modules) <= {"name", "register", "changed_when", "notify", "loop"}, task
    named = {handler["name"] for handler in handlers}
    assert {task["notify"] for task in tasks if "notify" in task} <= named
    copied = [task["ansible.builtin.copy"] for task in tasks if "ansible.builtin.copy" in task]
    assert all(f"roles/wulf/files/{each['src']}" in made and each["dest"] == f"/{each['src']}" for each in copied)
    removed = next(task["loop"] for task in play["tasks"] if "loop" in task)
    assert set(removed) == {*(each["dest"] for each in copied), "/etc/sysctl.d/99-wulf.conf"}
    assert [task["ansible.posix.sysctl"]["value"] for task in tasks if "ansible.posix.sysctl" in task] == [
        "4194304", "50", "4096 131072 8388608", "1",
    ]  # fmt: skip


def test_every_line_of_a_unit_is_known_to_systemd(tmp_path: Path):
    """Unknown keys are ignored by systemd with a warning alone."""
    known = {"Description", "After", "PartOf", "Wants", "ConditionPathExists", "Type", "RemainAfterExit", "ExecStart",
             "ExecStop", "Restart"}  # fmt: skip
    for name, text in files("sysctl").items():
        if name.startswith("etc/systemd/system/"):
            keys = {line.partition("=")[0] for line in text.splitlines() if line and line[0] not in "#["}
            assert keys <= known, name

"""A run may come from anybody: nothing of what it says becomes more than a value in a file that a node obeys."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.tune.make_exports import SETTINGS
from wulf.core.errors import UsageError
from wulf.tune.export import export
from wulf.tune.export.entry import OF_WORDS, Entry, Source
from wulf.tune.export.formats import formats
from wulf.tune.kept import Effect, Kept

MEANINGFUL = "$`\"'\\;&|<>(){}[]*?!~#%^\n\r\t\0\x1b \u202e…"
"""What a shell, udev, systemd, Ansible, INI or YAML gives a meaning to."""

HOSTILE = st.text(st.sampled_from(MEANINGFUL + "aZ0./-_=:,@"), max_size=12)
NAMES = sorted({"net.rmem_max", "tcp.rmem", "net.arp_ignore", "nic.mtu", "irq.rps_cpus", "mem.thp", "nic.throttle",
                "net.qdisc", "firewall.bypass", "cpu.isolated", "irq.irqbalance_enabled"})  # fmt: skip


def written(form: str, kept: Kept, source: Source) -> dict[str, str]:
    try:
        return export([Entry(SETTINGS[kept.name], kept, source)], form).files
    except UsageError:
        return {}


@pytest.mark.parametrize("form", sorted(formats()))
@given(data=st.data(), name=st.sampled_from(NAMES))
def test_a_value_or_place_with_a_meaning_of_its_own_is_in_no_file(form: str, data: st.DataObject, name: str) -> None:
    place, value, before, nodes = (data.draw(HOSTILE) for _ in range(4))
    kept = Kept(name=name, place=place, value=value, before=before, nodes=nodes)
    for path, text in written(form, kept, Source("run", "2026-11-25")).items():
        assert not PurePosixPath(path).is_absolute() and ".." not in PurePosixPath(path).parts
        for hostile in (place, value, before):
            if set(hostile) & set("$`\"'\\;&|<>(){}*?!~#%^\n\r\0\x1b\u202e…"):
                assert hostile.strip() not in text or len(hostile.strip()) < 2


@pytest.mark.parametrize("form", sorted(formats()))
@given(words=HOSTILE, run=HOSTILE, date=HOSTILE)
@example(words="a\nrm -rf /", run="a\nrm -rf /", date="a\rrm -rf /")
def test_words_about_an_effect_stay_in_their_line(form: str, words: str, run: str, date: str) -> None:
    def lines(metric: str, run: str, date: str) -> list[str]:
        effect = Effect(value=1.0, low=0.5, high=1.5, unit="s", metric=metric, verdict=metric, basis="confirmed")
        kept = Kept(name="net.rmem_max", value=1, before=2, effect=effect, nodes="n1")
        files = written(form, kept, Source(run, date))
        return [
            f"{path}: {line}" for path, text in sorted(files.items()) for line in re.split(r"\r\n|[\n\r\v\f]", text)
        ]

    told, plain = lines(words, run, date), lines("m", "r", "d")
    assert len(told) == len(plain), "no line more, and none less"
    assert all(line.isascii() and line.isprintable() for line in told)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("nodes", "../.."), ("nodes", "n1\nn2"), ("nodes", "/etc"), ("nodes", "{{ lookup('pipe', 'id') }}"),
        ("place", "eth0\"; RUN+=\"/bin/sh"), ("place", "eth0\n"), ("place", "$(id)"), ("place", "../eth0"),
        ("value", "fq\nkernel.core_pattern = |/tmp/x"), ("value", "`id`"), ("value", "%n"), ("before", "{{ x }}"),
    ],
)  # fmt: skip
def test_what_is_not_exported_is_told_why(field: str, value: str) -> None:
    kept = Kept.model_validate({"name": "tcp.rmem", "value": "1 2 3", "before": "1 2 4", "nodes": "n1", field: value})
    sound = Kept(name="net.rmem_max", value=1, before=2, nodes="n1")
    source = Source("run", "2026-11-25")
    made = export([Entry(SETTINGS[one.name], one, source) for one in (kept, sound)], "shell")
    ((entry, why),) = made.refused
    assert entry.kept == kept and repr(value) in why
    assert "net.core.rmem_max" in "".join(made.files.values()).replace("/", ".")


@pytest.mark.parametrize("form", sorted(formats()))
@pytest.mark.parametrize("name", [name for name in NAMES if SETTINGS[name].mechanism not in OF_WORDS])
@pytest.mark.parametrize("value", ["1 init=/bin/sh", "1\tx=2", "1 tx-usecs 9", " 1", "1 ", ""])
def test_a_second_word_is_no_argument_of_its_own(form: str, name: str, value: str) -> None:
    """`1 init=/bin/sh` was written to the boot loader's command line, as what a campaign had found for isolcpus."""
    sound = Kept(name="net.rmem_max", value=1, before=2, nodes="n1")
    for odd in ({"value": value, "before": 1}, {"value": 1, "before": value}):
        kept = Kept.model_validate({"name": name, "place": "rx-0 of eth0", "nodes": "n1", **odd})
        made = export([Entry(SETTINGS[one.name], one, Source("run", "2026-11-25")) for one in (kept, sound)], form)
        assert [(entry.kept.name, "is not one word" in why) for entry, why in made.refused] == [(name, True)]


def test_a_place_that_names_too_little_is_not_exported() -> None:
    kept = Kept(name="irq.rps_cpus", value="0-3", before="none", place="", nodes="n1")
    made = export([Entry(SETTINGS[kept.name], kept, Source("run", "2026-11-25"))], "tuned")
    assert [why for _, why in made.refused] == ["'' names no place in sys/class/net/{nic}/queues/{rx}/rps_cpus"]


def test_a_set_of_ten_million_nodes_is_refused_at_once() -> None:
    kept = Kept(name="net.rmem_max", value=1, before=2, nodes="n[1-10000000]")
    with pytest.raises(UsageError, match="more than 100,000 nodes"):
        export([Entry(SETTINGS[kept.name], kept, Source("run", "2026-11-25"))], "shell")

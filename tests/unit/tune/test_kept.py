from __future__ import annotations

import json

import pytest

from tests.kept import write_kept
from wulf.core.errors import UsageError
from wulf.tune.kept import Effect, Kept, KeptSettings, read_kept

RTT = Effect(value=-1.84e-5, low=-1.89e-5, high=-1.78e-5, unit="s", metric="rtt", verdict="faster", basis="confirmed")


def test_what_is_written_is_read(tmp_path):
    kept = KeptSettings(
        campaign="c1",
        kept=(
            Kept(name="nic.mtu", place="eth0", value=6000, before=1500, effect=RTT, nodes="n[1-4]"),
            Kept(name="nic.gro", place="eth0", value=False, before=True),
            Kept(name="nic.rx_usecs", place="eth0", value=0.0, before=None),
        ),
    )
    write_kept(tmp_path, kept)
    again = read_kept(tmp_path)
    assert again == kept
    assert [type(each.value) for each in again.kept] == [int, bool, float]


def test_the_contract_of_the_file(tmp_path):
    entry = {"name": "nic.mtu", "place": "eth0", "value": 6000, "before": 1500, "effect": None, "nodes": "n[1-4]"}
    (tmp_path / "kept.json").write_text(json.dumps({"campaign": "c1", "kept": [entry]}))
    assert read_kept(tmp_path).kept[0].nodes == "n[1-4]"


def test_an_effect_of_a_run_of_old_is_the_one_that_it_was_selected_by(tmp_path):
    effect = {"value": 0.37, "low": 0.35, "high": 0.39, "unit": "1", "metric": "rtt", "verdict": "faster"}
    entry = {"name": "nic.mtu", "value": 6000, "effect": effect}
    (tmp_path / "kept.json").write_text(json.dumps({"campaign": "c1", "kept": [entry]}))
    found = read_kept(tmp_path).kept[0].effect
    assert found is not None and found.basis == "screened"


def test_a_run_without_kept_settings_says_so(tmp_path):
    with pytest.raises(UsageError, match=r"kept no settings.*no kept\.json"):
        read_kept(tmp_path)


@pytest.mark.parametrize("text", ["{", '{"campaign": "c"}', '{"campaign": "c", "kept": [{"name": "a.b"}]}', "[]"])
def test_a_spoilt_file_is_refused(tmp_path, text):
    (tmp_path / "kept.json").write_text(text)
    with pytest.raises(UsageError, match="can't be read"):
        read_kept(tmp_path)

"""What `wulf tune export` and `wulf rates` write, read by those whom it is for: Ansible, udev, Prometheus.

In a Debian of its own, since their releases that check files are newer than most hosts'.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import wulf.rates
from tests.lab.containers import debian, run_inside
from tests.unit.rates.making import written
from tests.unit.tune.make_exports import KEPT, RATE, SETTINGS, SOURCE
from wulf.rates.exposition import UNREADABLE, families
from wulf.scrape.openmetrics import Form, exposition
from wulf.tune.export import export
from wulf.tune.export.entry import Entry, Source
from wulf.tune.kept import Kept

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(1800)]

PACKAGES = ("ca-certificates", "systemd", "udev", "ansible", "prometheus")
HOSTILE = "a\nb\r{{ lookup('pipe', 'id') }} {% x %} \"'\\$(id)`id` # : - !unsafe &a *a\t\x1b[31m\u202e"
"""What has a meaning to YAML, Jinja, a shell, udev or a terminal."""
FILES_ALONE = [kept for kept in KEPT if kept.name in {"nic.throttle", "job.eager", "job.binding"}]
PLAY = ("ansible-playbook", "-i", "n1,n2,n3,n4,", "-c", "local")


@pytest.fixture(scope="module")
def trixie() -> Path:
    return debian("trixie", PACKAGES)


def files(form: str, words: str | None, settings: Sequence[Kept] = KEPT) -> dict[str, str]:
    """Settings, exported; `words` stand wherever a run may say what it likes of an effect, and of itself."""
    if words is None:
        return export([Entry(SETTINGS[kept.name], kept, SOURCE) for kept in settings], form).files
    effect = RATE.model_copy(update={"metric": words, "verdict": words})
    told = [kept.model_copy(update={"effect": effect}) for kept in settings]
    return export([Entry(SETTINGS[kept.name], kept, Source(words, words)) for kept in told], form).files


def inside(root: Path, folder: Path, made: Mapping[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    """A command on these files, which are its working directory."""
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return run_inside(root, folder, *command)


@pytest.mark.parametrize("playbook", ["apply.yml", "undo.yml"])
@pytest.mark.parametrize("words", [None, HOSTILE], ids=["sound", "hostile"])
def test_ansible_takes_the_playbooks_and_finds_the_same_tasks(
    trixie: Path, tmp_path: Path, playbook: str, words: str | None
) -> None:
    done = inside(trixie, tmp_path / "own", files("ansible", words), *PLAY, "--syntax-check", playbook)
    assert done.returncode == 0, done.stdout + done.stderr
    listed = inside(trixie, tmp_path / "own", {}, *PLAY, "--list-tasks", playbook)
    plain = inside(trixie, tmp_path / "plain", files("ansible", "m"), *PLAY, "--list-tasks", playbook)
    assert "wulf" in plain.stdout
    assert listed.stdout.replace("\r", "") == plain.stdout.replace("\r", "")


@pytest.mark.parametrize("words", [None, HOSTILE], ids=["sound", "hostile"])
def test_a_run_of_ansible_writes_the_files_once_and_another_takes_them_back(
    trixie: Path, tmp_path: Path, words: str | None
) -> None:
    """Of settings that are files alone: the kernel's own are shared by all containers of a host."""
    made = files("ansible", words, FILES_ALONE)
    written_files = sorted(
        name.removeprefix("roles/wulf/files") for name in made if name.startswith("roles/wulf/files/etc/")
    )
    assert written_files == ["/etc/modprobe.d/wulf.conf", "/etc/profile.d/wulf.sh"]
    play = "ansible-playbook -i localhost, -c local -e wulf_nodes=localhost -e ansible_become=false"
    story = f"""set -e
{play} apply.yml
sha256sum {" ".join(written_files)}
{play} apply.yml | tail -2
{play} undo.yml
! ls {" ".join(written_files)}
"""
    done = inside(trixie, tmp_path, made, "sh", "-c", story)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in written_files:
        digest = hashlib.sha256(made[f"roles/wulf/files{name}"].encode()).hexdigest()
        assert f"{digest}  {name}" in done.stdout
        assert f"cannot access '{name}'" in done.stdout + done.stderr
    assert re.findall(r"changed=(\d+) .* failed=(\d+)", done.stdout)[1] == ("0", "0"), done.stdout


@pytest.mark.parametrize("form", ["sysctl", "ansible"])
@pytest.mark.parametrize("words", [None, HOSTILE], ids=["sound", "hostile"])
def test_udev_takes_the_rules(trixie: Path, tmp_path: Path, form: str, words: str | None) -> None:
    made = {Path(name).name: text for name, text in files(form, words).items() if name.endswith(".rules")}
    assert list(made) == ["99-wulf.rules"]
    done = inside(trixie, tmp_path, made, "udevadm", "verify", "/given/99-wulf.rules")
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_takes_the_rates(trixie: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WULF_RATES", str(tmp_path / "rates.json"))
    written(tmp_path / "rates.json")
    for shown in (families(wulf.rates.load(), 0.0), UNREADABLE):
        (tmp_path / "metrics").write_text(exposition(shown, Form.TEXT))
        done = run_inside(trixie, tmp_path, "sh", "-c", "promtool check metrics <metrics")
        assert done.returncode == 0, done.stdout + done.stderr

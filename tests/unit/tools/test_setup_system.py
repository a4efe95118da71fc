"""Installing system packages: with what right, in what order, and with every server kept off."""

from __future__ import annotations

from pathlib import Path

import pytest
from provision import services, system
from provision.packages import Need
from provision.runner import Done, SetupError

from tests.wording import lacking

CMAKE = Need(
    "CMake", "build", "w", "c", ("command:cmake",), {"debian": ("cmake",), "fedora": ("cmake",), "suse": ("cmake",)}
)
SSHD = Need(
    "sshd",
    "lab",
    "w",
    "c",
    ("command:sshd",),
    {"debian": ("openssh-server",), "fedora": ("openssh-server",)},
    services=("ssh.service", "ssh.socket"),
)
KNOWN = (
    "cmake:\n  Installed: (none)\n  Candidate: 3.25.1-1\nopenssh-server:\n  Installed: (none)\n  Candidate: 1:9.2p1-2\n"
)
POLICY = "usr/sbin/policy-rc.d"


@pytest.fixture
def debian(make_host, script):
    """A Debian that knows both packages, has neither, and copies files when `install` is called."""
    script.on("apt-cache", "policy", output=KNOWN)
    script.on("dpkg-query", status=1)

    def copy(argv):
        Path(argv[-1]).parent.mkdir(parents=True, exist_ok=True)
        Path(argv[-1]).write_text(Path(argv[-2]).read_text())
        return Done(0)

    def remove(argv):
        Path(argv[-1]).unlink(missing_ok=True)
        return Done(0)

    script.call(["install", "-m", "755"], copy)
    script.call(["rm", "-f"], remove)
    return make_host(programs=["apt-get", "systemctl"], files=["/usr/lib/systemd/system/ssh.service"])


def test_root_needs_no_sudo(script, make_host) -> None:
    assert system.elevation(script, make_host(), uid=0) == ()
    assert script.commands == []


def test_sudo_is_used_only_when_it_asks_nothing(script, make_host) -> None:
    assert system.elevation(script, make_host(), uid=1000) is None
    host = make_host(programs=["sudo"])
    assert system.elevation(script, host, uid=1000) == ("sudo", "-n")
    script.on("sudo", "-n", "true", status=1)
    assert system.elevation(script, host, uid=1000) is None


def test_known_packages_are_installed_without_fetching_the_lists(script, debian, tmp_path: Path) -> None:
    system.install(script, debian, [CMAKE], (), tmp_path / "updated")
    assert not script.ran("update")
    (command,) = script.ran("apt-get", "install")
    assert {"DEBIAN_FRONTEND=noninteractive", "--no-install-recommends", "cmake"} <= set(command)


def test_sudo_stands_before_every_command_that_changes_the_system(script, debian, tmp_path: Path) -> None:
    system.install(script, debian, [CMAKE, SSHD], ("sudo", "-n"), tmp_path / "updated")
    changing = [c for c in script.commands if c[0] not in ("apt-cache", "dpkg-query")]
    assert changing
    assert all(command[:2] == ["sudo", "-n"] for command in changing)


def test_an_unknown_package_fetches_the_lists_once_and_is_then_left_out(script, debian, tmp_path: Path) -> None:
    odd = Need("odd", "build", "w", "c", (), {"debian": ("no-such-package",)})
    for _ in range(2):
        system.install(script, debian, [CMAKE, odd], (), tmp_path / "updated")
    assert len(script.ran("update")) == 1
    assert all("no-such-package" not in command for command in script.ran("apt-get", "install"))
    assert any(lacking(line, "package sources", ": no-such-package") == [] for line in script.said)


def test_a_failed_installation_is_tried_again_with_new_lists(script, debian, tmp_path: Path) -> None:
    answers = iter([Done(100, "404 Not Found"), Done(0)])
    script.call(["env"], lambda argv: next(answers))
    system.install(script, debian, [CMAKE], (), tmp_path / "updated")
    assert [c[0] for c in script.commands if "update" in c or "install" in c] == ["env", "apt-get", "env"]


def test_an_installation_that_fails_twice_says_why(script, debian, tmp_path: Path) -> None:
    script.on("env", status=100, output="E: No space left on device")
    with pytest.raises(SetupError, match="No space left on device"):
        system.install(script, debian, [CMAKE], (), tmp_path / "updated")


def test_no_server_starts_or_stays_enabled(script, debian, tmp_path: Path) -> None:
    policy = debian.root / POLICY
    during = []

    def apt(argv):
        during.append(policy.read_text())
        return Done(0)

    script.call(["env"], apt)
    system.install(script, debian, [SSHD], (), tmp_path / "updated")
    assert during[0].splitlines()[0] == "#!/bin/sh"
    assert during[0].splitlines()[-1] == "exit 101"
    assert not policy.exists()
    assert script.ran("systemctl", "disable") == [["systemctl", "disable", "ssh.service"]]


def test_a_running_systemd_is_told_to_stop_the_server_too(script, debian, tmp_path: Path) -> None:
    (debian.root / "run/systemd/system").mkdir(parents=True)
    system.install(script, debian, [SSHD], (), tmp_path / "updated")
    assert script.ran("systemctl", "disable", "--now", "ssh.service")


def test_the_policy_goes_when_the_installation_fails(script, debian, tmp_path: Path) -> None:
    script.on("env", status=100)
    with pytest.raises(SetupError):
        system.install(script, debian, [SSHD], (), tmp_path / "updated")
    assert not (debian.root / POLICY).exists()
    assert script.ran("systemctl", "disable")


def test_a_server_that_was_installed_before_is_left_as_it_is(script, debian, tmp_path: Path) -> None:
    script.rules.insert(0, (("dpkg-query",), Done(0, "installed")))
    system.install(script, debian, [SSHD], (), tmp_path / "updated")
    assert not script.ran("systemctl")


def test_what_a_killed_set_up_left_is_mended_by_the_next(script, debian) -> None:
    policy = debian.root / POLICY
    policy.parent.mkdir(parents=True, exist_ok=True)
    policy.write_text(f"#!/bin/sh\n{services.MARK} ssh.service ssh.socket\nexit 101\n")
    services.recover(script, debian, ())
    assert script.ran("systemctl", "disable", "ssh.service")
    assert not policy.exists()


@pytest.mark.parametrize(("status", "left_out"), [(101, False), (0, True), (104, True)])
def test_a_policy_of_the_hosts_own_is_asked_and_kept(
    script, debian, tmp_path: Path, status: int, left_out: bool
) -> None:
    policy = debian.root / POLICY
    policy.parent.mkdir(parents=True, exist_ok=True)
    policy.write_text("#!/bin/sh\n# the site's own\n")
    script.on(str(policy), "ssh", "start", status=status)
    system.install(script, debian, [SSHD], (), tmp_path / "updated")
    assert bool(script.ran("apt-get", "install")) is not left_out
    assert "the site's own" in policy.read_text()


@pytest.mark.parametrize(
    ("os_release", "tool", "words"),
    [
        ("ID=fedora\n", "dnf", ("dnf", "install", "-y")),
        ('ID="opensuse-leap"\n', "zypper", ("zypper", "--non-interactive")),
    ],
)
def test_other_distributions_use_their_own_tool(
    script, make_host, tmp_path: Path, os_release: str, tool: str, words
) -> None:
    system.install(script, make_host(os_release), [CMAKE], (), tmp_path / "updated")
    assert script.commands == []
    system.install(script, make_host(os_release, programs=[tool]), [CMAKE], (), tmp_path / "updated")
    assert script.ran(*words)


def test_a_secret_that_is_not_there_is_made_before_its_package_is_installed(script, make_host) -> None:
    munge = Need(
        "munge", "slurm", "w", "c", ("command:munged",), {"debian": ("munge",)}, secrets=("/etc/munge/munge.key",)
    )
    host = make_host()
    script.on("test", "-e", status=1)
    seen = []

    def take(argv):
        seen.append(Path(argv[-2]).read_bytes())
        return Done(0)

    script.call(["install"], take)
    system.make_secrets(script, host, (), [munge, CMAKE])
    ((secret),) = seen
    assert len(secret) == system.SECRET_BYTES
    assert len(set(secret)) > 16
    assert [command[:4] for command in script.ran("install")] == [["install", "-D", "-m", "400"]]
    assert script.commands[-1][-1] == str(host.root / "etc/munge/munge.key")


def test_a_secret_that_is_there_stays(script, make_host) -> None:
    munge = Need("munge", "slurm", "w", "c", (), {"debian": ("munge",)}, secrets=("/etc/munge/munge.key",))
    system.make_secrets(script, make_host(), ("sudo", "-n"), [munge])
    assert [command[:3] for command in script.commands] == [["sudo", "-n", "test"]]

"""The scripts that ssh runs on a node, run here by the shells that a node may have."""

import platform
import shutil
import stat
import subprocess
from dataclasses import replace

import pytest

from wulf.cluster.programs import Program
from wulf.cluster.ssh import scripts as node_scripts
from wulf.cluster.ssh.scripts import NodeCommand

# How sshd runs a command: the user's login shell with -c.
LOGIN_SHELLS = ["sh", "bash", "dash", "zsh", "mksh", "tcsh", "fish"]


@pytest.fixture(params=LOGIN_SHELLS)
def shell(request, tmp_path):
    path = shutil.which(request.param)
    if path is None:
        pytest.skip(f"{request.param} is not installed")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "my home")}
    (tmp_path / "my home").mkdir()

    def run(command, stdin=b""):
        return subprocess.run(
            [path, "-c", command], input=stdin, capture_output=True, env=environment, timeout=20, check=False
        )

    return run


@pytest.fixture
def native(tmp_path):
    path = tmp_path / "native"
    path.write_text('#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "native $#"\ncat\n')
    return Program.of(path, "wulf-x", platform.machine())


@pytest.fixture
def python(tmp_path):
    path = tmp_path / "script"
    path.write_text("import sys\nprint('python', sys.stdin.read())\n")
    return Program.of(path, "wulf-y", python=True)


def install(shell, program):
    return shell(NodeCommand(program).copy(node_scripts.HOME), program.path.read_bytes())


def test_the_scripts_are_one_word_for_every_shell(native):
    for command in (NodeCommand(native).start, NodeCommand(native).copy(node_scripts.HOME)):
        script = command.split("'")[1]
        assert command.count("'") == 2
        assert "\n" not in script
        assert "\\" not in script
        assert "!" not in script.replace("! -L", "").replace("!= ", "").replace("#!", "")


def test_missing_then_copied_then_started(shell, native, tmp_path):
    assert shell(NodeCommand(native).start).returncode == node_scripts.NEEDS_COPY
    copied = install(shell, native)
    assert copied.returncode == 0, copied
    directory = tmp_path / "my home" / ".cache" / "wulf" / "bin"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert [entry.name for entry in directory.iterdir()] == [f"wulf-x-{native.digest}"]
    started = shell(NodeCommand(native).start, b"hello\n")
    assert (started.returncode, started.stdout, started.stderr) == (0, b"native 0\nhello\n", b"")


def test_a_python_program(shell, python):
    assert install(shell, python).returncode == 0
    started = shell(NodeCommand(python).start, b"hello")
    assert (started.returncode, started.stdout) == (0, b"python hello\n")


@pytest.mark.parametrize(("user", "asked"), [(0, False), (1000, True)])
def test_a_program_that_needs_root_asks_sudo_only_where_the_login_is_not_root(python, tmp_path, user, asked):
    """Without a password (-n): nobody is there to be asked."""
    fakes = tmp_path / "fakes"
    fakes.mkdir()
    for name, text in (("id", f"echo {user}"), ("sudo", 'echo "sudo $1"; shift; exec "$@"')):
        (fakes / name).write_text(f"#!/bin/sh\n{text}\n")
        (fakes / name).chmod(0o755)
    (tmp_path / "home").mkdir()
    environment = {"PATH": f"{fakes}:/usr/bin:/bin", "HOME": str(tmp_path / "home")}

    def run(command, stdin):
        return subprocess.run(
            ["sh", "-c", command], input=stdin, capture_output=True, env=environment, timeout=20, check=False
        )

    program = replace(python, root=True)
    assert run(NodeCommand(program).copy(node_scripts.HOME), program.path.read_bytes()).returncode == 0
    started = run(NodeCommand(program).start, b"hello")
    assert started.stdout == (b"sudo -n\n" if asked else b"") + b"python hello\n"


def test_a_copy_that_arrives_damaged_is_not_kept(shell, native, tmp_path):
    copied = shell(NodeCommand(native).copy(node_scripts.HOME), native.path.read_bytes()[:-1])
    assert copied.returncode == node_scripts.CORRUPT
    assert list((tmp_path / "my home" / ".cache" / "wulf" / "bin").iterdir()) == []


def test_a_copy_that_was_changed_is_not_started(shell, native, tmp_path):
    install(shell, native)
    next((tmp_path / "my home" / ".cache" / "wulf" / "bin").iterdir()).write_text("#!/bin/sh\necho evil\n")
    started = shell(NodeCommand(native).start)
    assert (started.returncode, started.stdout) == (node_scripts.NEEDS_COPY, b"")


def test_a_cache_behind_a_link_is_not_used(shell, native, tmp_path):
    (tmp_path / "my home" / ".cache" / "wulf").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "my home" / ".cache" / "wulf" / "bin").symlink_to(tmp_path / "elsewhere")
    assert install(shell, native).returncode == node_scripts.NO_PLACE
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_another_machine(shell, native):
    foreign = Program(native.name, native.path, native.digest, "pdp11")
    started = shell(NodeCommand(foreign).start)
    assert started.returncode == node_scripts.WRONG_ARCH
    assert started.stderr.decode() == f"wulf-arch: {platform.machine()}\n"

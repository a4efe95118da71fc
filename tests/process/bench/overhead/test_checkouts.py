import subprocess
import time
from pathlib import Path

import pytest
from bench.engine.errors import BenchError
from bench.overhead import checkouts


def test_a_build_has_its_seconds(tmp_path):
    made = tmp_path / "made"
    assert 0 < checkouts.run(["sh", "-c", f'echo words; echo "$CCACHE_DISABLE" > {made}']) < 60
    assert made.read_text() == "1\n"


def test_a_build_that_fails_is_an_error_with_its_last_words():
    with pytest.raises(BenchError, match=r"ended with 3: out\nerr$"):
        checkouts.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    with pytest.raises(BenchError, match=r"no-such-command did not run: .*No such file"):
        checkouts.run(["no-such-command"])


def test_a_build_that_is_given_up_leaves_no_compiler_behind(tmp_path, monkeypatch):
    note = tmp_path / "pid"

    class Impatient(subprocess.Popen):
        def wait(self, timeout=None):
            if timeout is None:
                return super().wait()
            while not (note.exists() and note.read_text().endswith("\n")):
                time.sleep(0.01)
            raise subprocess.TimeoutExpired(self.args, timeout)

    monkeypatch.setattr(subprocess, "Popen", Impatient)
    # as wulf's agent starts compilers: in a session of their own
    with pytest.raises(BenchError, match="did not end within 1800 s"):
        checkouts.run(["sh", "-c", f"setsid sh -c 'echo $$ > {note}; exec sleep 600' & wait"])
    assert not Path("/proc", note.read_text().strip()).exists()


def test_git_that_fails_is_an_error_with_its_words():
    with pytest.raises(BenchError, match=r"^git cat-file ended with [1-9]"):
        checkouts.git("cat-file", "-e", "no-such-object")
    assert checkouts.git("--version").startswith(b"git version")


@pytest.mark.parametrize("commit", ["ours", "base"])
def test_both_commits_modules_are_found_where_they_have_them(tmp_path, commit):
    if commit == "ours":
        checkouts.copy_ours(tmp_path / commit)
    else:
        try:
            checkouts.unpack_base(tmp_path / commit)
        except BenchError as error:
            pytest.skip(f"no commit to compare with: {error}")
    place = tmp_path / "place"
    place.mkdir()
    words = [*checkouts.CHILD, "mpi", str(tmp_path / commit), str(place), "/absent/mpicxx", "/absent/mpirun"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "can't be built" in done.stderr
    assert ("/absent/mpicxx: No such file" in done.stderr) == (commit == "ours")  # the older one does not say what of

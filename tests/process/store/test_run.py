"""Runs on disk: exclusive, append-only, readable after kill -9 and on a full disk."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

from wulf.store.run import read_meta, read_run


def test_kill_9_leaves_a_readable_run_and_frees_the_lock(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from tests.unit.store.test_run import record, replicate
        from wulf.store.run import RunWriter
        writer = RunWriter(Path(sys.argv[1]), "survey", {"seed": 1})
        writer.append(record(writer.id))
        writer.append_replicate(replicate(0))
        print("ready", flush=True)
        time.sleep(60)
        """
    )
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "run")], stdout=subprocess.PIPE, cwd=root
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert read_run(tmp_path / "run").being_written
        process.send_signal(signal.SIGKILL)
    run = read_run(tmp_path / "run")
    assert not run.being_written
    assert (len(run.records), len(run.replicates)) == (1, 1)
    assert read_meta(tmp_path / "run")["state"] == "cut short"

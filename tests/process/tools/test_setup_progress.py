"""What is shown of a command that takes long."""

from __future__ import annotations

import io
import sys

from provision.runner import Shell

from tests.unit.tools.test_setup_progress import Screen


def test_the_output_of_a_command_is_whole_whatever_it_is_made_of() -> None:
    log = io.StringIO()
    code = "import sys; sys.stdout.buffer.write('één\\n'.encode() * 3 + b'\\xff no newline')"
    done = Shell(log, Screen(live=False)).run([sys.executable, "-c", code])
    assert done.ok
    assert done.output == "één\n" * 3 + "\ufffd no newline"
    assert done.output in log.getvalue()


def test_a_program_that_is_not_there_is_a_failure_with_its_reason() -> None:
    done = Shell(io.StringIO(), Screen(live=False)).run(["/no/such/program"])
    assert done.status == 127
    assert "/no/such/program" in done.output

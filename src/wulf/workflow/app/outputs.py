"""What applications wrote, kept in their run's folder: outputs/0001-n1.txt and so on, the newest number last."""

from __future__ import annotations

from pathlib import Path

from wulf.apps.ran import Ran
from wulf.core.errors import UsageError
from wulf.core.files import folder, replace_file

FOLDER = "outputs"


def keep_output(run: Path, subject: str, ran: Ran) -> Path:
    """Write down one run's output beside its records.

    Raises
    ------
    UsageError
        The disk is full, or there is no permission.
    """
    number = len(list((run / FOLDER).glob("*"))) + 1
    name = Path(FOLDER, f"{number:04d}-{subject.replace('/', '_')}.txt")
    try:
        with folder(run) as below:
            replace_file(name, text_of(ran), below=below)
    except OSError as error:
        raise UsageError(f"{run / name} can't be written: {error.strerror}", "free some space") from error
    return run / name


def text_of(ran: Ran) -> str:
    """Verdict, then everything that it wrote, part by part."""
    parts = {"standard output": ran.stdout, "standard error": ran.stderr, **ran.files}
    head = f"{ran.verdict}{f': {ran.reason}' if ran.reason else ''}\n"
    return head + "".join(f"\n==> {name} <==\n{text}" for name, text in parts.items() if text)

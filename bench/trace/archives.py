"""A public trace's files: which they are, fetched by git, and printed where only a tool of their own can read them."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.engine.errors import BenchError
from wulf.trace.imports import NAMES, OPTIONS

GITHUB = "https://github.com"

PATIENCE = 600.0
"""Seconds for one command of git, or of a printer."""

PRINTERS = {"otf2-print": ("otf2-print", "-A"), "dumpi2ascii": ("dumpi2ascii", "-SX"), "gzip": ("gzip", "-dc")}
"""Printer → the command that prints one file."""


@dataclass(frozen=True)
class Entry:
    """A public trace.

    Attributes
    ----------
    name
        What it is called in the table.
    repository, commit
        Where it lies at GitHub: OWNER/NAME, and which state of it, in full.
    paths
        Files, folders or patterns that are fetched.
    format
        As which `wulf trace import` reads it.
    files
        Patterns of what the import is given; empty: all of `paths`.
    options
        Of the import.
    printer
        The tool that makes text of each of `files` first; "": it is text.
    """

    name: str
    repository: str
    commit: str
    paths: tuple[str, ...]
    format: str
    files: tuple[str, ...] = ()
    options: Mapping[str, float] = field(default_factory=dict)
    printer: str = ""

    @property
    def source(self) -> str:
        """For people: repository, state and place."""
        return f"{self.repository}@{self.commit[:7]}: {', '.join(self.paths)}"


def entries_of(text: str) -> list[Entry]:
    """The traces that a list names.

    Raises
    ------
    BenchError
        A field is missing or unknown, a name stands there twice, or a format, option or printer is none.
    """
    try:
        entries = [_entry(one) for one in tomllib.loads(text).get("traces", [])]
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise BenchError(f"the list of traces can't be read: {error}") from error
    names = [one.name for one in entries]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise BenchError(f"the list names {double!r} twice")
    return entries


def _entry(given: Mapping[str, object]) -> Entry:
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    entry = Entry(**fields)
    if entry.format not in NAMES or (entry.printer and entry.printer not in PRINTERS):
        raise BenchError(f"{entry.name}: there is no format {entry.format!r}, or no printer {entry.printer!r}")
    if unknown := entry.options.keys() - OPTIONS.get(entry.format, frozenset()):
        raise BenchError(f"{entry.name}: {entry.format} takes no option {sorted(unknown)[0]!r}")
    return entry


def fetched(entry: Entry, into: Path, mirrors: Path | None = None) -> None:
    """Bring an entry's files into a folder, as they lie in its repository.

    Parameters
    ----------
    mirrors
        Folder of repositories, each as OWNER+NAME/repo; None: from GitHub.

    Raises
    ------
    BenchError
        There is no such repository, state or file, or no network.
    """
    if mirrors is None:
        from_remote(f"{GITHUB}/{entry.repository}", entry.commit, entry.paths, into)
    else:
        from_mirror(mirrors / entry.repository.replace("/", "+") / "repo", entry.commit, entry.paths, into)


def from_remote(url: str, commit: str, paths: Sequence[str], into: Path) -> None:
    """Of one state of a repository elsewhere these paths alone: no history, and no other file's content."""
    git = ("git", "-C", str(into))
    ran(["git", "init", "--quiet", str(into)])
    ran([*git, "remote", "add", "origin", url])
    ran([*git, "sparse-checkout", "set", "--no-cone", *(f"/{path}" for path in paths)])
    ran([*git, "fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", commit])
    ran([*git, "checkout", "--quiet", "FETCH_HEAD"])


def from_mirror(repository: Path, commit: str, paths: Sequence[str], into: Path) -> None:
    """The same of a repository that lies here, which is only read."""
    if not repository.is_dir():
        raise BenchError(f"no mirror is there: {repository.parent.name}")
    packed = ran(["git", "-C", str(repository), "archive", "--format=tar", commit, "--", *paths])
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:  # git's own: files alone, by names within; extractall's filter is not in Python 3.11.2
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                (into / member.name).parent.mkdir(parents=True, exist_ok=True)
                (into / member.name).write_bytes(content.read())


def given_files(entry: Entry, folder: Path) -> list[Path]:
    """What the import is given of what was fetched. BenchError where a pattern fits nothing."""
    found: list[Path] = []
    for pattern in entry.files or entry.paths:
        fitting = sorted(folder.glob(pattern))
        if not fitting:
            raise BenchError(f"nothing of {pattern} was fetched")
        found += fitting
    return found


def printed(entry: Entry, files: Sequence[Path], into: Path) -> list[Path]:
    """The files as texts, by the entry's printer. BenchError where it is not installed, or refuses one."""
    if not entry.printer:
        return list(files)
    command = PRINTERS[entry.printer]
    if shutil.which(command[0]) is None:
        raise BenchError(f"not read: {command[0]} is not installed, which alone reads its binary files")
    texts = []
    for file in files:
        text = into / f"{file.stem}.txt"
        text.write_bytes(ran([*command, str(file)]))
        texts.append(text)
    return texts


def ran(words: Sequence[str]) -> bytes:
    """What a command prints. BenchError with its last words where it fails, or asks for a password."""
    quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(
            words, capture_output=True, check=False, env=quiet, stdin=subprocess.DEVNULL, timeout=PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BenchError(f"{words[0]} did not run: {error}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["without a word"]
        raise BenchError(f"{Path(words[0]).name}: {said[-1]}")
    return done.stdout

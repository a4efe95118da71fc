"""Builds a program from a source tree that the user names on this node, in a copy of it, once for each recipe."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wulf.agent.mpi.files import digest_of, put
from wulf.agent.processes import children
from wulf.agent.session import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

WORDS = 12
"""Lines of a failed command's output that the error quotes."""

_SKIPPED = shutil.ignore_patterns(".git", ".hg", ".svn")


def tree_build(  # noqa: PLR0917 - the fields of a request
    source: Any,
    needs: Any,
    files: Any,
    commands: Any,
    product: Any,
    place: Any,
    timeout: Any,
    environment: Any = None,
    uses: Any = (),
) -> dict[str, Any]:
    """{"op": "tree_build", "source": "/home/me/hpl-2.3", …}: the path of what was built, and its digest.

    "kept": whether it was there from before; "seconds" that it took.

    Parameters
    ----------
    needs
        Names that a tree of this kind has.
    files
        Name → text, written into the copy before; "@FOLDER@" stands for the copy's own path.
    commands
        Command lines, run there one after the other, each for at most `timeout` seconds.
    product
        The file that they make.
    place
        A folder that the built program is kept in, named by tree and recipe.
    environment
        Variables of the commands.
    uses
        Paths of compilers and libraries: another one there since is another recipe.

    Raises
    ------
    Refused
        It is no such tree; a command fails: with its last words.
    """
    tree = Path(str(source))
    missing = [name for name in needs if not (tree / name).exists()]
    if missing:
        raise Refused("bad-parameter", f"{tree} on this node has no {', no '.join(missing)}", "source")
    variables = environment or {}
    key = _key(tree, [files, commands, variables, [_version(path) for path in uses]])
    target = Path(place, f"tree-{key}", Path(product).name)
    kept = digest_of(target) is not None
    start = time.monotonic()
    if not kept:
        _build(tree, target, files, commands, product, {**os.environ, **variables}, timeout)
    return {"path": str(target), "digest": digest_of(target), "kept": kept, "seconds": time.monotonic() - start}


def file_digest(path: Any) -> dict[str, Any]:
    """{"op": "file_digest", "path": …}: the digest of a file of ours, or null."""
    return {"digest": digest_of(Path(str(path)))}


def _key(tree: Path, recipe: Any) -> str:
    """Names a build: another recipe, or a tree that was changed since, gives another name."""
    newest = max((_changed(Path(folder, name)) for folder, _, names in os.walk(tree) for name in names), default=0)
    words = json.dumps([str(tree.resolve()), newest, recipe], sort_keys=True)
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def _changed(path: Path) -> int:
    return path.lstat().st_mtime_ns


def _version(path: str) -> list[Any]:
    """What tells a file from a later one of its name, which a package's update brings."""
    try:
        status = Path(path).stat()
    except OSError:  # a name that is looked for in the PATH
        return [path]
    return [os.path.realpath(path), status.st_size, status.st_mtime_ns]


def _build(  # noqa: PLR0917 - the fields of a request
    tree: Path, target: Path, files: Any, commands: Any, product: str, environment: Mapping[str, str], timeout: float
) -> None:
    above = target.parent.parent
    copy = None
    try:
        above.mkdir(parents=True, exist_ok=True)
        copy = Path(tempfile.mkdtemp(prefix=".tree-", dir=above))
        shutil.copytree(tree, copy, symlinks=True, ignore=_SKIPPED, dirs_exist_ok=True)
        for name, text in files.items():
            (copy / name).write_text(text.replace("@FOLDER@", str(copy)))
        for command in commands:
            _run(command, copy, environment, timeout)
        if not (copy / product).is_file():
            raise Refused("compile", f"{_words(commands[-1])} ended well in a copy of {tree}, but made no {product}")
        put(target, (copy / product).read_bytes())
    except (OSError, shutil.Error) as error:
        raise Refused("limit", f"{tree} can't be copied and built in {above}: {error}") from error
    finally:
        if copy is not None:
            shutil.rmtree(copy, ignore_errors=True)


def _run(command: list[str], folder: Path, environment: Mapping[str, str], timeout: float) -> None:
    try:
        done = children.run(command, folder=folder, environment=environment, timeout=timeout, joined=True)
    except FileNotFoundError as error:
        raise Refused("compile", f"there is no {command[0]} on this node") from error
    except subprocess.TimeoutExpired as error:
        raise Refused("timeout", f"{_words(command)} had not ended after {timeout:g} s") from error
    if done.returncode != 0:
        last = "\n".join(done.stdout.strip().splitlines()[-WORDS:])
        raise Refused("compile", f"{_words(command)} ended with status {done.returncode}; its last words:\n{last}")


def _words(command: list[str]) -> str:
    return " ".join(command)

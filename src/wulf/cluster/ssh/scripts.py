"""What ssh runs on a node, in POSIX sh: start a program from the node's private cache, or put it there.

A login shell of any kind (csh, fish) gets each script as one quoted word. So the scripts are one line, without single
quotes, backslashes, or "!" before a letter.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from wulf.cluster.programs import Program

NO_HASH, CORRUPT, NO_PLACE, NEEDS_COPY, WRONG_ARCH, NO_PYTHON = 93, 94, 96, 97, 98, 99
"""Exit statuses of the scripts; ssh has 255 for itself, the shell 126 and up."""

PYTHONS = "python3 python3.13 python3.12 python3.11 python3.10 python3.9"
"""Where a Python of 3.9 or newer is looked for: RHEL 8's python3 is 3.6."""

HOME, FALLBACK = "home", "tmp"
"""The two places of the cache: ~/.cache/wulf/bin, and /tmp/wulf-<uid> where that can't be used."""

PLACE, ARCH = "wulf-place: ", "wulf-arch: "
"""What the lines on standard error begin with that are for wulf and not for people."""

_CACHE = 'c=$XDG_CACHE_HOME; case "$c" in /*) ;; *) c=$HOME/.cache;; esac;'
"""A relative one is ignored, as the XDG Base Directory specification asks, and as the agent does."""

_PLACES = '"$c/wulf/bin" "/tmp/wulf-$(id -u)"'

# A directory or file of somebody else's is passed over, as is what a link leads to: /tmp is everybody's.
_START = " ".join(
    f"""
name=$1 digest=$2 arch=$3 run=$4; shift 4;
here=$(uname -m);
if [ "$arch" != any ] && [ "$arch" != "$here" ]; then echo "{ARCH}$here" >&2; exit {WRONG_ARCH}; fi;
{_CACHE}
for d in {_PLACES}; do
  f=$d/$name-$digest;
  [ -O "$d" ] && [ ! -L "$d" ] && [ -f "$f" ] && [ -O "$f" ] || continue;
  found=$(sha256sum <"$f"); [ "${{found%% *}}" = "$digest" ] || continue;
  if [ "$run" = exec ]; then exec "$f" "$@"; fi;
  as=; if [ "$run" = root ] && [ "$(id -u)" != 0 ]; then as="sudo -n"; fi;
  for p in {PYTHONS}; do
    command -v $p >/dev/null && $p -c "import sys; sys.exit(sys.version_info < (3, 9))" && exec $as $p "$f" "$@";
  done;
  exit {NO_PYTHON};
done;
exit {NEEDS_COPY}
""".split()
)

# Written under another name and moved when whole, so that a start never sees half a file and copies can run at once
# (as they do where nodes share a home). Versions that have lain there for 30 days go.
_COPY = " ".join(
    f"""
LC_ALL=C; export LC_ALL; umask 077;
name=$1 digest=$2 run=$3 place=$4; t=;
clean() {{ rm -f "$t"; }}; trap clean EXIT; trap "exit 129" HUP INT TERM;
{_CACHE}
if [ "$place" = {HOME} ]; then d=$c/wulf/bin; else d=/tmp/wulf-$(id -u); fi;
echo "{PLACE}$d" >&2;
command -v sha256sum >/dev/null || exit {NO_HASH};
mkdir -p "$d" || exit {NO_PLACE};
if [ -O "$d" ] && [ ! -L "$d" ]; then chmod 700 "$d"; else echo "belongs to somebody else" >&2; exit {NO_PLACE}; fi;
t=$(mktemp "$d/.$name.XXXXXX") || exit {NO_PLACE};
cat >"$t" || exit {NO_PLACE};
set -- $(sha256sum <"$t"); [ "$1" = "$digest" ] || exit {CORRUPT};
chmod 700 "$t";
if [ "$run" = exec ]; then "$t" --version </dev/null >/dev/null 2>&1;
  if [ $? = 126 ]; then echo "mounted noexec" >&2; exit {NO_PLACE}; fi;
fi;
mv -f "$t" "$d/$name-$digest" || exit {NO_PLACE};
find "$d" -type f -mtime +30 -exec rm -f {{}} + 2>/dev/null; exit 0
""".split()
)


@dataclass(frozen=True)
class NodeCommand:
    """The command lines for one program."""

    program: Program

    @property
    def start(self) -> str:
        """Become the program; or exit with what is missing."""
        return _command(
            _START, self._name, self.program.digest, self.program.arch or "any", self._run, *self.program.arguments
        )

    def copy(self, place: str) -> str:
        """Put standard input into the cache, verified."""
        return _command(_COPY, self._name, self.program.digest, self._run, place)

    @property
    def _name(self) -> str:
        return self.program.name

    @property
    def _run(self) -> str:
        if self.program.root:
            return "root"
        return "python" if self.program.python else "exec"


def _command(script: str, *arguments: str) -> str:
    # "exec sh -c" is understood alike by sh, csh and fish
    return f"exec sh -c '{script}' wulf " + " ".join(shlex.quote(argument) for argument in arguments)

"""The needs of packages.toml: what is there, what is missing, what it is called on each distribution."""

from __future__ import annotations

import importlib.util
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from provision.runner import SetupError

FAMILIES = {"debian": "Debian, Ubuntu", "fedora": "Fedora, RHEL", "suse": "openSUSE"}
INSTALL = {
    "debian": ("apt-get", "install", "-y", "--no-install-recommends"),
    "fedora": ("dnf", "install", "-y", "--setopt=install_weak_deps=False"),
    "suse": ("zypper", "--non-interactive", "install", "--no-recommends"),
}
GROUPS = (
    "build", "lab", "qemu", "mpi", "slurm", "test", "lint", "format", "bench", "browser", "cross", "packages", "docs",
)  # fmt: skip
RULES = ("command", "file", "python")
SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


@dataclass(frozen=True)
class Need:
    """One thing that wulf needs from the system; packages.toml explains the fields."""

    name: str
    group: str
    why: str
    without: str
    present: tuple[str, ...] = ()
    packages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    wheel: str | None = None
    sdist: str | None = None
    npm: str | None = None
    sha256: str | None = None
    unpack: bool = False
    services: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


def read_needs(path: Path) -> list[Need]:
    """Read packages.toml; an unknown or missing field is an error that names it."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("need", [])
    except tomllib.TOMLDecodeError as error:
        raise SetupError(f"{path}: {error}") from error
    return [_need(path, entry) for entry in entries]


def _need(path: Path, entry: dict[str, object]) -> Need:
    where = f"{path}: need {entry.get('name', '?')!r}"
    required = {"name", "group", "why", "without", "present"}
    known = {*required, "wheel", "sdist", "npm", "sha256", "unpack", "services", "secrets", *FAMILIES}
    if unknown := sorted(set(entry) - known):
        raise SetupError(f"{where}: unknown field {unknown[0]!r}")
    if absent := sorted((required | ({"sha256"} if {"sdist", "npm"} & set(entry) else set())) - set(entry)):
        raise SetupError(f"{where}: field {absent[0]!r} is missing")
    if entry["group"] not in GROUPS:
        raise SetupError(f"{where}: group {entry['group']!r} is none of {', '.join(GROUPS)}")
    present = _words(entry, "present")
    for rule in present:
        if rule.partition(":")[0] not in RULES:
            raise SetupError(f"{where}: present {rule!r} starts with none of {', '.join(RULES)}")
    return Need(
        name=str(entry["name"]),
        group=str(entry["group"]),
        why=str(entry["why"]),
        without=str(entry["without"]),
        present=present,
        packages={family: _words(entry, family) for family in FAMILIES if family in entry},
        wheel=_word(entry, "wheel"),
        sdist=_word(entry, "sdist"),
        npm=_word(entry, "npm"),
        sha256=_word(entry, "sha256"),
        unpack=bool(entry.get("unpack", False)),
        services=_words(entry, "services"),
        secrets=_words(entry, "secrets"),
    )


def _word(entry: Mapping[str, object], name: str) -> str | None:
    return str(entry[name]) if name in entry else None


def _words(entry: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = entry.get(name, [])
    return tuple(str(word) for word in value) if isinstance(value, list) else (str(value),)


@dataclass(frozen=True)
class Host:
    """The machine as the set-up sees it. Tests give a folder as its root.

    `extra` are roots besides `root` where files and commands count as present: what was unpacked without root;
    `venv` is the virtual environment, for wheels.
    """

    root: Path = Path("/")
    extra: tuple[Path, ...] = ()
    venv: Path | None = None
    path: tuple[str, ...] = tuple(p for p in os.environ.get("PATH", "").split(":") if p.startswith("/"))

    def family(self) -> str | None:
        """Say which of FAMILIES the distribution belongs to, by os-release(5); None for others."""
        file = self.root / "etc/os-release"
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        words = f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".replace('"', "").split()
        kin = {"debian": "debian", "ubuntu": "debian", "fedora": "fedora", "rhel": "fedora", "suse": "suse"}
        return next((kin[word] for word in words if word in kin), "suse" if "opensuse" in " ".join(words) else None)

    def command(self, name: str) -> Path | None:
        """Find a program on the PATH or where system administration's programs are."""
        folders = [*self.path, *(folder for folder in SYSTEM_PATH if folder not in self.path)]
        for root in (self.root, *self.extra):
            for folder in folders:
                candidate = root / folder.lstrip("/") / name
                if candidate.is_file() and os.access(candidate, os.X_OK):
                    return candidate
        wheels = self.venv / "bin" / name if self.venv else None
        return wheels if wheels and wheels.is_file() else None

    def has(self, rule: str) -> bool:
        """Judge one rule of `present`."""
        kind, _, what = rule.partition(":")
        if kind == "command":
            return self.command(what) is not None
        if kind == "file":
            return any(next(root.glob(what.lstrip("/")), None) for root in (self.root, *self.extra))
        return importlib.util.find_spec(what) is not None

    def has_wheel(self, wheel: str) -> bool:
        stem = wheel_name(wheel).replace("-", "_")
        return bool(self.venv and next(self.venv.glob(f"lib/python*/site-packages/{stem}-*.dist-info"), None))


def wheel_name(requirement: str) -> str:
    """Strip a requirement of its version: `cmake>=3.25` is `cmake`."""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    return match.group() if match else requirement


def missing(needs: Iterable[Need], host: Host) -> list[Need]:
    """List the needs that neither the system nor a wheel nor an unpacked package meets."""
    return [
        need
        for need in needs
        if not any(host.has(rule) for rule in need.present) and not (need.wheel and host.has_wheel(need.wheel))
    ]


def of_groups(needs: Iterable[Need], groups: Sequence[str]) -> list[Need]:
    return [need for need in needs if need.group in groups]


def names(needs: Iterable[Need], family: str) -> list[str]:
    """Name the packages of the needs on one distribution, each once, in the list's order."""
    return list(dict.fromkeys(name for need in needs for name in need.packages.get(family, ())))


def missing_text(needs: Sequence[Need], reason: str) -> str:
    """Say what is missing, what that costs, and the one command for each distribution."""
    width = max(len(need.name) for need in needs)
    lines = [f"Still missing ({reason}):"]
    lines += [f"  {need.name:<{width}}  {need.why}; without it: {need.without}" for need in needs]
    lines.append("One command, as root, then the same make again:")
    for family, label in FAMILIES.items():
        if packages := names(needs, family):
            lines.append(f"  {label:<15} {' '.join(INSTALL[family])} {' '.join(packages)}")
        unpackaged = [need.name for need in needs if not need.packages.get(family)]
        if unpackaged:
            lines.append(f"  {'':<15} (no package there: {', '.join(unpackaged)})")
    return "\n".join(lines)

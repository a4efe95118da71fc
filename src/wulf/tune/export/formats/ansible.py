"""A role of Ansible, with a playbook that applies it and one that undoes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePosixPath

from wulf.tune.export.boot import boot
from wulf.tune.export.entry import Entry
from wulf.tune.export.format import Format, Written, header
from wulf.tune.export.formats import shell, sysctl
from wulf.tune.export.live import Inexpressible
from wulf.tune.kept import members

ROLE = "roles/wulf/"
TASKS = f"{ROLE}tasks/main.yml"

UDEV, UNITS, GRUB = "wulf reads rules of udev anew", "wulf reads units anew", "wulf writes the boot loader's menu anew"

NOTIFY = {"etc/udev/": UDEV, "etc/systemd/network/": UDEV, "etc/systemd/system/": UNITS, "etc/default/grub.d/": GRUB}
"""Beginning of a file's path → handler."""

HANDLERS = [
    f"- name: {UDEV}", "  ansible.builtin.command: udevadm control --reload", "  changed_when: true",
    f"- name: {UNITS}", "  ansible.builtin.systemd:", "    daemon_reload: true",
    f"- name: {GRUB}", "  ansible.builtin.command: update-grub", "  changed_when: true",
]  # fmt: skip


def write(entries: Sequence[Entry]) -> Written:
    """The role and its two playbooks."""
    at_start = sysctl.write(entries)
    refused = [entry for entry, _ in at_start.refused]
    now = shell.write([entry for entry in entries if entry not in refused and not _by_unit(entry)])
    written = Written(refused=at_start.refused)
    written.add(TASKS, "---", *header(entries))
    for path, lines in now.lines.items():
        if path == shell.SCRIPT:
            written.add(f"{ROLE}files/{path}", *lines)
            written.add(TASKS, *_script(path, "apply"))
    files = [path for path in at_start.lines if path != sysctl.SYSCTL]
    for path in files:
        written.add(f"{ROLE}files/{path}", *at_start.lines[path])
    _sysctls(written, entries)
    _files(written, files)
    written.add(f"{ROLE}handlers/main.yml", "---", *HANDLERS)
    written.add("apply.yml", *_play(entries), "  roles:", "    - role: wulf")
    written.add("undo.yml", *_play(entries), "  tasks:", *_undo([*at_start.lines], shell.SCRIPT in now.lines))
    return written


def _by_unit(entry: Entry) -> bool:
    """Whether a unit of systemd holds it, now and after each start."""
    return entry.setting.mechanism in ("pmqos", "nftables")


def _sysctls(written: Written, entries: Sequence[Entry]) -> None:
    for entry in entries:
        try:
            line = boot(entry)
        except Inexpressible:
            continue
        if line.kind == "sysctl":
            written.add(
                TASKS, f"# {entry.comment}", f"- name: {_text(entry.title)}", "  ansible.posix.sysctl:",
                f"    name: {_text(line.key)}", f"    value: {_text(line.text)}",
                f"    sysctl_file: /{sysctl.SYSCTL}", "    sysctl_set: true",
            )  # fmt: skip


def _files(written: Written, files: Sequence[str]) -> None:
    """Copy them, and tell who has to read them; the holder of the CPUs' latency is started."""
    for folder in sorted({str(PurePosixPath(path).parent) for path in files}):
        written.add(
            TASKS, f"- name: {_text(f'Folder /{folder}')}", "  ansible.builtin.file:",
            f"    path: {_text(f'/{folder}')}", "    state: directory", '    mode: "0755"',
        )  # fmt: skip
    for path in files:
        notify = next((handler for start, handler in NOTIFY.items() if path.startswith(start)), None)
        written.add(
            TASKS, f"- name: {_text(f'File /{path}')}", "  ansible.builtin.copy:", f"    src: {_text(path)}",
            f"    dest: {_text(f'/{path}')}", '    mode: "0644"', *([f"  notify: {notify}"] if notify else []),
        )  # fmt: skip
    for unit in _ours(files):
        written.add(
            TASKS, f"- name: Start {unit}", "  ansible.builtin.systemd:", f"    name: {unit}",
            "    daemon_reload: true", "    state: started",
        )  # fmt: skip


def _ours(files: Sequence[str]) -> list[str]:
    """Units of our own among the files."""
    return [unit for unit in sysctl.OURS.values() if f"{sysctl.UNITS}{unit}" in files]


def _script(path: str, word: str) -> list[str]:
    """Run the script of settings; it prints a line for each that it changed."""
    return [
        f"- name: {_text(f'{word.capitalize()} what can be changed on a running node')}",
        f"  ansible.builtin.script: {_text(f'{path} {word}')}", "  register: wulf_changed",
        "  changed_when: wulf_changed.stdout | length > 0",
    ]  # fmt: skip


def _play(entries: Sequence[Entry]) -> list[str]:
    nodes = ",".join(sorted(set().union(*members(entry.kept for entry in entries).values()))) or "all"
    hosts = f"{{{{ wulf_nodes | default('{nodes}') }}}}"
    return ["---", *header(entries), "- name: Settings that wulf kept", f"  hosts: {_text(hosts)}", "  become: true"]


def _undo(files: Sequence[str], script: bool) -> list[str]:
    """Files first: while they are there, a service that they keep from starting would not start."""
    stopped = [
        line for unit in _ours(files) for line in
        (f"- name: Stop {unit}", "  ansible.builtin.systemd:", f"    name: {unit}", "    state: stopped")
    ]  # fmt: skip
    absent = [
        "- name: Remove the files", "  ansible.builtin.file:", '    path: "{{ item }}"', "    state: absent",
        "  loop:", *(f"    - {_text(f'/{path}')}" for path in files),
    ]  # fmt: skip
    anew = ["- name: Read units anew", "  ansible.builtin.systemd:", "    daemon_reload: true"]
    grub = ["- name: Write the boot loader's menu anew", "  ansible.builtin.command: update-grub"]
    lines = [
        *stopped, *(absent if files else []),
        *(anew if any(path.startswith("etc/systemd/system/") for path in files) else []),
        *([*grub, "  changed_when: true"] if sysctl.GRUB in files else []),
        *(_script(f"{ROLE}files/{shell.SCRIPT}", "revert") if script else []),
    ]  # fmt: skip
    return [f"    {line}" for line in lines]


def _text(text: str) -> str:
    """A YAML string: JSON's are."""
    return json.dumps(text)


FORMAT = Format(
    name="ansible",
    help="A role of Ansible, with a playbook to apply it and one to undo it.",
    write=write,
    install="`ansible-playbook -i INVENTORY apply.yml`; `-e wulf_nodes=GROUP` for other hosts than those that were "
    "tuned. It needs the collection ansible.posix. A second run changes nothing.",
    undo="`ansible-playbook -i INVENTORY undo.yml` removes the files and writes back what was before the campaign; "
    "it refuses where somebody has set something else meanwhile.",
)
